//! What the vectors do not show: errors, times, and the pieces around the merge.

use serde_json::{Value, json};

use crate::apply::{
    ApplyError, Manager, Set, apply, extract, keep_times_if_unchanged, track_update,
};
use crate::schema::Schema;

/// The schema of the objects in these tests.
pub(super) fn schema() -> Schema {
    let tags = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let mut atomic_tags = tags.clone();
    atomic_tags["x-kubernetes-map-type"] = json!("atomic");
    serde_json::from_value(json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "replicas": {"type": "integer"},
            "image": {"type": "string"},
            "tags": tags,
            "atomicTags": atomic_tags,
            "args": {"type": "array", "items": {"type": "string"}},
            "zones": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            "disks": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {"type": "object", "properties": {
                    "name": {"type": "string"}, "size": {"type": "integer"}, "tags": tags,
                }},
            },
        }},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    }}))
    .unwrap()
}

/// A manager that writes the object itself.
pub(super) fn as_manager<'a>(name: &'a str, now: &'a str) -> Manager<'a> {
    Manager {
        name,
        api_version: "example.io/v1",
        subresource: "",
        now,
    }
}

/// The entries of `metadata.managedFields`.
pub(super) fn managers_of(object: &Value) -> Vec<Value> {
    object["metadata"]["managedFields"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

const AT_ONE: &str = "2026-01-01T00:00:01Z";
const AT_TWO: &str = "2026-01-01T00:00:02Z";

fn thing(spec: Value) -> Value {
    json!({"apiVersion": "example.io/v1", "kind": "Thing", "metadata": {"name": "t", "uid": "u"}, "spec": spec})
}

fn applied(
    live: Option<&Value>,
    manager: &str,
    now: &str,
    spec: Value,
) -> Result<Value, ApplyError> {
    apply(
        &schema(),
        live,
        &thing(spec),
        &as_manager(manager, now),
        false,
        &Set::new(),
    )
}

#[test]
fn an_apply_that_changes_nothing_returns_the_live_object() {
    let live = applied(None, "a", AT_ONE, json!({"replicas": 1})).unwrap();
    let again = applied(Some(&live), "a", AT_TWO, json!({"replicas": 1})).unwrap();
    assert_eq!(live, again);
    assert_eq!(managers_of(&again)[0]["time"], AT_ONE);
}

#[test]
fn only_the_manager_whose_fields_changed_gets_a_new_time() {
    let live = applied(None, "a", AT_ONE, json!({"replicas": 1})).unwrap();
    let live = applied(Some(&live), "b", AT_TWO, json!({"image": "x"})).unwrap();
    let times: Vec<_> = managers_of(&live)
        .iter()
        .map(|entry| entry["time"].clone())
        .collect();
    assert_eq!(times, [AT_ONE, AT_TWO]);
}

#[test]
fn one_conflict_and_several_read_as_kubectl_shows_them() {
    let spec = json!({"replicas": 1, "image": "x"});
    let manager = Manager {
        subresource: "scale",
        ..as_manager("hpa", AT_ONE)
    };
    let live = track_update(&schema(), None, thing(spec), &manager, &Set::new()).unwrap();
    let live = applied(Some(&live), "b", AT_TWO, json!({"tags": {"t": "1"}})).unwrap();
    let one = applied(Some(&live), "c", AT_TWO, json!({"tags": {"t": "2"}})).unwrap_err();
    assert_eq!(
        one.to_string(),
        r#"Apply failed with 1 conflict: conflict with "b": .spec.tags.t"#
    );
    let several = json!({"replicas": 2, "image": "y", "tags": {"t": "2"}});
    let several = applied(Some(&live), "c", AT_TWO, several).unwrap_err();
    let want = "Apply failed with 3 conflicts: conflicts with \"b\":\n- .spec.tags.t\nconflicts with \"hpa\" with subresource \"scale\" using example.io/v1:\n- .spec.image\n- .spec.replicas";
    assert_eq!(several.to_string(), want);
}

#[test]
fn what_does_not_fit_is_named_by_its_path() {
    let err = applied(
        None,
        "a",
        AT_ONE,
        json!({"disks": [{"name": "r", "size": "big"}]}),
    )
    .unwrap_err();
    match err {
        ApplyError::Invalid {
            object: "applied",
            path,
            reason,
        } => {
            assert_eq!(path, r#".spec.disks[name="r"].size"#);
            assert_eq!(reason, r#"expected numeric (int or float), got string"#);
        }
        other => panic!("{other}"),
    }
    let err = applied(None, "a", AT_ONE, json!({"zones": [["x"]]})).unwrap_err();
    assert!(matches!(err, ApplyError::Invalid { path, .. } if path == ".spec.zones"));
}

#[test]
fn unreadable_managed_fields_stop_an_apply_and_not_an_update() {
    let mut live = applied(None, "a", AT_ONE, json!({"replicas": 1})).unwrap();
    live["metadata"]["managedFields"][0]["fieldsV1"] = json!({"f:spec": {"v:": {}}});
    let err = applied(Some(&live), "a", AT_TWO, json!({"replicas": 1})).unwrap_err();
    assert!(matches!(err, ApplyError::ManagedFields(_)), "{err}");
    let new = thing(json!({"replicas": 2}));
    let new = track_update(
        &schema(),
        Some(&live),
        new,
        &as_manager("u", AT_TWO),
        &Set::new(),
    )
    .unwrap();
    assert_eq!(managers_of(&new), Vec::<Value>::new());
}

#[test]
fn what_is_no_object_or_no_time_is_refused() {
    let none = Set::new();
    let manager = as_manager("a", AT_ONE);
    let err = apply(&schema(), None, &json!([]), &manager, false, &none).unwrap_err();
    assert!(matches!(err, ApplyError::NotAnObject("applied")), "{err}");
    let err = track_update(&schema(), None, json!("x"), &manager, &none).unwrap_err();
    assert!(matches!(err, ApplyError::NotAnObject("new")), "{err}");
    let err = applied(None, "a", "noon", json!({})).unwrap_err();
    assert!(matches!(err, ApplyError::Now { .. }), "{err}");
}

#[test]
fn times_come_back_when_nothing_else_changed() {
    let live = applied(None, "a", AT_ONE, json!({"replicas": 1})).unwrap();
    let mut later = live.clone();
    later["metadata"]["managedFields"][0]["time"] = json!(AT_TWO);
    let mut changed = later.clone();
    changed["spec"]["replicas"] = json!(2);
    keep_times_if_unchanged(&live, &mut later);
    assert_eq!(later, live);
    keep_times_if_unchanged(&live, &mut changed);
    assert_eq!(managers_of(&changed)[0]["time"], AT_TWO);
}

#[test]
fn extract_returns_what_a_manager_owns() {
    let spec = json!({"replicas": 1, "tags": {"x": "1"}, "disks": [{"name": "r", "size": 1}]});
    let live = applied(None, "a", AT_ONE, spec.clone()).unwrap();
    let more =
        json!({"tags": {"y": "1"}, "disks": [{"name": "r", "tags": {"k": "v"}}, {"name": "s"}]});
    let live = applied(Some(&live), "b", AT_TWO, more).unwrap();
    let owned = Set::from_fields_v1(&managers_of(&live)[0]["fieldsV1"]).unwrap();
    assert_eq!(extract(&schema(), &live, &owned), json!({"spec": spec}));
}
