//! From what was found about the configuration of a platform to its status.
//!
//! What is declared is checked, and who uses it is said. Connecting is the drivers' work, so what
//! only a connection can tell (versions, nodes, readiness) is left open here.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use machinist_api::{
    conditions as types,
    vitistack::{
        KubevirtConfig, KubevirtConfigStatus, MachineProvider, ProxmoxConfig, ProxmoxConfigStatus,
    },
};

use super::{conditions::stamp, provider::platform};
use crate::machine::{Condition, Truth};

/// What was found of the Secret that a configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundSecret {
    /// It names none: it holds defaults alone.
    NotNamed,
    /// The token stands in the configuration itself.
    InClear,
    /// There is none of that name, as namespace and name.
    Missing(String),
    /// It cannot be used, in a sentence that names it.
    Unusable(String),
    /// It holds what it must.
    Usable(String),
}

/// What one look at a configuration gave.
pub struct PlatformOutlook<'a> {
    /// Its Secret.
    pub secret: &'a FoundSecret,
    /// The MachineProviders that use it, sorted.
    pub users: &'a [String],
    /// Now.
    pub now: Timestamp,
}

/// Whether a provider uses the configuration of this name, of those of its namespace: the one that
/// its annotation names, or the only one.
pub fn uses_config(
    provider: &MachineProvider,
    (kind, annotation): (&str, &str),
    config: &ObjectMeta,
    is_only: bool,
) -> bool {
    let annotations = provider.metadata.annotations.as_ref();
    let named = annotations.and_then(|all| all.get(annotation));
    let is_meant = match named {
        Some(name) => Some(name) == config.name.as_ref(),
        None => is_only,
    };
    is_meant && platform(provider) == kind && provider.metadata.namespace == config.namespace
}

/// What is said of either kind.
struct Said {
    phase: &'static str,
    message: Option<String>,
    conditions: Vec<Condition>,
}

/// The status of a KubevirtConfig, all of it.
pub fn raise_kubevirt(
    config: &KubevirtConfig,
    outlook: &PlatformOutlook<'_>,
) -> KubevirtConfigStatus {
    let before = config.status.as_ref();
    let Said {
        phase,
        message,
        conditions,
    } = say("KubeVirt", outlook);
    let old = before.map(|status| status.conditions.as_slice());
    let meta = &config.metadata;
    KubevirtConfigStatus {
        observed_generation: meta.generation,
        phase: Some(phase.to_owned()),
        applied_version: before.and_then(|status| status.applied_version.clone()),
        conditions: stamp(
            conditions,
            old.unwrap_or_default(),
            meta.generation,
            outlook.now,
        ),
        name: config.spec.name.clone().or_else(|| meta.name.clone()),
        status: Some(phase.to_owned()),
        message,
        created: created(meta),
    }
}

/// The status of a ProxmoxConfig, all of it.
pub fn raise_proxmox(config: &ProxmoxConfig, outlook: &PlatformOutlook<'_>) -> ProxmoxConfigStatus {
    let before = config.status.as_ref();
    let Said {
        phase,
        message,
        conditions,
    } = say("Proxmox", outlook);
    let old = before.map(|status| status.conditions.as_slice());
    let meta = &config.metadata;
    ProxmoxConfigStatus {
        observed_generation: meta.generation,
        ready: Some(false),
        cluster_version: before.and_then(|status| status.cluster_version.clone()),
        available_nodes: before.map_or_else(Vec::new, |status| status.available_nodes.clone()),
        phase: Some(phase.to_owned()),
        conditions: stamp(
            conditions,
            old.unwrap_or_default(),
            meta.generation,
            outlook.now,
        ),
        status: Some(phase.to_owned()),
        message,
        created: created(meta),
    }
}

fn created(meta: &ObjectMeta) -> Option<String> {
    let time = meta.creation_timestamp.as_ref()?;
    Some(time.0.to_string())
}

fn say(platform: &str, outlook: &PlatformOutlook<'_>) -> Said {
    let (phase, truth, reason, found) = match outlook.secret {
        FoundSecret::NotNamed => (
            "Pending",
            Truth::True,
            "DefaultsOnly",
            "No Secret is named: what is declared serves as defaults.".to_owned(),
        ),
        FoundSecret::InClear => (
            "Pending",
            Truth::True,
            "TokenInClear",
            "The token stands in the declaration, where everybody who may read it sees it; keep it in a Secret that spec.credentialsSecretRef names.".to_owned(),
        ),
        FoundSecret::Missing(name) => (
            "Pending",
            Truth::False,
            "SecretNotFound",
            format!("There is no Secret {name}; create it."),
        ),
        FoundSecret::Unusable(why) => ("Failed", Truth::False, "SecretUnusable", why.clone()),
        FoundSecret::Usable(name) => (
            "Pending",
            Truth::True,
            "SecretUsable",
            format!("Secret {name} holds what is needed."),
        ),
    };
    let ready = match truth {
        Truth::False => Condition::new(types::READY, Truth::False, reason, found.clone()),
        _ => Condition::new(
            types::READY,
            Truth::Unknown,
            "NoDriver",
            format!("{found} Nobody has connected: this version has no driver for {platform}."),
        ),
    };
    let referenced = match outlook.users {
        [] => Condition::new(
            types::REFERENCED,
            Truth::False,
            "NotReferenced",
            format!(
                "No MachineProvider of type {} in this namespace uses it.",
                platform.to_lowercase()
            ),
        ),
        users => Condition::new(
            types::REFERENCED,
            Truth::True,
            "Referenced",
            format!("Used by MachineProvider {}.", users.join(", ")),
        ),
    };
    Said {
        phase,
        message: (truth == Truth::False).then(|| found.clone()),
        conditions: vec![
            ready,
            Condition::new(types::VALIDATED, truth, reason, found),
            referenced,
        ],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_provider_uses_what_it_names_or_the_only_one() {
        let provider = |spec, annotations| -> MachineProvider {
            let provider = json!({
                "metadata": {"name": "p", "namespace": "infra", "annotations": annotations},
                "spec": {"type": spec},
            });
            serde_json::from_value(provider).expect("a provider")
        };
        let config = |namespace: &str| ObjectMeta {
            name: Some("site-a".into()),
            namespace: Some(namespace.into()),
            ..ObjectMeta::default()
        };
        let kind = ("kubevirt", "vitistack.io/kubevirt-config");
        let uses = |provider: &MachineProvider, namespace: &str, is_only| {
            uses_config(provider, kind, &config(namespace), is_only)
        };
        let unnamed = provider("kubevirt", json!({}));
        assert!(uses(&unnamed, "infra", true));
        assert!(!uses(&unnamed, "infra", false));
        assert!(!uses(&unnamed, "elsewhere", true));
        assert!(!uses(&provider("proxmox", json!({})), "infra", true));
        let named = provider(
            "kubevirt",
            json!({"vitistack.io/kubevirt-config": "site-a"}),
        );
        assert!(uses(&named, "infra", false));
        let other = provider(
            "kubevirt",
            json!({"vitistack.io/kubevirt-config": "site-b"}),
        );
        assert!(!uses(&other, "infra", true));
    }
}
