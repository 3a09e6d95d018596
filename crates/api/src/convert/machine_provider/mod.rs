//! The concepts of a MachineProvider.

mod access;
mod offers;

use serde_json::{Value, json};

use super::concept::{Concept, Fields, KindTable};
use super::value::{copy, copy_back};

/// How a MachineProvider is converted.
pub(super) static TABLE: KindTable = KindTable {
    concepts: &[CONCEPTS, access::CONCEPTS, offers::CONCEPTS],
    complete,
};

const CONCEPTS: &[Concept] = &[
    Concept::spec(
        "type",
        &["type", "providerType"],
        &["type"],
        type_up,
        type_down,
    ),
    Concept::spec(
        "zones",
        &["availabilityZones", "zones"],
        &["zones"],
        zones_up,
        zones_down,
    ),
    Concept::repeated(&[
        "ready",
        "capacity",
        "activeMachines",
        "quota",
        "lastVerified",
    ]),
];

fn type_up(alpha: &Fields) -> Fields {
    let mut beta = Fields::new();
    copy(
        alpha,
        &mut beta,
        &[("providerType", "type"), ("type", "type")],
    );
    if beta.get("type") == Some(&json!("vmware")) {
        beta.insert("type".to_owned(), "vsphere".into());
    }
    beta
}

fn type_down(beta: &Fields) -> Fields {
    beta.clone()
}

fn zones_up(alpha: &Fields) -> Fields {
    let mut beta = Fields::new();
    copy(
        alpha,
        &mut beta,
        &[("zones", "zones"), ("availabilityZones", "zones")],
    );
    beta
}

fn zones_down(beta: &Fields) -> Fields {
    let mut alpha = Fields::new();
    copy_back(beta, &mut alpha, &[("availabilityZones", "zones")]);
    alpha
}

/// Without a region, v1alpha1 wants an endpoint or credentials, even if they say nothing.
fn complete(provider: &mut Value) {
    let Some(spec) = provider.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    let described = ["region", "endpoint", "credentials"];
    if !described.iter().any(|key| spec.contains_key(*key)) {
        spec.insert("endpoint".to_owned(), json!({}));
    }
}
