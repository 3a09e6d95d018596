//! The short way to validity admits nothing in which the long one finds a fault, and admits what
//! is written every day.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::laws::{any_json, any_schema};
use super::timing;
use crate::schema::*;

fn admits(schema: &Value, object: &Value) -> bool {
    let validator = Validator::new(Schema::from_value(schema).unwrap()).unwrap();
    let (admitted, faults) = validator.both_ways(object);
    assert!(!admitted || faults.is_empty(), "{object}: {faults:?}");
    admitted
}

#[test]
fn each_demand_is_made() {
    let map = json!({"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object",
        "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}}});
    let set =
        json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    let bounded = json!({"type": "integer", "minimum": 1.0, "maximum": 9});
    for (schema, right, wrong) in [
        (json!({"type": "string"}), json!("a"), json!(1)),
        (json!({"type": "boolean"}), json!(true), json!("true")),
        (json!({"type": "integer"}), json!(3), json!(3.5)),
        (json!({"type": "number"}), json!(3.5), json!("3.5")),
        (json!({"type": "array"}), json!([1]), json!({})),
        (json!({"type": "object"}), json!({"a": 1}), json!([])),
        (
            json!({"type": "string", "nullable": false}),
            json!("a"),
            json!(null),
        ),
        (
            json!({"type": "string", "minLength": 2}),
            json!("äb"),
            json!("ä"),
        ),
        (
            json!({"type": "string", "maxLength": 2}),
            json!("äb"),
            json!("abc"),
        ),
        (
            json!({"type": "string", "pattern": "^a"}),
            json!("ab"),
            json!("ba"),
        ),
        (
            json!({"type": "string", "format": "ipv4"}),
            json!("10.0.0.1"),
            json!("ten"),
        ),
        (
            json!({"type": "string", "enum": ["a", "b"]}),
            json!("b"),
            json!("c"),
        ),
        (
            json!({"type": "integer", "enum": [1, 2]}),
            json!(2),
            json!(3),
        ),
        (bounded.clone(), json!(1), json!(0)),
        (bounded, json!(9), json!(10)),
        (
            json!({"type": "integer", "format": "int32"}),
            json!(1),
            json!(1_i64 << 31),
        ),
        (
            json!({"x-kubernetes-int-or-string": true}),
            json!("1"),
            json!(true),
        ),
        (
            json!({"type": "array", "minItems": 1}),
            json!([1]),
            json!([]),
        ),
        (
            json!({"type": "array", "maxItems": 1}),
            json!([1]),
            json!([1, 2]),
        ),
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!(["a"]),
            json!([1]),
        ),
        (set.clone(), json!(["a", "b"]), json!(["a", "b", "a"])),
        (
            map.clone(),
            json!([{"name": "a"}, {"name": "b"}]),
            json!([{"name": "a"}, {"name": "a"}]),
        ),
        (map, json!([{"name": "a"}, {}]), json!([{}, {"size": 1}])),
        (
            json!({"type": "object", "minProperties": 1}),
            json!({"a": 1}),
            json!({}),
        ),
        (
            json!({"type": "object", "maxProperties": 1}),
            json!({"a": 1}),
            json!({"a": 1, "b": 1}),
        ),
        (
            json!({"type": "object", "required": ["a"]}),
            json!({"a": 1}),
            json!({"b": 1}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}, "bb": {"type": "object"}}}),
            json!({"a": "x", "bb": {}}),
            json!({"a": {}, "bb": {}}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"a": "x"}),
            json!({"a": 1}),
        ),
        (
            json!({"type": "object", "additionalProperties": false}),
            json!({}),
            json!({"a": 1}),
        ),
    ] {
        assert!(admits(&schema, &right), "{right} is right for {schema}");
        assert!(!admits(&schema, &wrong), "{wrong} is wrong for {schema}");
    }
}

#[test]
fn a_machine_takes_the_short_way() {
    let schema = timing::schema();
    let mut machine = timing::machine();
    default(&schema, &mut machine);
    let (admitted, faults) = Validator::new(schema).unwrap().both_ways(&machine);
    assert!(admitted, "{faults:?}");
}

#[test]
fn a_machine_is_settled_at_once() {
    let schema = timing::schema();
    let (mut short, mut long) = (timing::machine(), timing::machine());
    assert!(Validator::new(schema.clone()).unwrap().settle(&mut short));
    default(&schema, &mut long);
    assert_eq!(short, long);
    assert_ne!(short, timing::machine(), "a machine has defaults");
}

/// Without what the short way does not take at all.
fn plain(schema: Schema) -> Schema {
    let below = |child: Box<Schema>| Box::new(plain(*child));
    let properties = schema.properties.into_iter();
    Schema {
        any_of: Vec::new(),
        one_of: Vec::new(),
        embedded_resource: false,
        preserve_unknown_fields: false,
        multiple_of: None,
        ty: schema.ty.or_else(|| Some("object".into())),
        min_properties: None,
        properties: properties
            .map(|(name, child)| (name, plain(child)))
            .collect(),
        items: schema.items.map(below),
        additional_properties: match schema.additional_properties.map(|other| *other) {
            Some(SchemaOrBool::Schema(child)) => Some(Box::new(SchemaOrBool::Schema(plain(child)))),
            other => other.map(Box::new),
        },
        ..schema
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_admitted_has_no_fault(schema in any_schema(), object in any_json()) {
        for schema in [schema.clone(), plain(schema)] {
            let (admitted, faults) = Validator::new(schema).unwrap().both_ways(&object);
            prop_assert!(!admitted || faults.is_empty(), "{:?}", faults);
        }
    }

    #[test]
    fn what_is_settled_is_pruned_and_has_its_defaults(schema in any_schema(), object in any_json()) {
        for schema in [schema.clone(), plain(schema)] {
            let (mut short, mut long) = (object.clone(), object.clone());
            let settled = Validator::new(schema.clone()).unwrap().settle(&mut short);
            let pruned = prune(&schema, &mut long);
            prop_assert!(!settled || pruned.is_empty(), "{:?}", pruned);
            if settled {
                default(&schema, &mut long);
                prop_assert_eq!(short, long);
            } else {
                prop_assert_eq!(short, object.clone(), "what is not settled stays");
            }
        }
    }
}
