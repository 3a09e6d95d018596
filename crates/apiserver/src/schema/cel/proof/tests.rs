//! A proof says nothing that the interpreter does not say, at the same cost; and the rules that
//! matter have one.

use kube_cel::cel;
use serde_json::{Value, json};

use super::{Names, Own, Proof, Subject};
use crate::schema::Schema;
use crate::schema::cel::convert::to_cel;
use crate::schema::cel::library::LIBRARY;
use crate::schema::cel::{Compiled, parse};

fn compiled(rule: &str) -> (Compiled, Names) {
    let mut compiled = parse(rule, "").unwrap();
    let mut names = Names::default();
    compiled.proof = Proof::of(&compiled.expression, compiled.size.depth, &mut names);
    (compiled, names)
}

/// Whether a rule is proven. What is proven is held against the interpreter.
fn is_proven((rule, names): &(Compiled, Names), text: &str, subject: Subject<'_>) -> bool {
    let own = Own::of(names, subject);
    let Some(spent) = rule.proven(subject, &own) else {
        return false;
    };
    let mut scope = LIBRARY.new_inner_scope();
    let convert = |value| to_cel(value, subject.schema, subject.whole_object);
    scope.add_variable_from_value("self", convert(subject.value));
    if let Some(old) = subject.old {
        scope.add_variable_from_value("oldSelf", convert(old));
    }
    let found = rule.resolve(&scope);
    let expected = (Ok(cel::Value::Bool(true)), spent);
    assert_eq!(found, expected, "{text} on {}", subject.value);
    true
}

fn schema() -> Schema {
    let document = json!({"type": "object", "properties": {
        "name": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "at": {"type": "string", "format": "date-time"},
        "size": {"x-kubernetes-int-or-string": true},
        "on": {"type": "boolean", "nullable": true},
        "namespace": {"type": "string"},
        "a-b": {"type": "string"},
        "list": {"type": "array", "items": {"type": "integer"}},
        "ratios": {"type": "array", "items": {"type": "number"}},
        "parts": {"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string"}, "on": {"type": "boolean"},
        }}},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "within": {"type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true},
    }});
    Schema::from_value(&document).unwrap()
}

fn objects() -> Vec<Value> {
    vec![
        json!({}),
        json!({"name": "web-1", "count": 2, "ratio": 2, "size": "1Gi", "on": true, "namespace": "n",
            "a-b": "c", "list": [3, 1, 2], "ratios": [1, 2], "at": "2024-01-01T00:00:00Z",
            "parts": [{"name": "a", "on": true}, {"name": "b"}],
            "tags": {"a-b": "1", "namespace": "2", "name": "x"},
            "free": {"a-b": [1], "c": {"d": 1.5}, "while": 1, "name": "f"},
            "within": {"apiVersion": "v1", "kind": "Pod", "spec": {},
                "metadata": {"name": "m", "labels": {"a": "b"}}}}),
        json!({"name": "", "count": -1, "ratio": 1.5, "size": 5, "on": null, "list": [], "parts": [],
            "tags": {}, "free": {}, "at": "never",
            "within": {"apiVersion": "v1", "kind": "Pod", "metadata": {}}}),
        json!({"name": "größer", "count": 9_223_372_036_854_775_807_i64, "size": 5.0, "on": false,
            "list": [1, 1], "parts": [{"name": "a", "on": true}, {"name": "a", "on": true}],
            "tags": {"x": "1"}, "unknown": 1, "free": {"on": null}}),
    ]
}

const ATOMS: &[&str] = &[
    "has(self.name)",
    "has(self.on)",
    "has(self.namespace)",
    "has(self.__namespace__)",
    "has(self.a__dash__b)",
    "has(self.unknown)",
    "has(self.free.c.d)",
    "has(self.within.metadata.labels)",
    "self.within.metadata.name == 'm'",
    "self.within.kind == 'Pod' && size(self.within.metadata) == 1",
    "self.on",
    "self.name == 'web-1'",
    "self.name != self.free.name",
    "self.name.size() <= 5",
    "self.name.matches('^[a-z]+-[0-9]$')",
    "self.name.startsWith('w') || self.name.endsWith('r') || self.name.contains('')",
    "self.count + 1 > 2",
    "self.count < self.ratio",
    "self.at == self.at",
    "self.size == 5 || type(self.size) == string",
    "self.list == [3, 1, 2]",
    "self.list.all(x, x > 0)",
    "self.list.exists(x, x == 3) && self.list[0] == 3",
    "self.list.exists_one(x, x == 1)",
    "self.list.filter(x, x > 1).size() <= 1",
    "self.ratios.all(x, x >= 1.0)",
    "1 in self.list",
    "self.name in ['web-1', 'a']",
    "self.parts.filter(p, has(p.on) && p.on).size() <= 1",
    "self.parts.all(a, self.parts.exists_one(b, a == b))",
    "self.parts.all(self, has(self.name))",
    "self.tags.all(k, k.size() > 1) && 'name' in self.tags",
    "self.tags['a-b'] == '1' || self.tags['name'] == 'x'",
    "size(self.tags) < 3",
    "size(self.free) == 4 || self.free == self.free",
    "[has(self.name), has(self.on), has(self.free)].filter(given, given).size() <= 1",
    "oldSelf.parts == self.parts && oldSelf.tags == self.tags",
    "!has(oldSelf.name) || oldSelf.name == self.name",
];

#[test]
fn what_is_proven_is_so_at_the_same_cost() {
    let schema = schema();
    let objects = objects();
    let mut proven = 0;
    let mut check = |text: &str| {
        let rule = compiled(text);
        for (at, value) in objects.iter().enumerate() {
            for old in [None, Some(value), objects.get((at + 1) % objects.len())] {
                for whole_object in [false, true] {
                    let subject = Subject {
                        schema: &schema,
                        value,
                        old,
                        whole_object,
                    };
                    proven += usize::from(is_proven(&rule, text, subject));
                }
            }
        }
    };
    for (at, atom) in ATOMS.iter().enumerate() {
        check(atom);
        check(&format!("!({atom})"));
        for other in [
            ATOMS[(at + 1) % ATOMS.len()],
            ATOMS[(at * 7 + 3) % ATOMS.len()],
        ] {
            check(&format!("({atom}) && ({other})"));
            check(&format!("({other}) || !({atom})"));
            check(&format!("({atom}) ? ({other}) : !({other})"));
        }
    }
    assert!(proven > 1000, "{proven}");
}

#[test]
fn what_costs_too_much_is_not_proven() {
    let schema = schema();
    let list: Vec<u32> = (0..400).collect();
    let value = json!({"list": list, "name": "x".repeat(200_000)});
    let subject = Subject {
        schema: &schema,
        value: &value,
        old: None,
        whole_object: false,
    };
    for (text, expected) in [
        ("self.list.all(a, a >= 0)", true),
        ("self.list.all(a, self.name.contains('y') == false)", false),
    ] {
        assert_eq!(
            is_proven(&compiled(text), text, subject),
            expected,
            "{text}"
        );
    }
}

/// The rules of a kind that is written often, on an object that obeys them.
#[test]
fn a_machine_is_judged_without_the_interpreter() {
    let crd = include_str!("../../../../../../crds/vitistack.io_machines.yaml");
    let crd: Value = serde_saphyr::from_str(crd).unwrap();
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let schema = Schema::from_value(schema).unwrap();
    let value = json!({
        "metadata": {"name": "web-1"},
        "spec": {
            "name": "web-1", "instanceType": "small", "memory": 8_589_934_592_i64,
            "cpu": {"cores": 4},
            "os": {"family": "linux", "distribution": "debian", "version": "12"},
            "disks": [{"name": "root", "sizeGB": 20, "boot": true}, {"name": "data", "sizeGB": 1}],
            "providerConfig": {"name": "qemu", "region": "local"},
        },
        "status": {"machineID": "1"},
    });
    let mut rules = 0;
    for (name, schema) in [
        ("", &schema),
        ("/spec", &schema.properties["spec"]),
        (
            "/spec/disks",
            &schema.properties["spec"].properties["disks"],
        ),
    ] {
        let value = value.pointer(name).unwrap();
        for rule in &schema.validations {
            let subject = Subject {
                schema,
                value,
                old: Some(value),
                whole_object: name.is_empty(),
            };
            let text = &rule.rule;
            assert!(is_proven(&compiled(text), text, subject), "{text}");
            rules += 1;
        }
    }
    assert!(rules > 25, "{rules}");
}
