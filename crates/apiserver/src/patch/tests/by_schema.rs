//! Lists whose merging a schema says: custom kinds of the groups that take strategic patches.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::patch::{Lists, PatchKind, apply_patch};
use crate::registry::{Strategic, StrategicGroup};
use crate::schema::Schema;

/// A machine in the manner of IronCore, as far as its lists go.
fn schema() -> Schema {
    let keyed = |keys: &[&str], item: Value| {
        json!({"type": "array", "x-kubernetes-list-type": "map",
               "x-kubernetes-list-map-keys": keys,
               "items": {"type": "object", "properties": item}})
    };
    let text = json!({"type": "string"});
    Schema::from_value(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "volumes": keyed(&["name"], json!({
                "name": text, "device": text,
                "rules": keyed(&["id"], json!({"id": text, "v": text})),
            })),
            "ports": keyed(&["port", "protocol"], json!({"port": {"type": "integer"}, "protocol": text})),
            "tolerations": {"type": "array", "items": {"type": "object", "properties": {"key": text}}},
            "zones": {"type": "array", "x-kubernetes-list-type": "set", "items": text},
            "pools": {"type": "object", "additionalProperties": keyed(&["name"], json!({"name": text, "v": text}))},
        }},
        "status": {"type": "object", "properties": {
            "conditions": keyed(&["type"], json!({"type": text, "message": text})),
            "peerings": keyed(&["name"], json!({"name": text, "state": text})),
        }},
    }}))
    .unwrap()
}

fn patched(live: &Value, patch: &Value) -> Value {
    let group = StrategicGroup {
        suffix: "ironcore.dev".into(),
        replaced: vec!["status.conditions".into()],
    };
    let lists = Lists {
        kind: "Machine",
        strategic: &Strategic::BySchema(Arc::new(group)),
        schema: &schema(),
    };
    apply_patch(PatchKind::Strategic, lists, live, patch).unwrap()
}

#[test]
fn lists_merge_as_the_schema_says() {
    let live = json!({"spec": {
        "volumes": [{"name": "a", "device": "oda", "rules": [{"id": "1", "v": "x"}]}, {"name": "b"}],
        "ports": [{"port": 1, "protocol": "TCP"}, {"port": 1, "protocol": "UDP"}],
        "tolerations": [{"key": "a"}],
        "zones": ["a", "b"],
        "pools": {"p": [{"name": "a", "v": "1"}]},
    }, "status": {
        "conditions": [{"type": "Ready", "message": "old"}],
        "peerings": [{"name": "n", "state": "Pending"}],
    }});
    for (at, patch, expected) in [
        // By key, and by key again within an item.
        (
            "/spec/volumes",
            json!([{"name": "a", "rules": [{"id": "2", "v": "y"}]}, {"name": "c"}]),
            json!([{"name": "a", "device": "oda", "rules": [{"id": "2", "v": "y"}, {"id": "1", "v": "x"}]},
                   {"name": "c"}, {"name": "b"}]),
        ),
        (
            "/spec/volumes",
            json!([{"$patch": "delete", "name": "a"}]),
            json!([{"name": "b"}]),
        ),
        (
            "/spec/volumes",
            json!([{"$retainKeys": ["name"], "name": "a"}]),
            json!([{"name": "a"}, {"name": "b"}]),
        ),
        (
            "/spec/volumes",
            json!([{"$patch": "replace"}, {"name": "z"}]),
            json!([{"name": "z"}]),
        ),
        // Two keys are no key.
        (
            "/spec/ports",
            json!([{"port": 1, "protocol": "TCP"}]),
            json!([{"port": 1, "protocol": "TCP"}]),
        ),
        (
            "/spec/tolerations",
            json!([{"key": "b"}]),
            json!([{"key": "b"}]),
        ),
        ("/spec/zones", json!(["c"]), json!(["c", "a", "b"])),
        (
            "/spec/pools/p",
            json!([{"name": "b", "v": "2"}]),
            json!([{"name": "b", "v": "2"}, {"name": "a", "v": "1"}]),
        ),
        // The embedder's word counts more than the schema's.
        (
            "/status/conditions",
            json!([{"type": "Other"}]),
            json!([{"type": "Other"}]),
        ),
        (
            "/status/peerings",
            json!([{"name": "m"}]),
            json!([{"name": "m"}, {"name": "n", "state": "Pending"}]),
        ),
    ] {
        let mut body = patch;
        for field in at.split('/').skip(1).collect::<Vec<_>>().into_iter().rev() {
            body = json!({ field: body });
        }
        let got = patched(&live, &body);
        assert_eq!(got.pointer(at), Some(&expected), "{body}");
    }
}

#[test]
fn directives_beside_lists() {
    let live = json!({"spec": {"volumes": [{"name": "a"}, {"name": "b"}], "zones": ["a", "b"]}});
    let patch = json!({"spec": {
        "$setElementOrder/volumes": [{"name": "c"}, {"name": "b"}, {"name": "a"}],
        "volumes": [{"name": "c"}],
        "$deleteFromPrimitiveList/zones": ["a"],
    }});
    assert_eq!(
        patched(&live, &patch),
        json!({"spec": {"volumes": [{"name": "c"}, {"name": "b"}, {"name": "a"}], "zones": ["b"]}})
    );
}
