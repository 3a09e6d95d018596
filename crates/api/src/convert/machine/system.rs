//! What runs in a machine: `os` and `operatingSystem` of v1alpha1, `os` and `image` of v1beta1; and
//! the two places of user data.

use serde_json::{Value, json};

use super::super::concept::{Concept, Fields};
use super::super::value::{copy, copy_back, object, set, set_object, text};

pub(super) const CONCEPTS: &[Concept] = &[
    Concept::spec("os", &["os", "operatingSystem"], &["os", "image"], up, down),
    Concept::spec(
        "cloudInit",
        &["userData", "cloudInit"],
        &["cloudInit"],
        init_up,
        init_down,
    ),
];

const SYSTEM: &[(&str, &str)] = &[("distribution", "distribution"), ("version", "version")];
/// Ways to name an image in `os`, the one that counts first.
const NAMED: &[(&str, &str)] = &[
    ("imageID", "id"),
    ("imageFamily", "family"),
    ("isoUri", "iso"),
];
/// Sources of an image in `operatingSystem`.
const SOURCES: &[(&str, &str)] = &[
    ("cloud-image", "url"),
    ("template", "template"),
    ("iso", "iso"),
];

fn up(alpha: &Fields) -> Fields {
    let mut os = Fields::new();
    let mut image = Fields::new();
    if let Some(given) = object(alpha, "os") {
        copy(
            &given,
            &mut os,
            &[("family", "type"), ("architecture", "architecture")],
        );
        copy(&given, &mut os, SYSTEM);
        if os.get("architecture") == Some(&json!("x86_64")) {
            os.insert("architecture".to_owned(), "amd64".into());
        }
        if let Some(named) = NAMED.iter().find(|(old, _)| given.contains_key(*old)) {
            copy(&given, &mut image, &[*named]);
        }
    } else if let Some(given) = object(alpha, "operatingSystem") {
        copy(&given, &mut os, &[("type", "type")]);
        copy(&given, &mut os, SYSTEM);
        let from = object(&given, "image").unwrap_or_default();
        if let Some(place) = text(&from, "url") {
            let source = text(&from, "source");
            let known = SOURCES
                .iter()
                .find(|(word, _)| source.as_deref() == Some(word));
            // Without a source, a URL is an image and anything else a name that the platform knows.
            let otherwise = if place.contains("://") { "url" } else { "id" };
            let way = known.map_or(otherwise, |(_, way)| way);
            image.insert(way.to_owned(), place.into());
        }
    }
    let mut beta = Fields::new();
    set_object(&mut beta, "os", os);
    set_object(&mut beta, "image", image);
    beta
}

fn down(beta: &Fields) -> Fields {
    let os = object(beta, "os").unwrap_or_default();
    let image = object(beta, "image").unwrap_or_default();
    let mut alpha = Fields::new();
    if os.is_empty() && image.is_empty() {
        return alpha;
    }
    let complete = ["type", "distribution", "version"]
        .iter()
        .all(|key| os.contains_key(*key));
    let known = os.get("type") != Some(&json!("freebsd"));
    let named = image.is_empty() || NAMED.iter().any(|(_, way)| image.contains_key(*way));
    let mut system = Fields::new();
    copy_back(&os, &mut system, SYSTEM);
    if complete && known && named {
        copy_back(
            &os,
            &mut system,
            &[("family", "type"), ("architecture", "architecture")],
        );
        copy_back(&image, &mut system, NAMED);
        alpha.insert("os".to_owned(), Value::Object(system));
        return alpha;
    }
    copy(&os, &mut system, &[("type", "type")]);
    let mut from = Fields::new();
    for way in ["id", "family", "url", "template", "iso"] {
        if let Some(place) = text(&image, way) {
            let source = SOURCES.iter().find(|(_, known)| *known == way);
            set(&mut from, "source", source.map(|(word, _)| *word));
            from.insert("url".to_owned(), place.into());
        }
    }
    set_object(&mut system, "image", from);
    alpha.insert("operatingSystem".to_owned(), Value::Object(system));
    alpha
}

/// How first-boot data reaches a guest unless it is said; servers fill it in, in both versions.
const USUAL: &str = "noCloud";

fn init_up(alpha: &Fields) -> Fields {
    let mut init = object(alpha, "cloudInit").unwrap_or_default();
    if !init.contains_key("userData") {
        copy(alpha, &mut init, &[("userData", "userData")]);
    }
    let mut beta = Fields::new();
    if !init.is_empty() || alpha.contains_key("cloudInit") {
        init.entry("type").or_insert(USUAL.into());
        beta.insert("cloudInit".to_owned(), Value::Object(init));
    }
    beta
}

fn init_down(beta: &Fields) -> Fields {
    let Some(mut init) = object(beta, "cloudInit") else {
        return Fields::new();
    };
    init.entry("type").or_insert(USUAL.into());
    let mut alpha = Fields::new();
    // Plain user data has a field of its own.
    if init.len() == 2 && init["type"] == USUAL && init.contains_key("userData") {
        copy(&init, &mut alpha, &[("userData", "userData")]);
    } else {
        alpha.insert("cloudInit".to_owned(), Value::Object(init));
    }
    alpha
}
