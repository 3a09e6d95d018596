//! What a provider offers: v1alpha1's `…Config` objects and those of the shipped operators;
//! `capabilities`, `networks`, `storage` and `compute` of v1beta1.

use serde_json::{Value, json};

use super::super::concept::{Concept, Fields};
use super::super::value::{
    copy, copy_back, object, objects, quantity_to_bytes, set, set_list, set_object, text,
};
use crate::quantity::Quantity;

pub(super) const CONCEPTS: &[Concept] = &[
    Concept::spec(
        "capabilities",
        &["capabilities"],
        &["capabilities"],
        capabilities_up,
        capabilities_down,
    ),
    Concept::spec(
        "networks",
        &["networkConfig", "network"],
        &["networks"],
        networks_up,
        networks_down,
    ),
    Concept::spec(
        "storage",
        &["storageConfig", "storage"],
        &["storage"],
        storage_up,
        storage_down,
    ),
    Concept::spec(
        "compute",
        &["computeConfig", "compute"],
        &["compute"],
        compute_up,
        compute_down,
    ),
];

const CAPABILITIES: &[(&str, &str)] = &[
    ("supportedOperations", "operations"),
    ("supportedOSTypes", "osTypes"),
    ("supportedInstanceTypes", "instanceTypes"),
    ("availableImages", "images"),
];
/// Feature flags, and the words that stand for them.
const FEATURES: &[(&str, &str)] = &[
    ("snapshotSupport", "Snapshots"),
    ("liveResize", "LiveResize"),
    ("hotPlugDisks", "HotPlugDisks"),
    ("hotPlugNetworks", "HotPlugNetworks"),
    ("customMetadata", "CustomMetadata"),
    ("tagSupport", "Tags"),
    ("monitoringIntegration", "Monitoring"),
    ("backupIntegration", "Backup"),
];

fn capabilities_up(alpha: &Fields) -> Fields {
    let given = object(alpha, "capabilities").unwrap_or_default();
    let mut made = Fields::new();
    copy(&given, &mut made, CAPABILITIES);
    let flags = object(&given, "features").unwrap_or_default();
    let on = |(flag, _): &&(&str, &str)| flags.get(*flag) == Some(&json!(true));
    let words: Vec<Value> = FEATURES
        .iter()
        .filter(on)
        .map(|(_, word)| json!(word))
        .collect();
    set_list(&mut made, "features", words);
    let mut beta = Fields::new();
    set_object(&mut beta, "capabilities", made);
    beta
}

fn capabilities_down(beta: &Fields) -> Fields {
    let given = object(beta, "capabilities").unwrap_or_default();
    let mut made = Fields::new();
    copy_back(&given, &mut made, CAPABILITIES);
    let words = given.get("features").and_then(Value::as_array);
    let words = words.map(Vec::as_slice).unwrap_or_default();
    let on = |(_, word): &&(&str, &str)| words.contains(&json!(word));
    let flags = FEATURES
        .iter()
        .filter(on)
        .map(|(flag, _)| ((*flag).to_owned(), json!(true)));
    set_object(&mut made, "features", flags.collect());
    let mut alpha = Fields::new();
    set_object(&mut alpha, "capabilities", made);
    alpha
}

const NETWORKS: &[(&str, &str)] = &[
    ("defaultNetworkId", "defaultNetwork"),
    ("defaultSubnetId", "defaultSubnet"),
    ("availableNetworks", "available"),
    ("securityGroups", "securityGroups"),
    ("loadBalancer", "loadBalancer"),
];

fn networks_up(alpha: &Fields) -> Fields {
    let mut made = Fields::new();
    let shipped = object(alpha, "network").unwrap_or_default();
    copy(&shipped, &mut made, &[("defaultVPC", "defaultNetwork")]);
    copy(
        &object(alpha, "networkConfig").unwrap_or_default(),
        &mut made,
        NETWORKS,
    );
    let mut beta = Fields::new();
    set_object(&mut beta, "networks", made);
    beta
}

fn networks_down(beta: &Fields) -> Fields {
    let mut made = Fields::new();
    copy_back(
        &object(beta, "networks").unwrap_or_default(),
        &mut made,
        NETWORKS,
    );
    let mut alpha = Fields::new();
    set_object(&mut alpha, "networkConfig", made);
    alpha
}

const STORAGE: &[(&str, &str)] = &[
    ("defaultStorageClass", "defaultClass"),
    ("defaultDiskSize", "defaultDiskSize"),
    ("backup", "backup"),
];
const CLASS: &[(&str, &str)] = &[
    ("name", "name"),
    ("type", "medium"),
    ("iopsPerGB", "iopsPerGB"),
    ("throughputMBps", "throughputMBps"),
    ("encrypted", "encrypted"),
    ("replication", "replication"),
];

fn storage_up(alpha: &Fields) -> Fields {
    let mut made = Fields::new();
    let shipped = object(alpha, "storage").unwrap_or_default();
    copy(&shipped, &mut made, &[("defaultType", "defaultClass")]);
    let given = object(alpha, "storageConfig").unwrap_or_default();
    copy(&given, &mut made, STORAGE);
    let classes = objects(&given, "availableStorageTypes");
    let class = |given: &Fields| {
        let mut class = Fields::new();
        copy(given, &mut class, CLASS);
        Value::Object(class)
    };
    set_list(&mut made, "classes", classes.iter().map(class).collect());
    let mut beta = Fields::new();
    set_object(&mut beta, "storage", made);
    beta
}

fn storage_down(beta: &Fields) -> Fields {
    let given = object(beta, "storage").unwrap_or_default();
    let mut made = Fields::new();
    copy_back(&given, &mut made, STORAGE);
    let class = |given: &Fields| {
        let mut class = Fields::new();
        copy_back(given, &mut class, CLASS);
        Value::Object(class)
    };
    let classes = objects(&given, "classes");
    set_list(
        &mut made,
        "availableStorageTypes",
        classes.iter().map(class).collect(),
    );
    let mut alpha = Fields::new();
    set_object(&mut alpha, "storageConfig", made);
    alpha
}

const OPTIONS: &[(&str, &str)] = &[
    ("cpuOptions", "cpuOptions"),
    ("memoryOptions", "memoryOptions"),
    ("gpuSupport", "gpuSupport"),
];
/// Names of the amounts in `computeConfig`, and where they are in v1beta1.
const AMOUNTS: &[(&str, &str, &str)] = &[
    ("defaultCPU", "defaults", "cpu"),
    ("defaultMemoryGB", "defaults", "memory"),
    ("maxCPU", "limits", "cpu"),
    ("maxMemoryGB", "limits", "memory"),
];

fn compute_up(alpha: &Fields) -> Fields {
    let given = object(alpha, "computeConfig").unwrap_or_default();
    let shipped = object(alpha, "compute").unwrap_or_default();
    let mut made = Fields::new();
    copy(&given, &mut made, OPTIONS);
    for part in ["defaults", "limits"] {
        let mut amounts = Fields::new();
        if part == "limits" {
            let number = |key: &str| shipped.get(key).and_then(Value::as_u64);
            set(
                &mut amounts,
                "cpu",
                number("maxCPUs").map(|cpus| cpus.to_string()),
            );
            set(
                &mut amounts,
                "memory",
                number("maxMemoryGB").map(|memory| format!("{memory}Gi")),
            );
        }
        for (name, _, what) in AMOUNTS.iter().filter(|(_, of, _)| *of == part) {
            let value = text(&given, name);
            let value = match *what {
                "memory" => value.map(|decimal| gigabytes(&decimal).unwrap_or(decimal)),
                _ => value,
            };
            set(&mut amounts, what, value);
        }
        set_object(&mut made, part, amounts);
    }
    let mut beta = Fields::new();
    set_object(&mut beta, "compute", made);
    beta
}

fn compute_down(beta: &Fields) -> Fields {
    let given = object(beta, "compute").unwrap_or_default();
    let mut made = Fields::new();
    copy_back(&given, &mut made, OPTIONS);
    for (name, part, what) in AMOUNTS {
        let value = object(&given, part).and_then(|amounts| text(&amounts, what));
        let decimal = value.and_then(|quantity| match *what {
            "memory" => quantity_to_bytes(&quantity)
                .map(|bytes| (u128::from(bytes) * 1000).div_ceil(1 << 30)),
            _ => quantity
                .parse::<Quantity>()
                .ok()
                .and_then(|cpus| u128::try_from(cpus.milli()).ok()),
        });
        // Zero is no size that a machine could have.
        set(
            &mut made,
            name,
            decimal.filter(|milli| *milli > 0).map(decimal_of),
        );
    }
    let mut alpha = Fields::new();
    set_object(&mut alpha, "computeConfig", made);
    alpha
}

/// Gigabytes in a decimal, counted as binary ones, as a quantity.
fn gigabytes(decimal: &str) -> Option<String> {
    let quantity: Quantity = format!("{decimal}Gi").parse().ok()?;
    Some(quantity.to_string())
}

/// Thousandths as a decimal without idle digits.
fn decimal_of(milli: u128) -> String {
    let text = format!("{}.{:03}", milli / 1000, milli % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
