//! Machines as monitoring is told of them: targets of Prometheus, in the form of its file-based discovery.

use std::net::{IpAddr, SocketAddr};

use machinist_api::{
    names,
    vitistack::{Machine, MachinePhase},
};
use serde_json::json;

/// The port of Prometheus' node exporter, where a machine says no other.
const USUAL_PORT: u16 = 9100;

/// Where a machine is watched, as `ADDRESS:PORT`; nothing while it does not run, has no address, or
/// says that it is not to be watched.
pub fn target(machine: &Machine) -> Option<String> {
    let status = machine.status.as_ref()?;
    let annotations = machine.metadata.annotations.as_ref();
    let said = |name| {
        annotations
            .and_then(|all| all.get(name))
            .map(String::as_str)
    };
    let declined =
        machine.spec.monitoring == Some(false) || said(names::SCRAPE_ANNOTATION) == Some("false");
    if status.phase != Some(MachinePhase::Running) || declined {
        return None;
    }
    let address: IpAddr = status.ip_addresses.first()?.parse().ok()?;
    let port = said(names::SCRAPE_PORT_ANNOTATION).and_then(|port| port.parse().ok());
    Some(SocketAddr::new(address, port.unwrap_or(USUAL_PORT)).to_string())
}

/// One machine that is watched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target<'a> {
    /// The machine's name.
    pub name: &'a str,
    /// Where it is watched.
    pub address: &'a str,
    /// The provider that it is on, as `NAMESPACE/NAME`.
    pub provider: Option<&'a str>,
}

/// The machines of a namespace as one file, a line each, in the order of their names; and how many of
/// them are in it, since it has at most so many bytes.
pub fn target_file(namespace: &str, mut targets: Vec<Target<'_>>, most: usize) -> (String, usize) {
    targets.sort_unstable();
    let mut file = String::from("[");
    let mut count = 0;
    for target in targets {
        let mut labels = json!({ "namespace": namespace, "machine": target.name });
        if let Some(provider) = target.provider {
            labels["provider"] = provider.into();
        }
        let line = json!({ "targets": [target.address], "labels": labels }).to_string();
        if file.len() + line.len() + "\n,\n]".len() > most {
            break;
        }
        file.push_str(if count == 0 { "\n" } else { ",\n" });
        file.push_str(&line);
        count += 1;
    }
    file.push_str(if count == 0 { "]" } else { "\n]" });
    (file, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(
        metadata: serde_json::Value,
        spec: serde_json::Value,
        phase: &str,
        ip: &str,
    ) -> Machine {
        let machine = json!({
            "metadata": metadata, "spec": spec,
            "status": {"phase": phase, "ipAddresses": [ip, "192.0.2.99"]},
        });
        serde_json::from_value(machine).expect("a machine")
    }

    #[test]
    fn what_runs_and_does_not_decline_is_watched_at_its_first_address() {
        let plain = || json!({"name": "m"});
        let noted = |name: &str, value: &str| json!({"name": "m", "annotations": {name: value}});
        let see = |metadata, spec, phase, ip| target(&machine(metadata, spec, phase, ip));
        let usual = see(plain(), json!({}), "Running", "192.0.2.1");
        assert_eq!(usual.as_deref(), Some("192.0.2.1:9100"));
        let sixth = see(
            plain(),
            json!({"monitoring": true}),
            "Running",
            "2001:db8::1",
        );
        assert_eq!(sixth.as_deref(), Some("[2001:db8::1]:9100"));
        let port = see(
            noted("prometheus.io/port", "8080"),
            json!({}),
            "Running",
            "192.0.2.1",
        );
        assert_eq!(port.as_deref(), Some("192.0.2.1:8080"));
        let nonsense = see(
            noted("prometheus.io/port", "http"),
            json!({}),
            "Running",
            "192.0.2.1",
        );
        assert_eq!(nonsense, usual);
        assert_eq!(see(plain(), json!({}), "Stopped", "192.0.2.1"), None);
        assert_eq!(see(plain(), json!({}), "Running", "pending"), None);
        assert_eq!(
            see(
                plain(),
                json!({"monitoring": false}),
                "Running",
                "192.0.2.1"
            ),
            None
        );
        assert_eq!(
            see(
                noted("prometheus.io/scrape", "false"),
                json!({}),
                "Running",
                "192.0.2.1"
            ),
            None
        );
    }

    /// The file that `tests/conformance/monitoring` has Prometheus read.
    #[test]
    fn prometheus_is_given_what_is_written() {
        let target = |name, address, provider| Target {
            name,
            address,
            provider,
        };
        let targets = vec![
            target("web-02", "[2001:db8::2]:9100", None),
            target("web-01", "192.0.2.1:8080", Some("default/local")),
        ];
        let (file, _) = target_file("default", targets, 1000);
        let sample = include_str!("../../../../../tests/conformance/monitoring/targets.json");
        assert_eq!(file, sample.trim_end());
    }

    #[test]
    fn a_file_is_in_order_and_never_longer_than_it_may_be() {
        let one = |name| Target {
            name,
            address: "192.0.2.1:9100",
            provider: Some("default/local"),
        };
        assert_eq!(target_file("prod", Vec::new(), 100), ("[]".to_owned(), 0));
        let (file, count) = target_file("prod", vec![one("b"), one("a\"quoted")], 1000);
        assert_eq!(count, 2);
        let read: serde_json::Value = serde_json::from_str(&file).expect("JSON");
        assert_eq!(
            read[0],
            json!({
                "targets": ["192.0.2.1:9100"],
                "labels": {"namespace": "prod", "machine": "a\"quoted", "provider": "default/local"},
            })
        );
        assert_eq!(read[1]["labels"]["machine"], "b");
        for most in 2..file.len() {
            let (less, count) = target_file("prod", vec![one("b"), one("a\"quoted")], most);
            assert!(less.len() <= most && count < 2, "{most}: {less}");
            let read: serde_json::Value = serde_json::from_str(&less).expect("JSON");
            assert_eq!(read.as_array().map(Vec::len), Some(count));
        }
    }
}
