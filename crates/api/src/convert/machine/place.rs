//! Where a machine runs, and under which name.
//!
//! v1alpha1 has `providerRef`, `providerConfig` and `provider`; v1beta1 a reference or a selector,
//! with zone, parameters and credentials beside either.

use serde_json::Value;

use super::super::concept::{Concept, Fields};
use super::super::value::{copy, copy_back, object, set_object, text};

pub(super) const CONCEPTS: &[Concept] = &[
    Concept::spec("name", &["name"], &["displayName"], name_up, name_down),
    Concept::spec(
        "provider",
        &["provider", "providerRef", "providerConfig"],
        &[
            "providerRef",
            "providerSelector",
            "zone",
            "parameters",
            "credentialsRef",
        ],
        up,
        down,
    ),
];

const NAME: &[(&str, &str)] = &[("name", "displayName")];
const REFERENCE: &[(&str, &str)] = &[("name", "name"), ("namespace", "namespace")];
const SELECTOR: &[(&str, &str)] = &[("name", "type"), ("region", "region")];
const BESIDE: &[(&str, &str)] = &[("zone", "zone"), ("config", "parameters")];
const SECRET: &[(&str, &str)] = &[("name", "name"), ("namespace", "namespace"), ("key", "key")];

fn name_up(alpha: &Fields) -> Fields {
    let mut beta = Fields::new();
    copy(alpha, &mut beta, NAME);
    beta
}

fn name_down(beta: &Fields) -> Fields {
    let mut alpha = Fields::new();
    copy_back(beta, &mut alpha, NAME);
    alpha
}

fn up(alpha: &Fields) -> Fields {
    let mut beta = Fields::new();
    let config = object(alpha, "providerConfig").unwrap_or_default();
    let mut reference = Fields::new();
    if let Some(given) = object(alpha, "providerRef") {
        copy(&given, &mut reference, REFERENCE);
    } else if let Some(provider) = alpha.get("provider") {
        reference.insert("name".to_owned(), provider.clone());
    }
    if reference.is_empty() {
        let mut selector = Fields::new();
        copy(&config, &mut selector, SELECTOR);
        set_object(&mut beta, "providerSelector", selector);
    } else {
        set_object(&mut beta, "providerRef", reference);
    }
    copy(&config, &mut beta, BESIDE);
    if let Some(given) = object(&config, "credentialsRef") {
        let mut secret = Fields::new();
        copy(&given, &mut secret, &[("secretName", "name")]);
        copy(&given, &mut secret, SECRET);
        if secret.contains_key("name") {
            set_object(&mut beta, "credentialsRef", secret);
        }
    }
    beta
}

fn down(beta: &Fields) -> Fields {
    let mut alpha = Fields::new();
    let mut config = Fields::new();
    copy_back(beta, &mut config, BESIDE);
    set_object(
        &mut config,
        "credentialsRef",
        object(beta, "credentialsRef").unwrap_or_default(),
    );
    let Some(reference) = object(beta, "providerRef") else {
        if let Some(selector) = object(beta, "providerSelector") {
            copy_back(&selector, &mut config, SELECTOR);
        }
        set_object(&mut alpha, "providerConfig", config);
        return alpha;
    };
    // Settings stand beside `provider` but not beside `providerRef`, which alone has a namespace.
    match text(&reference, "name") {
        Some(name) if !config.is_empty() && !reference.contains_key("namespace") => {
            alpha.insert("provider".to_owned(), name.into());
            set_object(&mut alpha, "providerConfig", config);
        }
        _ => {
            alpha.insert("providerRef".to_owned(), Value::Object(reference));
        }
    }
    alpha
}
