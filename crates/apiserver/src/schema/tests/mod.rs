//! The schema module against kube-apiserver 1.36: `cases.json` holds objects together with
//! what upstream's own pruning, defaulting and validation made of them.

mod laws;
mod quick;
mod timing;

use serde::Deserialize;
use serde_json::{Value, json};

use super::*;

#[derive(Deserialize)]
struct Case {
    name: String,
    schema: Value,
    object: Value,
    #[serde(default)]
    old: Option<Value>,
    pruned: Vec<String>,
    stored: Value,
    errors: Vec<String>,
    reasons: Vec<String>,
}

#[test]
fn objects_fare_as_they_do_upstream() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("cases.json")).unwrap();
    let mut wrong = Vec::new();
    for case in cases {
        let schema = Schema::from_value(&case.schema).unwrap();
        let mut object = case.object.clone();
        let pruned = prune(&schema, &mut object);
        default(&schema, &mut object);
        let faults = Validator::new(schema)
            .unwrap()
            .validate(&object, case.old.as_ref());
        let mut errors: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let mut reasons: Vec<String> = faults.iter().map(|f| f.reason().to_string()).collect();
        errors.sort();
        reasons.sort();
        let (got, want) = (
            json!({"pruned": pruned, "stored": as_go_writes(&object), "errors": errors, "reasons": reasons}),
            json!({"pruned": case.pruned, "stored": case.stored, "errors": case.errors,
                   "reasons": case.reasons}),
        );
        if got != want {
            wrong.push(format!("{}:\n  got  {got}\n  want {want}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[derive(Deserialize)]
struct Update {
    name: String,
    schema: Value,
    old: Value,
    new: Value,
    errors: Vec<String>,
}

/// `ratcheting.json` holds what kube-apiserver 1.36 said to updates of objects that were stored
/// before their schema became stricter.
#[test]
fn updates_fare_as_they_do_upstream() {
    let updates: Vec<Update> = serde_json::from_str(include_str!("ratcheting.json")).unwrap();
    let mut wrong = Vec::new();
    for update in updates {
        let validator = Validator::new(Schema::from_value(&update.schema).unwrap()).unwrap();
        let faults = validator.validate(&update.new, Some(&update.old));
        let mut errors: Vec<String> = faults.iter().map(ToString::to_string).collect();
        errors.sort();
        let want = update.errors;
        if errors != want {
            wrong.push(format!(
                "{}:\n  got  {errors:?}\n  want {want:?}",
                update.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Go writes a float without a fraction as an integer.
fn as_go_writes(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if !number.is_i64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                json!(float as i64)
            }
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(as_go_writes).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), as_go_writes(value)))
            .collect(),
        _ => value.clone(),
    }
}

fn schema(json: Value) -> Schema {
    Schema::from_value(&json).unwrap()
}

#[test]
fn a_schema_survives_reading_and_writing() {
    let json = json!({
        "type": "object",
        "required": ["a"],
        "properties": {
            "a": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "m": {"type": "object", "additionalProperties": {"type": "integer"}},
            "f": {"type": "object", "additionalProperties": true},
        },
        "x-kubernetes-validations": [{"rule": "true", "message": "never"}],
    });
    assert_eq!(serde_json::to_value(schema(json.clone())).unwrap(), json);
    assert!(matches!(
        Schema::from_value(&json!({"type": 5})),
        Err(SchemaError::Malformed(_))
    ));
}

#[test]
fn nodes_are_found_by_field_and_lists_say_how_they_merge() {
    let root = schema(json!({
        "type": "object",
        "properties": {
            "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
            "map": {"type": "array", "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name", "port"],
                    "items": {"type": "object"}},
            "list": {"type": "array", "items": {"type": "integer"}},
            "ref": {"type": "object", "x-kubernetes-map-type": "atomic"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    }));
    let child = |name| root.child(name).unwrap();
    assert_eq!(child("set").list_kind(), ListKind::Set);
    assert_eq!(
        child("map").list_kind(),
        ListKind::Map(&["name".to_string(), "port".to_string()])
    );
    assert_eq!(child("list").list_kind(), ListKind::Atomic);
    assert_eq!(
        child("list").element().unwrap().ty.as_deref(),
        Some("integer")
    );
    assert!(child("ref").is_atomic_map());
    assert!(!child("labels").is_atomic_map());
    assert_eq!(
        child("labels").child("any").unwrap().ty.as_deref(),
        Some("string")
    );
    assert!(root.child("nothing").is_none());
}

#[test]
fn a_schema_that_does_not_compile_is_refused_with_its_place() {
    let at_name = |node: Value| {
        schema(json!({"type": "object", "properties": {
            "spec": {"type": "object", "properties": {"name": node}}}}))
    };
    let error = |node: Value| Validator::new(at_name(node)).unwrap_err().to_string();

    assert_eq!(
        error(json!({"type": "string", "pattern": "["})),
        r#"spec.name: pattern "[" is not a regular expression"#
    );
    let text = error(json!({"type": "string", "x-kubernetes-validations": [{"rule": "self ==="}]}));
    assert!(
        text.starts_with(r#"spec.name: rule "self ===" does not compile: "#),
        "{text}"
    );
    let rules = |rules: Value| json!({"type": "string", "x-kubernetes-validations": rules});
    assert_eq!(
        error(rules(json!([{"rule": "other > 1"}]))),
        r#"spec.name: rule "other > 1" does not compile: undeclared reference to 'other'"#
    );
    assert_eq!(
        error(rules(json!([{"rule": "self.frobnicate()"}]))),
        r#"spec.name: rule "self.frobnicate()" does not compile: undeclared reference to 'frobnicate'"#
    );
    assert_eq!(
        error(rules(
            json!([{"rule": "true", "messageExpression": "nobody"}])
        )),
        r#"spec.name: rule "nobody" does not compile: undeclared reference to 'nobody'"#
    );
    assert_eq!(
        error(rules(json!([{"rule": "true", "fieldPath": ".missing"}]))),
        r#"spec.name: fieldPath ".missing" of rule "true" names no field of the schema"#
    );
    assert_eq!(
        error(json!({"type": "string", "anyOf": [rules(json!([{"rule": "true"}]))]})),
        r#"spec.name: rule "true" does not compile: rules cannot stand below anyOf, oneOf or not"#
    );
}

#[test]
fn one_off_validation_of_a_broken_schema_refuses_everything() {
    let broken = schema(json!({"type": "object", "x-kubernetes-validations": [{"rule": "("}]}));
    let faults = validate(&broken, &json!({}), None);
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].reason(), "InternalError");

    let good = schema(json!({"type": "object", "required": ["a"]}));
    let faults = validate(&good, &json!({}), None);
    assert_eq!(faults[0].to_string(), "a: Required value");
    assert_eq!(faults[0].message(), "Required value");
}

#[test]
fn a_list_that_was_ambiguous_before_may_stay_so() {
    let set = schema(json!({"type": "object", "properties": {
        "s": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}}}));
    let validator = Validator::new(set).unwrap();
    let twice = json!({"s": ["a", "a"]});
    assert_eq!(
        validator.validate(&twice, None)[0].to_string(),
        r#"s[1]: Duplicate value: "a""#
    );
    assert_eq!(validator.validate(&twice, Some(&twice)), vec![]);
    assert_eq!(
        validator.validate(&twice, Some(&json!({"s": ["a"]}))).len(),
        1
    );
}

#[test]
fn embedded_objects_say_what_they_are() {
    let outer = schema(json!({"type": "object", "properties": {
        "t": {"type": "object", "x-kubernetes-embedded-resource": true,
              "x-kubernetes-preserve-unknown-fields": true}}}));
    let validator = Validator::new(outer).unwrap();
    let texts = |object: Value| -> Vec<String> {
        validator
            .validate(&object, None)
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(
        texts(json!({"t": {"apiVersion": "v1", "kind": "Pod"}})),
        Vec::<String>::new()
    );
    assert_eq!(
        texts(json!({"t": {}})),
        ["t.apiVersion: Required value", "t.kind: Required value"]
    );
    assert_eq!(
        texts(json!({"t": {"apiVersion": "a/b/c", "kind": ""}})),
        [
            r#"t.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c"#,
            r#"t.kind: Invalid value: "": must not be empty"#,
        ]
    );
}

#[test]
fn values_are_written_as_go_writes_them() {
    use super::text::{go_float, go_quote};
    assert_eq!(go_quote("a\"\\\n\u{1}é\u{a0}"), r#""a\"\\\n\x01é\u00a0""#);
    for (float, text) in [
        (1_000_000.0, "1e+06"),
        (123_456_789.5, "1.234567895e+08"),
        (0.000_01, "1e-05"),
        (0.0001, "0.0001"),
        (100_000.0, "100000"),
        (1.0, "1"),
        (-2.5, "-2.5"),
        (0.0, "0"),
    ] {
        assert_eq!(go_float(float), text);
    }
    assert_eq!(
        json_text(&json!({"b": "<&>\"\n\u{1}", "a": [1, null, 2.0, 1e20, 0.0, -1.5, true]})),
        r#"{"a":[1,null,2,100000000000000000000,0,-1.5,true],"b":"\u003c\u0026\u003e\"\n\u0001"}"#
    );
}
