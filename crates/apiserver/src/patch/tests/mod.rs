//! Tests of the patches.

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Lists, MAX_JSON_PATCH_OPERATIONS, PatchKind, merge_patch};
use crate::patch::PatchError;
use crate::registry::Strategic;
use crate::schema::Schema;

mod by_schema;

/// Patches an object of a built-in kind.
fn apply_patch(kind: PatchKind, live: &Value, patch: &Value) -> Result<Value, PatchError> {
    let lists = Lists {
        kind: live["kind"].as_str().unwrap_or_default(),
        strategic: &Strategic::ByTable,
        schema: &Schema::default(),
    };
    super::apply_patch(kind, lists, live, patch)
}

/// A patch with what the reference implementations (evanphx/json-patch and strategicpatch, as
/// the API server uses them) made of it.
#[derive(Deserialize)]
struct Vector {
    name: String,
    kind: String,
    live: Value,
    patch: Value,
    expect: Option<Value>,
}

#[test]
fn answers_as_the_reference_implementations() {
    let vectors: Vec<Vector> =
        serde_json::from_str(include_str!("../testdata/vectors.json")).unwrap();
    assert!(vectors.len() > 70);
    let mut failures = Vec::new();
    for vector in vectors {
        let kind = match vector.kind.as_str() {
            "json" => PatchKind::Json,
            "merge" => PatchKind::Merge,
            _ => PatchKind::Strategic,
        };
        let got = apply_patch(kind, &vector.live, &vector.patch);
        if got.as_ref().ok() != vector.expect.as_ref() {
            failures.push(format!(
                "{} {}:\n  got  {got:?}\n  want {:?}",
                vector.kind, vector.name, vector.expect
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn refusals() {
    use PatchKind::{Json, Merge, Strategic};
    let live = json!({"kind": "ServiceAccount", "metadata": {"finalizers": ["a"]}, "secrets": [{"name": "a"}]});
    let many: Vec<_> = (0..10_001)
        .map(|_| json!({"op": "test", "path": "/kind", "value": "x"}))
        .collect();
    for (kind, patch, expected) in [
        (
            Json,
            json!([{"op": "test", "path": "/kind", "value": "x"}]),
            "/kind",
        ),
        (Json, json!({"op": "add"}), "cannot unmarshal object"),
        (Json, json!([{"op": "add"}]), "is none"),
        (Json, json!(many), "got 10001"),
        (Merge, json!([]), "cannot unmarshal array"),
        (Strategic, json!(5), "cannot unmarshal number"),
        (
            Strategic,
            json!({"secrets": [{"kind": "x"}]}),
            "merge key: name",
        ),
        (
            Strategic,
            json!({"secrets": [{"name": "a", "$patch": "x"}]}),
            "unknown patch type: x",
        ),
        (
            Strategic,
            json!({"metadata": {"$retainKeys": 1}}),
            "retainKeys",
        ),
    ] {
        let error = apply_patch(kind, &live, &patch).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn a_json_patch_has_a_limit() {
    let test = json!({"op": "test", "path": "/a", "value": 1});
    let at_limit = Value::Array(vec![test.clone(); MAX_JSON_PATCH_OPERATIONS]);
    assert!(apply_patch(PatchKind::Json, &json!({"a": 1}), &at_limit).is_ok());
    let over = Value::Array(vec![test; MAX_JSON_PATCH_OPERATIONS + 1]);
    assert!(apply_patch(PatchKind::Json, &json!({"a": 1}), &over).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        "[a-c]",
        Just("metadata".to_owned()),
        Just("finalizers".to_owned()),
        Just("ownerReferences".to_owned()),
        Just("$patch".to_owned()),
        Just("$retainKeys".to_owned()),
        Just("$setElementOrder/finalizers".to_owned()),
        Just("$setElementOrder/ownerReferences".to_owned()),
        Just("$deleteFromPrimitiveList/finalizers".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        "[a-c]".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::btree_map(key.clone(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn a_merge_patch_applied_twice_is_applied_once(live in any_json(), patch in any_json()) {
        let once = merge_patch(&live, &patch);
        prop_assert_eq!(&merge_patch(&once, &patch), &once);
    }

    #[test]
    fn merge_agrees_with_another_implementation(live in any_json(), patch in any_json()) {
        let mut other = live.clone();
        json_patch::merge(&mut other, &patch);
        prop_assert_eq!(merge_patch(&live, &patch), other);
    }

    #[test]
    fn nothing_panics_on_any_json(live in any_json(), patch in any_json()) {
        for kind in [PatchKind::Json, PatchKind::Merge, PatchKind::Strategic] {
            let _ = apply_patch(kind, &live, &patch);
        }
    }
}
