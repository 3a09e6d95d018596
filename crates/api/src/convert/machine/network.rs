//! The network of a machine: `network` and `networking` of v1alpha1, `network` and `interfaces` of
//! v1beta1.

use serde_json::{Value, json};

use super::super::concept::{Concept, Fields};
use super::super::value::{copy, copy_back, object, objects, set_list, set_object};

pub(super) const CONCEPTS: &[Concept] = &[Concept::spec(
    "network",
    &["network", "networking"],
    &["network", "interfaces"],
    up,
    down,
)];

const NETWORK: &[(&str, &str)] = &[
    ("vpc", "id"),
    ("subnet", "subnet"),
    ("networkNamespaceName", "namespace"),
];
const PUBLIC: &[(&str, &str)] = &[("assignPublicIP", "assign"), ("publicIP", "address")];
/// Fields of an interface in `network`.
const PLACED: &[(&str, &str)] = &[
    ("name", "name"),
    ("primary", "primary"),
    ("subnet", "subnet"),
    ("securityGroups", "securityGroups"),
];
/// Fields of an interface in `networking`.
const REFERRED: &[(&str, &str)] = &[
    ("name", "name"),
    ("networkRef", "networkRef"),
    ("ipAddress", "ipAddress"),
    ("macAddress", "macAddress"),
    ("type", "attachment"),
    ("mtu", "mtu"),
    ("vlan", "vlan"),
];
/// Fields of an address that is given with its surroundings.
const ADDRESS: &[(&str, &str)] = &[
    ("address", "ipAddress"),
    ("netmask", "netmask"),
    ("gateway", "gateway"),
];
/// Fields of an interface that only `networking` has a place for.
const REFERRED_ALONE: &[&str] = &[
    "networkRef",
    "macAddress",
    "attachment",
    "mtu",
    "vlan",
    "netmask",
    "gateway",
];

fn up(alpha: &Fields) -> Fields {
    let mut beta = Fields::new();
    let mut interfaces: Vec<Fields> = Vec::new();
    if let Some(given) = object(alpha, "network") {
        let mut network = Fields::new();
        copy(&given, &mut network, NETWORK);
        set_object(&mut beta, "network", network);
        for placed in objects(&given, "interfaces") {
            let mut interface = Fields::new();
            copy(&placed, &mut interface, PLACED);
            interfaces.push(interface);
        }
        // Addresses of the machine are those of its primary interface.
        let mut addresses = Fields::new();
        copy(&given, &mut addresses, &[("privateIP", "ipAddress")]);
        let mut public = Fields::new();
        copy(&given, &mut public, PUBLIC);
        set_object(&mut addresses, "publicAddress", public);
        if !addresses.is_empty() {
            if interfaces.is_empty() {
                let mut first = Fields::new();
                first.insert("name".to_owned(), "eth0".into());
                interfaces.push(first);
            }
            let at = primary(&interfaces);
            interfaces[at].extend(addresses);
        }
    } else if let Some(given) = object(alpha, "networking") {
        for referred in objects(&given, "interfaces") {
            let mut interface = Fields::new();
            copy(&referred, &mut interface, REFERRED);
            let configured = object(&referred, "ipConfiguration").unwrap_or_default();
            copy(&configured, &mut interface, ADDRESS);
            if interface
                .get("networkRef")
                .is_some_and(|to| !to["name"].is_string())
            {
                interface.remove("networkRef");
            }
            interfaces.push(interface);
        }
    }
    set_list(&mut beta, "interfaces", interfaces);
    beta
}

/// The place of the primary interface: the marked one, or the first.
fn primary(interfaces: &[Fields]) -> usize {
    let marked = |interface: &Fields| interface.get("primary") == Some(&json!(true));
    interfaces.iter().position(marked).unwrap_or(0)
}

fn down(beta: &Fields) -> Fields {
    let interfaces = objects(beta, "interfaces");
    let mut alpha = Fields::new();
    if needs_references(&interfaces) {
        let referred = |given: &Fields| {
            let mut interface = Fields::new();
            copy_back(given, &mut interface, REFERRED);
            if given.contains_key("netmask") || given.contains_key("gateway") {
                let mut configured = Fields::new();
                interface.remove("ipAddress");
                copy_back(given, &mut configured, ADDRESS);
                set_object(&mut interface, "ipConfiguration", configured);
            }
            Value::Object(interface)
        };
        let interfaces: Vec<Value> = interfaces.iter().map(referred).collect();
        alpha.insert("networking".to_owned(), json!({ "interfaces": interfaces }));
        return alpha;
    }
    let mut network = Fields::new();
    if let Some(given) = object(beta, "network") {
        copy_back(&given, &mut network, NETWORK);
    }
    if let Some(first) = interfaces.get(primary(&interfaces)) {
        copy(first, &mut network, &[("ipAddress", "privateIP")]);
        let public = object(first, "publicAddress").unwrap_or_default();
        copy_back(&public, &mut network, PUBLIC);
    }
    let placed = |given: &Fields| {
        let mut interface = Fields::new();
        copy_back(given, &mut interface, PLACED);
        Value::Object(interface)
    };
    set_list(
        &mut network,
        "interfaces",
        interfaces.iter().map(placed).collect(),
    );
    set_object(&mut alpha, "network", network);
    alpha
}

/// Whether only `networking` of v1alpha1 can say where interfaces are, or what their addresses are.
fn needs_references(interfaces: &[Fields]) -> bool {
    let first = primary(interfaces);
    interfaces.iter().enumerate().any(|(at, interface)| {
        REFERRED_ALONE
            .iter()
            .any(|field| interface.contains_key(*field))
            || (at != first && interface.contains_key("ipAddress"))
    })
}
