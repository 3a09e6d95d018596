//! A provider's defaults: what they fill, when they count, and where they are told.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

use machinist_api::vitistack::{Machine, MachineProvider};
use machinist_core::{
    dialect::vitistack::{fill_from_stack, lower},
    machine::Want,
};
use serde_json::{Value, json};

fn want(machine: &Value, provider: &Value) -> Want {
    let machine: Machine = serde_json::from_value(json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine",
        "metadata": {"name": "m", "namespace": "default"}, "spec": machine,
    }))
    .expect("a machine");
    let mut spec = provider.clone();
    if spec.get("type").is_none() {
        spec["type"] = "sim".into();
    }
    let provider: MachineProvider = serde_json::from_value(json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
        "metadata": {"name": "p", "namespace": "default"}, "spec": spec,
    }))
    .expect("a provider");
    lower(&machine, &provider).expect("understood")
}

fn generous() -> Value {
    json!({
        "networkConfig": {"defaultNetworkId": "net", "defaultSubnetId": "subnet"},
        "storageConfig": {"defaultStorageClass": "fast", "defaultDiskSize": "20Gi"},
        "computeConfig": {"defaultCPU": "2", "defaultMemoryGB": "4"},
        "templates": [{"name": "small", "resources": {"cpu": 1, "memory": "2Gi"}}],
    })
}

#[test]
fn what_is_left_open_is_filled_and_told() {
    let want = want(&json!({}), &generous());
    assert_eq!((want.cpu.count(), want.memory), (2, 4 << 30));
    assert_eq!(want.disks[0].class.as_deref(), Some("fast"));
    assert_eq!(
        want.defaults.told,
        [
            "2 processors (spec.computeConfig.defaultCPU)",
            "4.0 GiB of memory (spec.computeConfig.defaultMemoryGB)",
            "size 20Gi of disks that are made (spec.storageConfig.defaultDiskSize)",
            "storage class fast (spec.storageConfig.defaultStorageClass)",
            "network subnet (spec.networkConfig.defaultSubnetId)",
        ]
    );
    let born = want.at_birth();
    assert_eq!(born.disks[0].size, Some(20 << 30));
    assert_eq!(born.nics[0].network.as_deref(), Some("subnet"));
    // It is no part of what the machine should be from then on.
    assert_eq!((want.disks[0].size, want.nics.len()), (None, 0));
}

#[test]
fn what_is_declared_is_left_alone() {
    let declared = json!({
        "cpu": {"cores": 8}, "memory": 1_073_741_824,
        "disks": [{"name": "root", "sizeGB": 5, "type": "slow"}],
        "network": {"subnet": "mine", "interfaces": [{"name": "a", "subnet": "own"}]},
    });
    let want = want(&declared, &generous());
    assert!(want.defaults.told.is_empty(), "{:?}", want.defaults.told);
    assert_eq!((want.cpu.count(), want.memory), (8, 1 << 30));
    assert_eq!(want.disks[0].class.as_deref(), Some("slow"));
    assert_eq!(want.nics[0].network.as_deref(), Some("own"));
    assert_eq!(*want.at_birth(), want);
    // A provider without defaults fills nothing.
    let plain = self::want(&json!({}), &json!({}));
    assert!(plain.defaults.told.is_empty());
    assert_eq!(*plain.at_birth(), plain);
}

#[test]
fn templates_and_parts_are_told_by_where_they_are_from() {
    let sized = want(&json!({"instanceType": "small"}), &generous());
    assert_eq!((sized.cpu.count(), sized.memory), (1, 2 << 30));
    let told = &sized.defaults.told[..2];
    assert_eq!(
        told,
        [
            "1 processors (spec.templates small)",
            "2.0 GiB of memory (spec.templates small)"
        ]
    );
    let open = json!({"network": {"interfaces": [{"name": "a"}, {"name": "b", "subnet": "own"}]}});
    let nics = want(&open, &generous()).nics;
    assert_eq!(nics[0].network.as_deref(), Some("subnet"));
    assert_eq!(nics[1].network.as_deref(), Some("own"));
    // On EC2 a VPC is no network that an interface is on.
    let vpc = json!({"type": "aws", "region": "us-west-2", "networkConfig": {"defaultNetworkId": "vpc-12345678"}});
    assert_eq!(want(&json!({}), &vpc).defaults.network, None);
    let named = json!({"networkConfig": {"defaultNetworkId": "VM Network"}});
    let network = want(&json!({}), &named).defaults.network;
    assert_eq!(network.as_deref(), Some("VM Network"));
}

#[test]
fn tags_of_the_provider_are_put_beside_those_of_the_machine_which_count() {
    let provider = json!({"defaultTags": {"team": "infra", "cost": "42"}});
    let tagged = want(&json!({"tags": {"team": "web"}}), &provider);
    let tags: Vec<(&str, &str)> = tagged
        .tags
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(tags, [("cost", "42"), ("team", "web")]);
    assert_eq!(tagged.defaults.told, ["tags cost=42 (spec.defaultTags)"]);
    let own = json!({"tags": {"team": "web", "cost": "1"}});
    assert!(want(&own, &provider).defaults.told.is_empty());
}

#[test]
fn what_the_shipped_operators_declare_is_filled_too() {
    let shipped = json!({
        "network": {"defaultVPC": "lab", "defaultSecurityGroups": ["web", "ssh"]},
        "storage": {"defaultEncryption": true},
        "compute": {"defaultMachineClass": "small"},
        "templates": [{"name": "small", "resources": {"cpu": 2, "memory": "2Gi", "storage": "30Gi"}}],
    });
    let open = want(&json!({}), &shipped);
    assert_eq!(open.instance_type.as_deref(), Some("small"));
    assert_eq!((open.cpu.count(), open.memory), (2, 2 << 30));
    assert_eq!(open.security_groups, ["web", "ssh"]);
    assert!(open.disks[0].encrypted);
    assert_eq!(
        open.defaults.told,
        [
            "size small (spec.compute.defaultMachineClass)",
            "2 processors (spec.templates small)",
            "2.0 GiB of memory (spec.templates small)",
            "security groups web ssh (spec.network.defaultSecurityGroups)",
            "encrypted disks (spec.storage.defaultEncryption)",
            "size 30Gi of the boot disk when it is made (spec.templates small)",
            "network lab (spec.network.defaultVPC)",
        ]
    );
    assert_eq!(open.at_birth().disks[0].size, Some(30 << 30));
    assert_eq!(open.disks[0].size, None);
    let declared = json!({
        "cpu": {"cores": 4}, "memory": 1_073_741_824, "securityGroups": ["own"],
        "disks": [{"name": "root", "sizeGB": 5, "encrypted": false}],
        "network": {"subnet": "mine", "interfaces": [{"name": "a", "subnet": "own"}]},
    });
    let own = want(&declared, &shipped);
    assert!(own.defaults.told.is_empty(), "{:?}", own.defaults.told);
    assert_eq!((own.instance_type.as_deref(), own.cpu.count()), (None, 4));
    assert_eq!(own.security_groups, ["own"]);
    assert!(!own.disks[0].encrypted);
    // The template is for the boot disk; another one has the size of any disk.
    let two = json!({"disks": [{"name": "root", "boot": true}, {"name": "data"}]});
    let mut both = shipped.clone();
    both["storageConfig"] = json!({"defaultDiskSize": "7Gi"});
    let both = want(&two, &both);
    let sizes: Vec<_> = both.at_birth().disks.iter().map(|d| d.size).collect();
    assert_eq!(sizes, [Some(30 << 30), Some(7 << 30)]);
    // On EC2 interfaces are on subnets.
    let vpc = json!({"type": "aws", "region": "us-west-2", "network": {"defaultVPC": "vpc-1"}});
    assert_eq!(want(&json!({}), &vpc).defaults.network, None);
}

#[test]
fn a_system_that_is_described_has_the_image_that_is_usual_for_it() {
    let offered = json!({"capabilities": {"operatingSystems": [{
        "family": "linux", "distribution": "debian", "versions": ["12"], "architectures": ["amd64"],
        "defaultImageID": "img-12",
    }]}});
    let os =
        |version: &str| json!({"family": "linux", "distribution": "debian", "version": version});
    let image = want(&json!({"os": os("12")}), &offered).image;
    assert_eq!(
        image.map(|image| image.reference).as_deref(),
        Some("img-12")
    );
    let named = want(
        &json!({"os": {"distribution": "debian", "imageID": "mine"}}),
        &offered,
    )
    .image;
    assert_eq!(named.map(|image| image.reference).as_deref(), Some("mine"));
}

#[test]
fn a_disk_that_is_attached_later_has_the_default_size() {
    let want = want(
        &json!({"disks": [{"name": "root", "boot": true}, {"name": "data"}]}),
        &generous(),
    );
    let disk = want.defaults.disk(&want.disks[1]).into_owned();
    assert_eq!(disk.size, Some(20 << 30));
}

#[test]
fn a_vitistack_fills_what_the_provider_leaves_open() {
    let stack = serde_json::from_value(json!({
        "metadata": {"name": "prod", "namespace": "default"},
        "spec": {"settings": {
            "defaultStorageClass": "slow", "defaultNetworkPolicy": "web",
            "monitoring": {"enabled": true},
        }},
    }))
    .expect("a Vitistack");
    let disks = json!({"disks": [{"name": "a", "sizeGB": 1}, {"name": "b", "sizeGB": 1}]});
    let mut open = want(&disks, &json!({}));
    fill_from_stack(&mut open, &stack);
    let classes: Vec<_> = open.disks.iter().map(|d| d.class.as_deref()).collect();
    assert_eq!(classes, [Some("slow"), Some("slow")]);
    assert_eq!(open.monitoring, Some(true));
    assert_eq!(open.security_groups, ["web"]);
    let told = &open.defaults.told[open.defaults.told.len() - 3..];
    assert_eq!(
        told,
        [
            "storage class slow (spec.settings.defaultStorageClass of Vitistack prod)",
            "security group web when it is made, where the platform has any (spec.settings.defaultNetworkPolicy of Vitistack prod)",
            "monitoring on when it is made, where the platform has any (spec.settings.monitoring.enabled of Vitistack prod)",
        ]
    );
    // The provider is closer, and the machine closer still.
    let mut own = disks.clone();
    own["monitoring"] = false.into();
    own["securityGroups"] = json!(["own"]);
    let mut filled = want(&own, &generous());
    let before = filled.clone();
    fill_from_stack(&mut filled, &stack);
    assert_eq!(filled, before);
}
