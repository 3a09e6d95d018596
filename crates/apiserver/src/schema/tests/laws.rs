//! What holds for every schema and every object.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::schema::*;

/// Few field names, so that schemas and objects meet.
fn field() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "apiVersion", "kind", "metadata"])
        .prop_map(str::to_string)
}

pub(super) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|float| json!(float)),
        any::<u64>().prop_map(Value::from),
        "[a-z0-9:./\\-]{0,12}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(field(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

pub(super) fn any_schema() -> impl Strategy<Value = Schema> {
    let leaf = (
        prop::option::of(prop::sample::select(vec![
            "string", "integer", "number", "boolean", "object", "array",
        ])),
        prop::option::of(prop::sample::select(vec![
            "date",
            "date-time",
            "ipv4",
            "cidr",
            "mac",
            "uri",
            "email",
            "duration",
            "uuid",
            "byte",
            "int32",
            "float",
            "hostname",
            "isbn",
            "creditcard",
            "odd",
        ])),
        any::<[bool; 4]>(),
        prop::option::of(any_json()),
        (0u64..4, prop::option::of(any::<i32>())),
    )
        .prop_map(
            |(ty, format, [nullable, preserve, embedded, either], default, (size, bound))| Schema {
                ty: ty.map(str::to_string),
                format: format.map(str::to_string),
                nullable,
                preserve_unknown_fields: preserve,
                embedded_resource: embedded,
                int_or_string: either,
                default: default.filter(|default| !default.is_null()),
                max_length: Some(size),
                max_items: Some(size),
                min_properties: Some(size),
                minimum: bound.map(Into::into),
                multiple_of: bound.map(Into::into),
                pattern: Some("^[a-z]".into()),
                ..Schema::default()
            },
        );
    leaf.prop_recursive(3, 24, 4, |inner| {
        (
            inner.clone(),
            prop::collection::btree_map(field(), inner.clone(), 0..4),
            prop::option::of(inner.clone()),
            prop::option::of(inner.clone()),
            prop::collection::vec(inner, 0..3),
            prop::sample::select(vec!["atomic", "set", "map"]),
            any::<bool>(),
        )
            .prop_map(
                |(node, properties, map, items, branches, list_type, one)| Schema {
                    required: properties.keys().take(1).cloned().collect(),
                    properties,
                    additional_properties: map.map(|map| Box::new(SchemaOrBool::Schema(map))),
                    items: items.map(Box::new),
                    any_of: if one { branches.clone() } else { Vec::new() },
                    one_of: if one { Vec::new() } else { branches },
                    list_type: Some(list_type.into()),
                    list_map_keys: vec!["a".into()],
                    ..node
                },
            )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pruning_twice_is_pruning_once(schema in any_schema(), object in any_json()) {
        let mut once = object;
        prune(&schema, &mut once);
        let mut twice = once.clone();
        prop_assert_eq!(prune(&schema, &mut twice), Vec::<String>::new());
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn defaulting_twice_is_defaulting_once(schema in any_schema(), object in any_json()) {
        let mut once = object;
        default(&schema, &mut once);
        let mut twice = once.clone();
        default(&schema, &mut twice);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn validation_judges_anything(
        schema in any_schema(),
        object in any_json(),
        old in prop::option::of(any_json()),
    ) {
        let schema = Schema {
            validations: vec![Rule {
                rule: "self.a == oldSelf.a || self.size() > 1".into(),
                ..Rule::default()
            }],
            ..schema
        };
        for fault in validate(&schema, &object, old.as_ref()) {
            prop_assert!(!fault.path.is_empty());
            prop_assert!(!fault.message().is_empty());
        }
    }

    #[test]
    fn formats_judge_any_text(text in any::<String>()) {
        for name in ["uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid4", "isbn",
                     "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "date", "datetime",
                     "duration", "k8s-short-name", "k8s-long-name", "bsonobjectid"] {
            let _ = super::super::format::matches(name, &text);
        }
    }
}
