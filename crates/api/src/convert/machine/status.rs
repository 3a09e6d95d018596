//! What is known of a machine: v1alpha1 says most of it two or three times.

use serde_json::{Value, json};

use super::super::concept::{Concept, Fields};
use super::super::value::{
    bytes_to_quantity, copy, copy_back, gigabytes_to_quantity, object, objects, quantity_to_bytes,
    quantity_to_gigabytes, set, set_list, set_object, text,
};

pub(super) const CONCEPTS: &[Concept] = &[
    Concept::status("memory", &["memory"], &["memory"], memory_up, memory_down),
    Concept::status(
        "addresses",
        &[
            "ipAddresses",
            "ipv6Addresses",
            "publicIPAddresses",
            "privateIPAddresses",
            "addresses",
        ],
        &["ipAddresses", "publicIPAddresses", "privateIPAddresses"],
        addresses_up,
        addresses_down,
    ),
    Concept::status(
        "interfaces",
        &["networkInterfaces", "networkStatus"],
        &["interfaces"],
        interfaces_up,
        interfaces_down,
    ),
    Concept::status("disks", &["disks"], &["disks"], disks_up, disks_down),
    Concept::repeated(&["failureReason", "failureMessage"]),
];

fn memory_up(alpha: &Fields) -> Fields {
    let mut beta = Fields::new();
    set(
        &mut beta,
        "memory",
        alpha.get("memory").and_then(bytes_to_quantity),
    );
    beta
}

fn memory_down(beta: &Fields) -> Fields {
    let mut alpha = Fields::new();
    let bytes = text(beta, "memory").and_then(|memory| quantity_to_bytes(&memory));
    set(
        &mut alpha,
        "memory",
        bytes.filter(|bytes| i64::try_from(*bytes).is_ok()),
    );
    alpha
}

const ADDRESSES: &[(&str, &str)] = &[
    ("ipAddresses", "ipAddresses"),
    ("publicIPAddresses", "publicIPAddresses"),
    ("privateIPAddresses", "privateIPAddresses"),
];
const REPEATED: &[(&str, &str)] = &[
    ("internal", "privateIPAddresses"),
    ("external", "publicIPAddresses"),
];

fn addresses_up(alpha: &Fields) -> Fields {
    let mut beta = Fields::new();
    copy(
        &object(alpha, "addresses").unwrap_or_default(),
        &mut beta,
        REPEATED,
    );
    copy(alpha, &mut beta, ADDRESSES);
    beta
}

fn addresses_down(beta: &Fields) -> Fields {
    let mut alpha = Fields::new();
    copy_back(beta, &mut alpha, ADDRESSES);
    set_list(&mut alpha, "ipv6Addresses", ipv6(beta));
    let mut repeated = Fields::new();
    copy_back(beta, &mut repeated, REPEATED);
    set_object(&mut alpha, "addresses", repeated);
    alpha
}

/// The IPv6 addresses among all of them.
fn ipv6(fields: &Fields) -> Vec<Value> {
    let all = fields.get("ipAddresses").and_then(Value::as_array);
    let all = all.map(Vec::as_slice).unwrap_or_default();
    let ipv6 = |address: &&Value| address.as_str().is_some_and(|text| text.contains(':'));
    all.iter().filter(ipv6).cloned().collect()
}

const INTERFACE: &[(&str, &str)] = &[
    ("name", "name"),
    ("macAddress", "macAddress"),
    ("ipAddresses", "ipAddresses"),
    ("mtu", "mtu"),
    ("type", "type"),
    ("subnet", "subnet"),
    ("network", "network"),
    ("primary", "primary"),
    ("state", "state"),
];

fn interfaces_up(alpha: &Fields) -> Fields {
    let mut given = objects(alpha, "networkInterfaces");
    if given.is_empty() {
        let second = object(alpha, "networkStatus").unwrap_or_default();
        given = objects(&second, "interfaces");
    }
    let up = |given: &Fields| {
        let mut interface = Fields::new();
        copy(given, &mut interface, INTERFACE);
        Value::Object(interface)
    };
    let mut beta = Fields::new();
    set_list(&mut beta, "interfaces", given.iter().map(up).collect());
    beta
}

fn interfaces_down(beta: &Fields) -> Fields {
    let down = |given: &Fields| {
        let mut interface = Fields::new();
        copy_back(given, &mut interface, INTERFACE);
        set_list(&mut interface, "ipv6Addresses", ipv6(given));
        Value::Object(interface)
    };
    let interfaces: Vec<Value> = objects(beta, "interfaces").iter().map(down).collect();
    let mut alpha = Fields::new();
    if !interfaces.is_empty() {
        alpha.insert(
            "networkStatus".to_owned(),
            json!({ "interfaces": interfaces }),
        );
        set_list(&mut alpha, "networkInterfaces", interfaces);
    }
    alpha
}

const DISK: &[(&str, &str)] = &[
    ("name", "name"),
    ("device", "device"),
    ("usedBytes", "usedBytes"),
    ("usagePercent", "usagePercent"),
    ("type", "class"),
    ("mountPath", "mountPath"),
    ("filesystemType", "filesystemType"),
    ("serialNumber", "serialNumber"),
    ("state", "state"),
];

fn disks_up(alpha: &Fields) -> Fields {
    let up = |given: &Fields| {
        let mut disk = Fields::new();
        copy(given, &mut disk, &[("mountPoint", "mountPath")]);
        copy(given, &mut disk, DISK);
        let size = given.get("size").and_then(bytes_to_quantity);
        let size = size.or_else(|| given.get("sizeGB").and_then(gigabytes_to_quantity));
        set(&mut disk, "size", size);
        Value::Object(disk)
    };
    let mut beta = Fields::new();
    set_list(
        &mut beta,
        "disks",
        objects(alpha, "disks").iter().map(up).collect(),
    );
    beta
}

fn disks_down(beta: &Fields) -> Fields {
    let down = |given: &Fields| {
        let mut disk = Fields::new();
        copy_back(given, &mut disk, DISK);
        if let Some(size) = text(given, "size") {
            set(&mut disk, "size", quantity_to_bytes(&size));
            let gigabytes = quantity_to_gigabytes(&size).filter(|(_, whole)| *whole);
            set(
                &mut disk,
                "sizeGB",
                gigabytes.map(|(gigabytes, _)| gigabytes),
            );
        }
        Value::Object(disk)
    };
    let mut alpha = Fields::new();
    set_list(
        &mut alpha,
        "disks",
        objects(beta, "disks").iter().map(down).collect(),
    );
    alpha
}
