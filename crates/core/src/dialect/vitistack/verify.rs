//! What a provider declares that it can do, held against what its driver can do.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use machinist_api::vitistack::machine_provider::{CapabilityStatus, Features, MachineProvider};

use crate::{
    machine::{Condition, Truth},
    provider::Capabilities,
};

/// The type of the condition.
const VERIFIED: &str = "CapabilitiesVerified";

/// What can be done, and what cannot: everything that the driver tells of, and what is declared beyond.
pub(super) fn status(
    provider: &MachineProvider,
    can: &Capabilities,
    now: Timestamp,
) -> CapabilityStatus {
    let (verified, unsupported): (Vec<_>, Vec<_>) =
        can.words().into_iter().partition(|(_, has)| *has);
    let names = |list: Vec<(&str, bool)>| -> Vec<String> {
        list.into_iter().map(|(name, _)| name.to_owned()).collect()
    };
    let mut unsupported = names(unsupported);
    for lacking in missing(provider, can) {
        if !unsupported.contains(&lacking) {
            unsupported.push(lacking);
        }
    }
    CapabilityStatus {
        verified: names(verified),
        unsupported,
        last_verified: Some(Time(now)),
    }
}

/// Whether everything that is declared can be done; nothing where nothing is declared.
pub(super) fn condition(provider: &MachineProvider, can: &Capabilities) -> Option<Condition> {
    if declared(provider).is_empty() {
        return None;
    }
    let missing = missing(provider, can);
    Some(match missing.is_empty() {
        true => Condition::new(
            VERIFIED,
            Truth::True,
            "Verified",
            "The driver can do everything that spec.capabilities declares.",
        ),
        false => Condition::new(
            VERIFIED,
            Truth::False,
            "CapabilitiesMissing",
            format!(
                "spec.capabilities declares what the driver cannot do: {}.",
                missing.join(", ")
            ),
        ),
    })
}

/// What is declared and cannot be done, in the words of the declaration.
fn missing(provider: &MachineProvider, can: &Capabilities) -> Vec<String> {
    let words = can.words();
    let has = |word: Option<&str>| words.iter().any(|(name, has)| *has && Some(*name) == word);
    let mut missing: Vec<String> = declared(provider)
        .into_iter()
        .filter(|(_, word)| !has(*word))
        .map(|(name, _)| name)
        .collect();
    missing.dedup();
    missing
}

/// Every operation and feature that is declared, with the driver's word for it, where it has one.
fn declared(provider: &MachineProvider) -> Vec<(String, Option<&'static str>)> {
    let Some(capabilities) = &provider.spec.capabilities else {
        return Vec::new();
    };
    let operations = capabilities
        .supported_operations
        .iter()
        .map(|operation| (operation.as_str().to_owned(), Some(operation.as_str())));
    let Features {
        snapshot_support,
        live_resize,
        hot_plug_disks,
        hot_plug_networks,
        custom_metadata,
        tag_support,
        monitoring_integration,
        backup_integration,
    } = capabilities.features.clone().unwrap_or_default();
    let features = [
        ("snapshotSupport", snapshot_support, None),
        ("liveResize", live_resize, Some("liveResize")),
        ("hotPlugDisks", hot_plug_disks, Some("liveAttachDisk")),
        (
            "hotPlugNetworks",
            hot_plug_networks,
            Some("liveAttachInterface"),
        ),
        // First-boot data reaches the guest on every platform.
        ("customMetadata", custom_metadata, Some("create")),
        ("tagSupport", tag_support, Some("tagSupport")),
        ("monitoringIntegration", monitoring_integration, None),
        ("backupIntegration", backup_integration, None),
    ];
    let features = features
        .into_iter()
        .filter(|(_, declared, _)| *declared == Some(true))
        .map(|(name, _, word)| (name.to_owned(), word));
    operations.chain(features).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::provider::{Changes, When};

    fn check(capabilities: &Value) -> (Option<(Truth, String)>, Vec<String>) {
        let provider = json!({
            "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
            "metadata": {"name": "p"}, "spec": {"type": "sim", "capabilities": capabilities},
        });
        let provider = serde_json::from_value(provider).unwrap();
        let can = Capabilities {
            power: true,
            tags: true,
            changes: Changes {
                resize: When::Stopped,
                attach_disk: When::Always,
                ..Changes::default()
            },
            ..Capabilities::default()
        };
        let told = condition(&provider, &can).map(|c| (c.status, c.message));
        (
            told,
            status(&provider, &can, Timestamp::UNIX_EPOCH).unsupported,
        )
    }

    #[test]
    fn what_is_declared_is_held_against_what_the_driver_can_do() {
        assert_eq!(check(&json!({})).0, None);
        let all = json!({
            "supportedOperations": ["create", "delete", "start", "stop", "restart", "resize"],
            "features": {"hotPlugDisks": true, "tagSupport": true, "liveResize": false},
        });
        let (told, unsupported) = check(&all);
        assert_eq!(told.unwrap().0, Truth::True);
        assert!(unsupported.contains(&"liveResize".to_owned()));
        let beyond = json!({
            "supportedOperations": ["resize"],
            "features": {"liveResize": true, "snapshotSupport": true, "hotPlugNetworks": true},
        });
        let (told, unsupported) = check(&beyond);
        let (truth, message) = told.unwrap();
        assert_eq!(truth, Truth::False);
        let words = "cannot do: snapshotSupport, liveResize, hotPlugNetworks.";
        assert!(message.ends_with(words), "{message}");
        for name in ["snapshotSupport", "hotPlugNetworks", "liveResize"] {
            let count = unsupported.iter().filter(|other| *other == name).count();
            assert_eq!(count, 1, "{name} in {unsupported:?}");
        }
    }
}
