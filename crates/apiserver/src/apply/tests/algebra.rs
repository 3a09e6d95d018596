//! Paths, sets and their JSON form.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::laws::{any_json, any_set};
use crate::apply::{PathElement, Set, display_path};

fn set(fields: Value) -> Set {
    Set::from_fields_v1(&fields).unwrap()
}

#[test]
fn paths_read_as_kubectl_shows_them() {
    let cases = [
        (r#"f:spec"#, ".spec"),
        (r#"k:{"name":"a"}"#, r#"[name="a"]"#),
        (
            r#"k:{"protocol":"TCP","port":80}"#,
            r#"[port=80,protocol="TCP"]"#,
        ),
        (r#"v:"x\ty""#, r#"[="x\ty"]"#),
        ("v:1.5", "[=1.5]"),
        ("v:true", "[=true]"),
        ("i:3", "[3]"),
    ];
    for (text, shown) in cases {
        let element = PathElement::parse(text).unwrap().unwrap();
        assert_eq!(element.to_string(), shown);
    }
    let path: Vec<_> = ["f:spec", "f:disks", r#"k:{"name":"a"}"#, "f:size"]
        .iter()
        .map(|text| PathElement::parse(text).unwrap().unwrap())
        .collect();
    assert_eq!(display_path(&path), r#".spec.disks[name="a"].size"#);
}

#[test]
fn malformed_elements_are_errors_and_unknown_ones_are_skipped() {
    for text in [
        "", "f", "fx", "v:", "v:{", "k:", "k:[]", "k:{}x", "i:x", "v:1 2", "é:x",
    ] {
        let read = PathElement::parse(text);
        let is_unknown_type = text.starts_with('é');
        assert_eq!(read.is_err(), !is_unknown_type, "{text:?}: {read:?}");
    }
    let skipped = set(json!({"x:new": {}, "f:a": {"x:new": {}}}));
    assert_eq!(skipped, set(json!({"f:a": {}})));
    for malformed in [
        json!("x"),
        json!([]),
        json!({"f:a": 1}),
        json!({"f:a": {"v:": {}}}),
    ] {
        assert!(Set::from_fields_v1(&malformed).is_err(), "{malformed}");
    }
}

#[test]
fn text_keeps_the_canonical_order() {
    let numbers = set(json!({"f:n": {"v:10": {}, "v:9": {}, ".": {}}, "f:a": {"f:b": {}}}));
    let text = numbers.to_fields_v1_text();
    assert_eq!(
        text,
        r#"{"f:a":{"f:b":{}},"f:n":{".":{},"v:9":{},"v:10":{}}}"#
    );
    let keyed = set(json!({r#"k:{"name":"<a>"}"#: {".": {}, "f:x": {}}}));
    let text = keyed.to_fields_v1_text();
    assert_eq!(
        text,
        r#"{"k:{\"name\":\"\\u003ca\\u003e\"}":{".":{},"f:x":{}}}"#
    );
}

#[test]
fn difference_keeps_children_and_recursive_difference_does_not() {
    let ours = set(json!({"f:a": {".": {}, "f:b": {"f:c": {}}}, "f:d": {}}));
    let theirs = set(json!({"f:a": {}}));
    assert_eq!(
        ours.difference(&theirs),
        set(json!({"f:a": {"f:b": {"f:c": {}}}, "f:d": {}}))
    );
    let mut left = ours.clone();
    left.subtract_recursively(&theirs);
    assert_eq!(left, set(json!({"f:d": {}})));
    assert_eq!(
        ours.leaves(),
        set(json!({"f:a": {"f:b": {"f:c": {}}}, "f:d": {}}))
    );
    assert_eq!(ours.to_string(), ".a\n.d\n.a.b.c");
}

#[test]
fn numbers_are_one_element_whatever_their_form() {
    let left = set(json!({"v:1": {}}));
    let right = set(json!({"v:1.0": {}}));
    assert_eq!(left, right);
    assert!(left.difference(&right).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn fields_round_trip(set in any_set()) {
        prop_assert_eq!(&Set::from_fields_v1(&set.to_fields_v1()).unwrap(), &set);
        let text: Value = serde_json::from_str(&set.to_fields_v1_text()).unwrap();
        prop_assert_eq!(text, set.to_fields_v1());
    }

    #[test]
    fn reading_any_json_does_not_panic(json in any_json()) {
        if let Ok(set) = Set::from_fields_v1(&json) {
            prop_assert_eq!(&Set::from_fields_v1(&set.to_fields_v1()).unwrap(), &set);
        }
    }

    #[test]
    fn algebra_agrees_with_lists_of_paths(left in any_set(), right in any_set()) {
        for path in left.paths().iter().chain(&right.paths()) {
            let (l, r) = (left.has(path), right.has(path));
            prop_assert_eq!(left.union(&right).has(path), l || r);
            prop_assert_eq!(left.intersection(&right).has(path), l && r);
            prop_assert_eq!(left.difference(&right).has(path), l && !r);
        }
        prop_assert_eq!(left.union(&right), right.union(&left));
        prop_assert!(left.difference(&left).is_empty());
        let below = |path: &[PathElement]| (1..=path.len()).any(|n| right.has(&path[..n]));
        let (mut less, mut least) = (left.clone(), left.clone());
        less.subtract(&right);
        prop_assert_eq!(less, left.difference(&right));
        least.subtract_recursively(&right);
        let expected: Vec<_> = left.paths().into_iter().filter(|path| !below(path)).collect();
        prop_assert_eq!(least.paths(), expected);
        // No subtree is empty, so that sets can be compared.
        prop_assert_eq!(Set::from_fields_v1(&least.to_fields_v1()).unwrap(), least);
    }
}
