//! Ranges of addresses: their first is not above their last. CEL knows addresses, but no order of them.

use std::net::IpAddr;

use serde_json::Value;

use crate::admission::Fault;

/// The pool of a DHCP server and what it keeps for machines.
pub(super) fn network(spec: &Value) -> Vec<Fault> {
    let subnet = spec["ipam"]["subnet"].as_str().and_then(Subnet::parse);
    let servers = [
        ("spec.dhcp", &spec["dhcp"]),
        ("spec.ipam.dhcp", &spec["ipam"]["dhcp"]),
    ];
    let mut found = Vec::new();
    for (path, dhcp) in servers {
        found.extend(order(path, dhcp, "poolStart", "poolEnd"));
        let kept = dhcp["reservations"].as_array().into_iter().flatten();
        for (at, reservation) in kept.enumerate() {
            let address = address(&reservation["ipAddress"]);
            if let (Some(subnet), Some(address)) = (&subnet, address)
                && !subnet.contains(address)
            {
                found.push(Fault::new(
                    format!("{path}.reservations[{at}].ipAddress"),
                    address.to_string(),
                    format!("must be an address in spec.ipam.subnet, {}", subnet.text),
                ));
            }
        }
    }
    found
}

/// The range that static addresses are taken from.
pub(super) fn namespace(spec: &Value) -> Vec<Fault> {
    let allocation = &spec["ipAllocation"]["static"];
    let path = "spec.ipAllocation.static";
    let fault = order(path, allocation, "ipv4RangeStart", "ipv4RangeEnd");
    fault.into_iter().collect()
}

/// What is wrong with a range that is given by its first and its last address.
fn order(path: &str, range: &Value, first: &str, last: &str) -> Option<Fault> {
    let start = address(&range[first])?;
    let end = address(&range[last])?;
    let (field, message) = if start.is_ipv4() != end.is_ipv4() {
        let of = format!("must be of the family of {path}.{first}, {start}");
        (format!("{path}.{last}"), of)
    } else if start > end {
        let not_below = format!("must not be below {path}.{first}, {start}");
        (format!("{path}.{last}"), not_below)
    } else {
        return None;
    };
    Some(Fault::new(field, end.to_string(), message))
}

fn address(value: &Value) -> Option<IpAddr> {
    value.as_str()?.parse().ok()
}

/// A range in CIDR notation.
struct Subnet<'a> {
    text: &'a str,
    network: IpAddr,
    length: u32,
}

impl<'a> Subnet<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (network, length) = text.split_once('/')?;
        let network: IpAddr = network.parse().ok()?;
        let length = length.parse().ok()?;
        (length <= bits(network).1).then_some(Self {
            text,
            network,
            length,
        })
    }

    fn contains(&self, address: IpAddr) -> bool {
        let ((network, size), (address, of)) = (bits(self.network), bits(address));
        // A shift by all bits is none that a machine can do.
        let shift = size - self.length;
        let part = |bits: u128| bits.checked_shr(shift).unwrap_or(0);
        size == of && part(network) == part(address)
    }
}

/// The address as a number, and how many bits it has.
fn bits(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(spec: &Value) -> Vec<String> {
        let found = network(spec).into_iter();
        found
            .map(|fault| format!("{} {}", fault.field, fault.message))
            .collect()
    }

    #[test]
    fn the_first_is_not_above_the_last() {
        let pool = |start: &str, end: &str| json!({"dhcp": {"poolStart": start, "poolEnd": end}});
        assert!(said(&pool("10.0.0.9", "10.0.0.10")).is_empty());
        assert!(said(&pool("10.0.0.9", "10.0.0.9")).is_empty());
        assert!(said(&pool("x", "10.0.0.9")).is_empty());
        assert_eq!(
            said(&pool("10.0.0.10", "10.0.0.9")),
            ["spec.dhcp.poolEnd must not be below spec.dhcp.poolStart, 10.0.0.10"]
        );
        assert_eq!(
            said(&pool("10.0.0.10", "fd00::1")),
            ["spec.dhcp.poolEnd must be of the family of spec.dhcp.poolStart, 10.0.0.10"]
        );
        let range = json!({"ipAllocation": {"static": {
            "ipv4RangeStart": "10.0.0.2", "ipv4RangeEnd": "10.0.0.1",
        }}});
        assert_eq!(namespace(&range).len(), 1);
    }

    #[test]
    fn what_is_kept_lies_in_the_subnet() {
        let kept = |subnet: &str, address: &str| json!({"ipam": {"subnet": subnet, "dhcp": {"reservations": [{"ipAddress": address}]}}});
        for (subnet, address) in [
            ("10.0.1.0/24", "10.0.1.255"),
            ("0.0.0.0/0", "10.0.1.255"),
            ("::/0", "fd00::1"),
            ("10.0.1.0/33", "10.0.2.1"),
        ] {
            assert!(
                said(&kept(subnet, address)).is_empty(),
                "{subnet} {address}"
            );
        }
        for (subnet, address) in [("10.0.1.0/24", "10.0.2.0"), ("0.0.0.0/0", "fd00::1")] {
            let said = said(&kept(subnet, address));
            assert_eq!(said.len(), 1, "{subnet} {address}");
            assert!(said[0].starts_with("spec.ipam.dhcp.reservations[0].ipAddress"));
        }
    }
}
