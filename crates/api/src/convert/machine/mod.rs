//! The concepts of a Machine.

mod compute;
mod devices;
mod network;
mod place;
mod status;
mod system;

use serde_json::{Value, json};

use super::concept::KindTable;

/// How a Machine is converted.
pub(super) static TABLE: KindTable = KindTable {
    concepts: &[
        place::CONCEPTS,
        compute::CONCEPTS,
        devices::CONCEPTS,
        network::CONCEPTS,
        system::CONCEPTS,
        status::CONCEPTS,
    ],
    complete,
};

/// A machine that is placed by platform and region needs a name and an operating system in v1alpha1.
fn complete(machine: &mut Value) {
    let name = machine["metadata"]["name"].as_str().map(str::to_owned);
    let Some(spec) = machine.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    if !spec.contains_key("providerConfig") || spec.contains_key("provider") {
        return;
    }
    if let Some(name) = name
        && !spec.contains_key("name")
    {
        spec.insert("name".to_owned(), name.into());
    }
    if !spec.contains_key("os") && !spec.contains_key("operatingSystem") {
        spec.insert("operatingSystem".to_owned(), json!({}));
    }
}
