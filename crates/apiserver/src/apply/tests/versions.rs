//! Two versions with different fields: what a manager wrote in one is known in the other.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::behaviour::{as_manager, managers_of};
use crate::apply::{ApplyError, Manager, Set, Versions, apply, track_update};
use crate::schema::Schema;

const OLD: &str = "example.io/v1alpha1";
const NEW: &str = "example.io/v1";
const NOW: &str = "2026-01-01T00:00:01Z";

/// `cpus` and `image` of the old version are `cpu.cores` and `source.image` of the new one.
struct Two {
    old: Schema,
    new: Schema,
}

impl Two {
    fn new() -> Self {
        let text = json!({"type": "string"});
        let map = json!({"type": "object", "additionalProperties": text});
        let number = json!({"type": "integer"});
        let of = |spec: Value| {
            let root = json!({"type": "object", "properties": {
                "spec": {"type": "object", "properties": spec},
            }});
            serde_json::from_value(root).unwrap()
        };
        Self {
            old: of(json!({"cpus": number, "image": text, "tags": map})),
            new: of(json!({
                "cpu": {"type": "object", "properties": {"cores": number}},
                "source": {"type": "object", "properties": {"image": text}},
                "tags": map,
            })),
        }
    }
}

impl Versions for Two {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        match api_version {
            OLD => Some(&self.old),
            NEW => Some(&self.new),
            _ => None,
        }
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ApplyError> {
        let mut object = object.clone();
        object["apiVersion"] = api_version.into();
        let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else {
            return Ok(object);
        };
        for (old, outer, inner) in [("cpus", "cpu", "cores"), ("image", "source", "image")] {
            if api_version == NEW
                && let Some(value) = spec.remove(old)
            {
                spec.insert(outer.into(), json!({ inner: value }));
            }
            if api_version == OLD
                && let Some(mut value) = spec.remove(outer)
                && let Some(value) = value.as_object_mut().and_then(|v| v.remove(inner))
            {
                spec.insert(old.into(), value);
            }
        }
        Ok(object)
    }
}

fn at<'a>(version: &'a str, name: &'a str) -> Manager<'a> {
    Manager {
        api_version: version,
        ..as_manager(name, NOW)
    }
}

fn object(version: &str, spec: &Value) -> Value {
    json!({"apiVersion": version, "kind": "Thing", "metadata": {"name": "t", "uid": "u"}, "spec": spec})
}

/// What the caller does before it hands an object to a write in another version.
fn read(live: &Value, version: &str) -> Value {
    if live["apiVersion"] == version {
        return live.clone();
    }
    Two::new().convert(live, version).unwrap()
}

fn applied(live: Option<&Value>, manager: &Manager<'_>, spec: &Value) -> Result<Value, ApplyError> {
    let version = manager.api_version;
    let live = live.map(|live| read(live, version));
    let stated = object(version, spec);
    apply(
        &Two::new(),
        live.as_ref(),
        &stated,
        manager,
        false,
        &Set::new(),
    )
}

#[test]
fn an_apply_in_a_newer_version_takes_away_what_it_no_longer_states() {
    let (old, new) = (at(OLD, "x"), at(NEW, "x"));
    let live = applied(
        None,
        &old,
        &json!({"cpus": 2, "image": "a", "tags": {"k": "v"}}),
    )
    .unwrap();
    let live = applied(Some(&live), &new, &json!({"source": {"image": "a"}})).unwrap();
    assert_eq!(live["spec"], json!({"source": {"image": "a"}}), "{live}");
    let managers = managers_of(&live);
    assert_eq!(managers.len(), 1, "{live}");
    assert_eq!(managers[0]["apiVersion"], NEW);
    assert_eq!(
        managers[0]["fieldsV1"]["f:spec"],
        json!({"f:source": {"f:image": {}}})
    );
}

#[test]
fn what_another_states_in_its_own_version_stays_and_is_defended() {
    let (old, new) = (at(OLD, "x"), at(NEW, "y"));
    let live = applied(None, &old, &json!({"cpus": 2, "image": "a"})).unwrap();
    let live = applied(
        Some(&live),
        &new,
        &json!({"cpu": {"cores": 2}, "tags": {"k": "v"}}),
    )
    .unwrap();
    let refused = applied(Some(&live), &new, &json!({"cpu": {"cores": 3}})).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "Apply failed with 1 conflict: conflict with \"x\": .spec.cpus"
    );
    let live = applied(Some(&live), &old, &json!({"image": "a"})).unwrap();
    assert_eq!(live["spec"]["cpus"], 2, "the other one states it: {live}");
    let live = applied(Some(&live), &new, &json!({"tags": {"k": "v"}})).unwrap();
    assert_eq!(live["spec"]["cpu"], Value::Null, "nobody does: {live}");
}

#[test]
fn an_update_in_one_version_takes_fields_in_the_other() {
    let live = applied(None, &at(OLD, "x"), &json!({"cpus": 2, "image": "a"})).unwrap();
    let mut new = read(&live, NEW);
    new["spec"] = json!({"cpu": {"cores": 4}});
    let live = read(&live, NEW);
    let by = at(NEW, "editor");
    let written = track_update(&Two::new(), Some(&live), new, &by, &Set::new()).unwrap();
    let managers = managers_of(&written);
    assert_eq!(managers.len(), 1, "{written}");
    let fields = &managers[0]["fieldsV1"]["f:spec"];
    assert_eq!(fields["f:cpu"]["f:cores"], json!({}), "{written}");
}

#[test]
fn managers_of_a_version_that_is_gone_are_forgotten() {
    let mut live = applied(None, &at(OLD, "x"), &json!({"cpus": 2})).unwrap();
    live["metadata"]["managedFields"][0]["apiVersion"] = "example.io/v0".into();
    let live = applied(Some(&live), &at(OLD, "y"), &json!({"cpus": 3})).unwrap();
    assert_eq!(live["spec"]["cpus"], 3);
    assert_eq!(managers_of(&live).len(), 1, "{live}");
}

#[test]
fn what_is_not_known_in_a_version_is_asked_for() {
    struct Unsure(Two);
    impl Versions for Unsure {
        fn schema(&self, api_version: &str) -> Option<&Schema> {
            self.0.schema(api_version)
        }
        fn convert(&self, object: &Value, api_version: &str) -> Result<Value, ApplyError> {
            Err(ApplyError::Unconverted {
                object: Box::new(object.clone()),
                api_version: api_version.into(),
            })
        }
    }
    let live = applied(None, &at(OLD, "x"), &json!({"cpus": 2})).unwrap();
    let live = read(&live, NEW);
    let stated = object(NEW, &json!({"tags": {"k": "v"}}));
    let (unsure, by) = (Unsure(Two::new()), at(NEW, "y"));
    let asked = apply(&unsure, Some(&live), &stated, &by, false, &Set::new()).unwrap_err();
    assert!(
        matches!(&asked, ApplyError::Unconverted { api_version, .. } if api_version == OLD),
        "{asked:?}"
    );
}

/// A spec of the old version.
fn any_spec() -> impl Strategy<Value = Value> {
    let cpus = proptest::option::of(0..3_i64);
    let image = proptest::option::of("[ab]");
    let tags = proptest::option::of(proptest::collection::btree_map("[a-c]", "[ab]", 1..3));
    (cpus, image, tags).prop_map(|(cpus, image, tags)| {
        let mut spec = Map::new();
        spec.extend(cpus.map(|v| ("cpus".into(), json!(v))));
        spec.extend(image.map(|v| ("image".into(), json!(v))));
        spec.extend(tags.map(|v| ("tags".into(), json!(v))));
        Value::Object(spec)
    })
}

/// The leaves of an object, which is what a spec says when empty maps do not count.
fn leaves(value: &Value, path: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                leaves(value, &format!("{path}.{name}"), out);
            }
        }
        leaf => out.push(format!("{path}={leaf}")),
    }
}

fn said(object: &Value) -> Vec<String> {
    let mut out = Vec::new();
    leaves(&object["spec"], "", &mut out);
    out
}

proptest! {
    /// A lone applier gets what it stated last, in whatever versions it stated it.
    #[test]
    fn the_last_statement_of_a_lone_applier_is_all_there_is(
        first in any_spec(),
        second in any_spec(),
        versions in (any::<bool>(), any::<bool>()),
    ) {
        let version = |new: bool| if new { NEW } else { OLD };
        let stated = |spec: &Value, version: &str| {
            read(&object(OLD, spec), version)["spec"].clone()
        };
        let (one, two) = (at(version(versions.0), "x"), at(version(versions.1), "x"));
        let live = applied(None, &one, &stated(&first, one.api_version)).unwrap();
        let wanted = stated(&second, two.api_version);
        let live = applied(Some(&live), &two, &wanted).unwrap();
        prop_assert_eq!(said(&live), said(&object(OLD, &wanted)), "{}", live);
        let again = applied(Some(&live), &two, &wanted).unwrap();
        prop_assert_eq!(again, live);
    }
}
