//! What must hold for every object, and the generators of such objects.

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::behaviour::{as_manager, managers_of, schema};
use crate::apply::{ApplyError, Manager, PathElement, Set, apply, apply_by, track_update};

/// Any JSON, with keys that often look like field paths.
pub(in crate::apply) fn any_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        "[fkvix]:[a-c0-9]{0,2}",
        "[a-c]{1,2}",
        Just(".".to_owned()),
        Just("k:{\"name\":\"a\"}".to_owned()),
        Just("metadata".to_owned()),
        Just("spec".to_owned()),
        Just("managedFields".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-9.0..9.0).prop_map(|n: f64| json!(n)),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            btree_map(key.clone(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_element() -> impl Strategy<Value = PathElement> {
    let scalar = || {
        prop_oneof![
            "[a-c<\"]{0,2}".prop_map(Value::from),
            (-3..30_i64).prop_map(Value::from)
        ]
    };
    prop_oneof![
        "[a-c]{1,2}".prop_map(|name: String| PathElement::field(name)),
        btree_map("[a-b]", scalar(), 1..3).prop_map(PathElement::key),
        scalar().prop_map(PathElement::Value),
        (0..4_i64).prop_map(PathElement::Index),
    ]
}

pub(in crate::apply) fn any_set() -> impl Strategy<Value = Set> {
    vec(vec(any_element(), 1..4), 0..8).prop_map(|paths| {
        let mut set = Set::new();
        for path in paths {
            set.insert(&path);
        }
        set
    })
}

/// A spec that fits the test schema.
fn any_spec() -> impl Strategy<Value = Value> {
    let word = || "[a-c]".prop_map(Value::from);
    let number = || (0..3_i64).prop_map(Value::from);
    let tags = || btree_map("[a-d]", word(), 0..3).prop_map(to_object);
    let disk = move || (proptest::option::of(number()), proptest::option::of(tags()));
    // An empty list that merges by item is owned by nobody, so the laws do not speak of it.
    let disks = btree_map("[a-d]", disk(), 1..3).prop_map(|disks| {
        let disk = |(name, (size, tags)): (String, (Option<Value>, Option<Value>))| {
            let mut disk = Map::from_iter([("name".to_owned(), Value::from(name))]);
            disk.extend(size.map(|size| ("size".to_owned(), size)));
            disk.extend(tags.map(|tags| ("tags".to_owned(), tags)));
            Value::Object(disk)
        };
        Value::Array(disks.into_iter().map(disk).collect())
    });
    let field = prop_oneof![
        number().prop_map(|v| ("replicas", v)),
        word().prop_map(|v| ("image", v)),
        tags().prop_map(|v| ("tags", v)),
        tags().prop_map(|v| ("atomicTags", v)),
        vec(word(), 0..3).prop_map(|v| ("args", Value::Array(v))),
        btree_set("[a-d]", 1..3).prop_map(|v| ("zones", json!(v))),
        any_json().prop_map(|v| ("free", json!({ "v": v }))),
        disks.prop_map(|v| ("disks", v)),
    ];
    vec(field, 0..6).prop_map(|fields| {
        Value::Object(
            fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    })
}

/// One write of one manager.
#[derive(Debug, Clone)]
struct Write {
    manager: &'static str,
    status: bool,
    by_apply: bool,
    force: bool,
    object: Value,
}

fn any_write() -> impl Strategy<Value = Write> {
    let part = || proptest::option::weighted(0.6, any_spec());
    let labels = proptest::option::of(btree_map("[a-d]", "[a-c]".prop_map(Value::from), 0..3));
    let manager = proptest::sample::select(vec!["a", "b", "kubectl"]);
    let flags = (any::<bool>(), proptest::bool::weighted(0.8), any::<bool>());
    (manager, flags, part(), part(), labels).prop_map(
        |(manager, (status, by_apply, force), spec, state, labels)| {
            let mut object = json!({
                "apiVersion": "example.io/v1", "kind": "Thing", "metadata": {"name": "t", "uid": "u"},
            });
            for (name, part) in [("spec", spec), ("status", state)] {
                if let Some(part) = part {
                    object[name] = part;
                }
            }
            if let Some(labels) = labels {
                object["metadata"]["labels"] = to_object(labels);
            }
            Write { manager, status, by_apply, force, object }
        },
    )
}

fn to_object(fields: std::collections::BTreeMap<String, Value>) -> Value {
    Value::Object(fields.into_iter().collect())
}

fn object(spec: &Value) -> Value {
    json!({"apiVersion": "example.io/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": spec})
}

fn applied(
    live: Option<&Value>,
    manager: &str,
    spec: &Value,
    force: bool,
    at: u32,
) -> Result<Value, ApplyError> {
    let now = format!("2026-01-01T00:00:{at:02}Z");
    apply(
        &schema(),
        live,
        &object(spec),
        &as_manager(manager, &now),
        force,
        &Set::new(),
    )
}

fn owned(object: &Value, manager: &str) -> Set {
    let entry = managers_of(object)
        .into_iter()
        .find(|entry| entry["manager"] == manager);
    entry
        .map(|entry| Set::from_fields_v1(&entry["fieldsV1"]).unwrap())
        .unwrap_or_default()
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The object without the times and order of its managers, and its lists as sets.
fn unordered(object: &Value) -> Value {
    match object {
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(unordered).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "time");
            Value::Object(
                kept.map(|(name, field)| (name.clone(), unordered(field)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn apply_is_idempotent(first in any_spec(), second in any_spec()) {
        let live = applied(None, "a", &first, false, 1).unwrap();
        let once = applied(Some(&live), "a", &second, false, 2).unwrap();
        let twice = applied(Some(&once), "a", &second, false, 3).unwrap();
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn disjoint_applies_commute(left in any_spec(), right in any_spec()) {
        let mut right = right;
        for name in left.as_object().unwrap().keys() {
            right.as_object_mut().unwrap().remove(name);
        }
        let ab = applied(None, "a", &left, false, 1).unwrap();
        let ab = applied(Some(&ab), "b", &right, false, 2).unwrap();
        let ba = applied(None, "b", &right, false, 1).unwrap();
        let ba = applied(Some(&ba), "a", &left, false, 2).unwrap();
        prop_assert_eq!(unordered(&ab), unordered(&ba));
    }

    #[test]
    fn force_leaves_one_owner_of_what_it_changed(first in any_spec(), second in any_spec()) {
        let live = applied(None, "a", &first, false, 1).unwrap();
        let forced = applied(Some(&live), "b", &second, true, 2).unwrap();
        let contested = match applied(Some(&live), "b", &second, false, 2) {
            Err(ApplyError::Conflicts(conflicts)) => conflicts,
            Ok(free) => {
                prop_assert_eq!(free, forced);
                return Ok(());
            }
            Err(err) => panic!("{err}"),
        };
        let left: Vec<_> = owned(&forced, "a").to_string().lines().map(str::to_owned).collect();
        let taken: Vec<_> = owned(&forced, "b").to_string().lines().map(str::to_owned).collect();
        for conflict in contested {
            prop_assert!(!left.contains(&conflict.path), "{} is still owned", conflict.path);
            prop_assert!(taken.contains(&conflict.path), "{} is not owned", conflict.path);
        }
    }

    #[test]
    fn omission_never_removes_what_another_owns(mine in any_spec(), yours in any_spec(), later in any_spec()) {
        // What no schema calls nullable is left empty, also where somebody states null for it.
        prop_assume!(!has_null(&yours));
        let live = applied(None, "a", &mine, false, 1).unwrap();
        let Ok(both) = applied(Some(&live), "b", &yours, false, 2) else { return Ok(()) };
        let Ok(after) = applied(Some(&both), "a", &later, false, 3) else { return Ok(()) };
        prop_assert_eq!(owned(&both, "b"), owned(&after, "b"));
        // And it is all still there: "b" has nothing to add.
        let again = applied(Some(&after), "b", &yours, false, 4).unwrap();
        prop_assert_eq!(unordered(&again), unordered(&after));
    }

    #[test]
    fn shortcuts_lead_where_the_long_way_leads(writes in vec(any_write(), 1..7)) {
        let mut schema = schema();
        let spec = schema.properties["spec"].clone();
        schema.properties.insert("status".into(), spec);
        let mut live: Option<Value> = None;
        for (at, write) in writes.into_iter().enumerate() {
            let now = format!("2026-01-01T00:00:{at:02}Z");
            let Write { manager, status, by_apply, force, object } = write;
            let manager = Manager {
                subresource: if status { "status" } else { "" },
                ..as_manager(manager, &now)
            };
            let unowned: &[&[&str]] = if status { &[&["spec"], &["metadata"]] } else { &[&["status"]] };
            let ignore = Set::of_fields(unowned.iter().copied());
            let live_now = live.as_ref();
            let short = match by_apply {
                true => apply_by(&schema, live_now, &object, &manager, force, &ignore, true),
                false => track_update(&schema, live_now, object.clone(), &manager, &ignore),
            };
            if by_apply {
                let long = apply_by(&schema, live_now, &object, &manager, force, &ignore, false);
                match (&short, &long) {
                    (Ok(short), Ok(long)) => prop_assert_eq!(short, long),
                    (Err(short), Err(long)) => prop_assert_eq!(short.to_string(), long.to_string()),
                    (short, long) => prop_assert!(false, "{:?} is not {:?}", short, long),
                }
            }
            live = short.ok().or(live);
        }
    }

    #[test]
    fn an_update_that_changes_nothing_changes_nothing(spec in any_spec()) {
        let live = applied(None, "a", &spec, false, 1).unwrap();
        let manager = as_manager("u", "2026-01-01T00:00:09Z");
        let same = track_update(&schema(), Some(&live), live.clone(), &manager, &Set::new()).unwrap();
        prop_assert_eq!(same, live);
    }

    #[test]
    fn nothing_panics_on_any_json(live in any_json(), new in any_json(), fields in any_json(), spec in any_spec()) {
        let manager = as_manager("m", "2026-01-01T00:00:01Z");
        let none = Set::new();
        let _ = apply(&schema(), Some(&live), &new, &manager, true, &none);
        let _ = track_update(&schema(), Some(&live), new.clone(), &manager, &none);
        let mut stored = object(&spec);
        stored["metadata"]["managedFields"] = json!([
            {"manager": "x", "operation": "Apply", "apiVersion": "v", "fieldsType": "FieldsV1", "fieldsV1": fields}
        ]);
        let _ = apply(&schema(), Some(&stored), &object(&json!({"free": new})), &manager, true, &none);
        let _ = track_update(&schema(), Some(&stored), object(&json!({"free": live})), &manager, &none);
    }
}
