//! Fields that are accepted because they are documented, and that nothing acts on yet. Whoever writes
//! them is told, and so is whoever reads the object's conditions.
//!
//! What is there for people to read (names, descriptions, places) is no such field.

use serde_json::Value;

/// The fields of a MachineProvider; `[]` stands for every item of a list, and what is below counts too.
const OF_PROVIDER: &[&str] = &[
    "authentication.parameters",
    "authentication.serviceAccount.accountID",
    "authentication.serviceAccount.scopes",
    "capabilities.autoScaling",
    "capabilities.loadBalancers",
    "capabilities.machineClasses",
    "capabilities.networkFeatures",
    "capabilities.persistentVolumes",
    "capabilities.storageTypes[].encryptionSupported",
    "capabilities.storageTypes[].iopsRange",
    "capabilities.storageTypes[].throughputRange",
    "compute.gpuTypes",
    "compute.nestedVirtualization",
    "computeConfig.cpuOptions.cpuFeatures",
    "computeConfig.cpuOptions.hyperThreading",
    "computeConfig.gpuSupport.availableTypes",
    "computeConfig.memoryOptions.hugePagesSupport",
    "computeConfig.memoryOptions.swapEnabled",
    "config.kubevirt",
    "config.proxmox",
    "config.version",
    "network.ipv6Support",
    "network.loadBalancerSupport",
    "network.publicIPSupport",
    "networkConfig.loadBalancer",
    "networkConfig.securityGroups",
    "storage.storageClasses[].parameters",
    "storage.storageClasses[].provisioner",
    "storageConfig.availableStorageTypes[].encrypted",
    "storageConfig.availableStorageTypes[].iopsPerGB",
    "storageConfig.availableStorageTypes[].replication",
    "storageConfig.availableStorageTypes[].throughputMBps",
    "storageConfig.backup",
];

/// The fields of a Vitistack.
const OF_STACK: &[&str] = &[
    "backup",
    "kubernetesProviders",
    "machineProviders[].configuration",
    "machineProviders[].priority",
    "monitoring",
    "networking",
    "resourceQuotas.maxCPUCores",
    "resourceQuotas.maxClusters",
    "resourceQuotas.maxMemoryGB",
    "resourceQuotas.maxNetworkInterfaces",
    "security",
    "tags",
];

/// The fields of a kind of `vitistack.io` that nothing acts on yet, as paths within its spec.
pub fn without_effect(kind: &str) -> &'static [&'static str] {
    match kind {
        "MachineProvider" => OF_PROVIDER,
        "Vitistack" => OF_STACK,
        _ => &[],
    }
}

/// Those of them that a spec declares. What says no is not declared: nothing is done about it either
/// way.
pub fn declared_without_effect(kind: &str, spec: &Value) -> Vec<String> {
    let says = |path: &&&str| {
        let parts: Vec<&str> = path.split('.').collect();
        reaches(spec, &parts)
    };
    let found = without_effect(kind).iter().filter(says);
    found.map(|path| format!("spec.{path}")).collect()
}

/// What the writer of an object is told.
pub(super) fn warnings(kind: &str, spec: &Value) -> Option<String> {
    let found = declared_without_effect(kind, spec);
    (!found.is_empty()).then(|| format!("nothing acts on these fields yet: {}", found.join(", ")))
}

fn reaches(value: &Value, parts: &[&str]) -> bool {
    let Some((part, rest)) = parts.split_first() else {
        return says_something(value);
    };
    match part.strip_suffix("[]") {
        Some(name) => {
            let items = value[name].as_array().into_iter().flatten();
            items.into_iter().any(|item| reaches(item, rest))
        }
        None => value.get(part).is_some_and(|below| reaches(below, rest)),
    }
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => items.iter().any(says_something),
        Value::Object(fields) => {
            fields.get("enabled") != Some(&Value::Bool(false))
                && fields.values().any(says_something)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_declared_and_has_no_effect_is_named_once() {
        let spec = json!({
            "type": "sim", "config": {"version": "7.0", "timeout": "5s"},
            "storageConfig": {"backup": {"enabled": false, "schedule": "0 2 * * *"}},
            "storage": {"storageClasses": [{"name": "a", "provisioner": "p"}, {"provisioner": "q"}]},
            "network": {"ipv6Support": false, "publicIPSupport": true},
            "networkConfig": {"securityGroups": []},
        });
        assert_eq!(
            declared_without_effect("MachineProvider", &spec),
            [
                "spec.config.version",
                "spec.network.publicIPSupport",
                "spec.storage.storageClasses[].provisioner"
            ]
        );
        let said = warnings("MachineProvider", &spec).unwrap_or_default();
        assert!(
            said.starts_with("nothing acts on these fields yet: spec.config.version, "),
            "{said}"
        );
        assert_eq!(warnings("MachineProvider", &json!({"type": "sim"})), None);
        assert_eq!(warnings("Machine", &spec), None);
        let stack = json!({"backup": {"enabled": true}, "tags": {"a": "b"}});
        let found = declared_without_effect("Vitistack", &stack);
        assert_eq!(found, ["spec.backup", "spec.tags"]);
    }
}
