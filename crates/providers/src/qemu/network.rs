//! Addresses and ports of machines on QEMU's user-mode network.
//!
//! Everything follows from the machine's UID and its number below the root, so that a
//! machine keeps its addresses over every restart.

use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, TcpListener},
};

use machinist_core::provider::ProviderError;
use sha2::{Digest, Sha256};

use super::{
    config::Network,
    error::QemuError,
    record::{AskedNic, Plug, Record},
};

/// The first addresses of a network are the gateway's and the name server's.
const FIRST_HOST: u32 = 16;
/// Numbers of machines that a /16 network has addresses for.
const MACHINES: u32 = 65_000;

/// One interface, ready for the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interface {
    pub slot: u8,
    pub name: String,
    pub mac: String,
    /// The network with its prefix length.
    pub network: String,
    /// What its DHCP server gives to the guest.
    pub address: Ipv4Addr,
}

/// Refuses a network that no guest could be on.
pub(super) fn check(network: Network) -> Result<(), QemuError> {
    let Network::User { subnet } = network;
    let [first, second, third, fourth] = subnet.octets();
    let fits = first == 10 && second < 200 && third == 0 && fourth == 0;
    match fits {
        true => Ok(()),
        false => Err(QemuError::Subnet(subnet)),
    }
}

/// The interfaces of a machine.
pub(super) fn interfaces(
    record: &Record,
    network: Network,
) -> Result<Vec<Interface>, ProviderError> {
    let count = record.asked.nics.len();
    if count > 8 {
        return Err(ProviderError::Rejected {
            field: "nics",
            value: count.to_string(),
            reason: "a machine has at most 8 interfaces here".to_owned(),
        });
    }
    let there = record.asked.nics.iter();
    let there = there.filter(|nic| nic.plug != Plug::Attaching);
    there.map(|nic| interface(record, nic, network)).collect()
}

/// One interface of a machine; everything follows from its slot.
pub(super) fn interface(
    record: &Record,
    nic: &AskedNic,
    network: Network,
) -> Result<Interface, ProviderError> {
    let place = nic.slot();
    let Network::User { subnet } = network;
    let [first, second, ..] = subnet.octets();
    // Two interfaces on one network would leave the guest with two equal routes.
    let base = u32::from(Ipv4Addr::new(first, second + place, 0, 0));
    let own = Ipv4Addr::from(base + FIRST_HOST + record.index);
    let address = nic.address.unwrap_or(own);
    if u32::from(address) & 0xffff_0000 != base || u32::from(address) - base < FIRST_HOST {
        return Err(ProviderError::Rejected {
            field: "nics.address",
            value: address.to_string(),
            reason: format!(
                "interface {} is on {}/16, whose addresses for guests begin at {}",
                nic.name,
                Ipv4Addr::from(base),
                Ipv4Addr::from(base + FIRST_HOST)
            ),
        });
    }
    Ok(Interface {
        slot: place,
        name: nic.name.clone(),
        mac: mac(record, nic, place)?,
        network: format!("{}/16", Ipv4Addr::from(base)),
        address,
    })
}

fn mac(record: &Record, nic: &AskedNic, place: u8) -> Result<String, ProviderError> {
    let Some(declared) = &nic.mac else {
        let digest = Sha256::digest(format!("{}/{}/{place}", record.cluster, record.machine));
        // 52:54:00 is QEMU's own prefix of locally administered addresses.
        return Ok(format!(
            "52:54:00:{:02x}:{:02x}:{:02x}",
            digest[0], digest[1], digest[2]
        ));
    };
    let octets: Vec<u8> = declared
        .split(':')
        .filter(|part| part.len() == 2)
        .filter_map(|part| u8::from_str_radix(part, 16).ok())
        .collect();
    let whole = declared.len() == 17 && octets.len() == 6;
    if !whole || octets[0] & 1 == 1 {
        return Err(ProviderError::Rejected {
            field: "nics.mac",
            value: declared.clone(),
            reason: "not a unicast MAC address such as 52:54:00:12:34:56".to_owned(),
        });
    }
    Ok(declared.to_ascii_lowercase())
}

/// The smallest number that no other machine has.
pub(super) fn free_index(taken: &BTreeSet<u32>) -> Result<u32, ProviderError> {
    (0..MACHINES)
        .find(|index| !taken.contains(index))
        .ok_or_else(|| ProviderError::NoCapacity {
            reason: format!("all {MACHINES} addresses of this provider's network are taken"),
        })
}

/// The recorded port when it is still free, else another that no machine has.
pub(super) fn free_port(
    recorded: Option<u16>,
    taken: &BTreeSet<u16>,
) -> Result<u16, ProviderError> {
    let loopback = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    if let Some(port) = recorded
        && loopback(port).is_ok()
    {
        return Ok(port);
    }
    for _ in 0..64 {
        let port = loopback(0)
            .and_then(|listener| listener.local_addr())
            .map_err(|source| ProviderError::transport("cannot find a free loopback port", source))?
            .port();
        if !taken.contains(&port) {
            return Ok(port);
        }
    }
    Err(ProviderError::NoCapacity {
        reason: "no loopback port is free for a guest's port 22".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use machinist_core::machine::{MachineKey, Nic};

    use super::*;
    use crate::conformance::smallest_want;

    fn record(nics: Vec<Nic>) -> Record {
        let key = MachineKey::new("cluster", "machine").unwrap();
        let mut want = smallest_want("one");
        want.nics = nics;
        let mut record = Record::new(&key, &want, None);
        record.index = 300;
        record
    }

    #[test]
    fn addresses_follow_from_the_machine_and_its_number() {
        let record = record(vec![Nic::default(), Nic::default()]);
        let first = interfaces(&record, Network::default()).unwrap();
        assert_eq!(first, interfaces(&record, Network::default()).unwrap());
        assert_eq!(first[0].address, Ipv4Addr::new(10, 77, 1, 60));
        assert_eq!(first[1].address, Ipv4Addr::new(10, 78, 1, 60));
        assert_ne!(first[0].mac, first[1].mac);
        assert!(first[0].mac.starts_with("52:54:00:"));
    }

    #[test]
    fn declared_addresses_are_taken_or_refused() {
        let nic = |address: &str, mac: &str| Nic {
            address: Some(address.to_owned()),
            mac: Some(mac.to_owned()),
            ..Nic::default()
        };
        let good = record(vec![nic("10.77.9.9", "52:54:00:AA:bb:01")]);
        let taken = &interfaces(&good, Network::default()).unwrap()[0];
        assert_eq!(taken.address, Ipv4Addr::new(10, 77, 9, 9));
        assert_eq!(taken.mac, "52:54:00:aa:bb:01");
        for (address, mac) in [
            ("192.168.0.9", "52:54:00:aa:bb:01"),
            ("10.77.0.2", "52:54:00:aa:bb:01"),
            ("10.77.9.9", "01:54:00:aa:bb:01"),
            ("10.77.9.9", "52:54:00:aa:bb"),
            ("10.77.9.9", "52:54:00:aa:bb:zz"),
        ] {
            let bad = record(vec![nic(address, mac)]);
            let error = interfaces(&bad, Network::default()).unwrap_err();
            assert_eq!(error.reason(), "Rejected", "{address} {mac}");
        }
    }

    #[test]
    fn numbers_and_ports_are_not_given_twice() {
        assert_eq!(free_index(&BTreeSet::from([0, 1, 3])).unwrap(), 2);
        let holder = TcpListener::bind("127.0.0.1:0").unwrap();
        let held = holder.local_addr().unwrap().port();
        assert_ne!(free_port(Some(held), &BTreeSet::new()).unwrap(), held);
        drop(holder);
        assert_eq!(free_port(Some(held), &BTreeSet::new()).unwrap(), held);
    }
}
