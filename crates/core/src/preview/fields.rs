//! Two objects, field by field: what differs, and one difference taken by itself.

use std::fmt;

use serde_json::{Map, Value};

/// Where a field is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(Vec<Segment>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    /// A field of an object.
    Key(String),
    /// The item of a list that has this name.
    Item(String),
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if key.contains(['.', '/']) => write!(f, "[{key}]")?,
                Segment::Key(key) if index > 0 => write!(f, ".{key}")?,
                Segment::Key(key) => write!(f, "{key}")?,
                Segment::Item(name) => write!(f, "[{name}]")?,
            }
        }
        Ok(())
    }
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Where it is.
    pub path: Path,
    /// What it was; nothing when it was not there.
    pub before: Option<Value>,
    /// What it will be; nothing when it goes.
    pub after: Option<Value>,
}

/// Everything that differs between two values. Items of a list that have names are compared by
/// name; any other list is one value.
pub fn fields(before: &Value, after: &Value) -> Vec<Field> {
    let mut found = Vec::new();
    compare(&mut Vec::new(), Some(before), Some(after), &mut found);
    found
}

fn compare(
    path: &mut Vec<Segment>,
    before: Option<&Value>,
    after: Option<&Value>,
    found: &mut Vec<Field>,
) {
    match (before, after) {
        (Some(before), Some(after)) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            for key in union(before.keys(), after.keys()) {
                path.push(Segment::Key(key.clone()));
                compare(path, before.get(&key), after.get(&key), found);
                path.pop();
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after)))
            if named(before) && named(after) =>
        {
            let names = |list: &[Value]| list.iter().filter_map(name).collect::<Vec<_>>();
            for name in union(names(before).iter(), names(after).iter()) {
                path.push(Segment::Item(name.clone()));
                compare(path, item(before, &name), item(after, &name), found);
                path.pop();
            }
        }
        (before, after) => found.push(Field {
            path: Path(path.clone()),
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}

fn union<'a>(
    first: impl Iterator<Item = &'a String>,
    second: impl Iterator<Item = &'a String>,
) -> Vec<String> {
    let mut all: Vec<String> = first.cloned().collect();
    for key in second {
        if !all.contains(key) {
            all.push(key.clone());
        }
    }
    all
}

fn name(item: &Value) -> Option<String> {
    item.get("name")?.as_str().map(str::to_owned)
}

fn item<'a>(list: &'a [Value], wanted: &str) -> Option<&'a Value> {
    list.iter()
        .find(|item| name(item).as_deref() == Some(wanted))
}

/// Whether every item has a name of its own.
fn named(list: &[Value]) -> bool {
    let names: Vec<String> = list.iter().filter_map(name).collect();
    let unique = names
        .iter()
        .enumerate()
        .all(|(index, name)| !names[..index].contains(name));
    names.len() == list.len() && unique
}

/// The object with this one field as it will be, and all others as they were.
pub fn with(object: &Value, field: &Field) -> Value {
    let mut object = object.clone();
    put(&mut object, &field.path.0, field.after.as_ref());
    object
}

fn put(place: &mut Value, path: &[Segment], value: Option<&Value>) {
    match path {
        [] => *place = value.cloned().unwrap_or_default(),
        [Segment::Key(key), rest @ ..] => {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            let Some(map) = place.as_object_mut() else {
                return;
            };
            match (rest, value) {
                ([], None) => drop(map.remove(key)),
                _ => put(map.entry(key.clone()).or_insert(Value::Null), rest, value),
            }
        }
        [Segment::Item(wanted), rest @ ..] => {
            if !place.is_array() {
                *place = Value::Array(Vec::new());
            }
            let Some(list) = place.as_array_mut() else {
                return;
            };
            let at = list
                .iter()
                .position(|item| name(item).as_ref() == Some(wanted));
            match (at, rest, value) {
                (Some(at), [], None) => drop(list.remove(at)),
                (Some(at), _, _) => put(&mut list[at], rest, value),
                (None, [], Some(value)) => list.push(value.clone()),
                (None, _, _) => {}
            }
        }
    }
}

/// The merge patch of an apply that remembers what was applied last: what is declared now is set,
/// what was declared and is no more goes, what others set stays.
pub fn three_way(last: &Value, declared: &Value, live: &Value) -> Value {
    let empty = Map::new();
    let map = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (last, live) = (map(last), map(live));
    let mut patch = Map::new();
    for (key, value) in declared.as_object().unwrap_or(&empty) {
        match live.get(key) {
            Some(now) if now == value => {}
            Some(now) if now.is_object() && value.is_object() => {
                let null = Value::Null;
                let inner = three_way(last.get(key).unwrap_or(&null), value, now);
                if inner.as_object().is_some_and(|inner| !inner.is_empty()) {
                    patch.insert(key.clone(), inner);
                }
            }
            _ => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    for key in last.keys() {
        if declared.get(key).is_none() && live.contains_key(key) {
            patch.insert(key.clone(), Value::Null);
        }
    }
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(before: Value, after: Value) -> Vec<String> {
        let found = fields(&before, &after);
        // Each difference by itself, one after the other, leads from the one to the other.
        let all = found
            .iter()
            .fold(before, |object, field| with(&object, field));
        assert_eq!(fields(&all, &after), []);
        found.iter().map(|field| field.path.to_string()).collect()
    }

    #[test]
    fn differences_are_named_by_path() {
        let before = json!({"cpu": {"cores": 1}, "zone": "a", "keys": ["x"], "tags": {"a.b/c": "1"},
            "disks": [{"name": "root", "sizeGB": 1}, {"name": "old"}]});
        let after = json!({"cpu": {"cores": 2}, "memory": 5, "keys": ["x", "y"], "tags": {"a.b/c": "2"},
            "disks": [{"name": "root", "sizeGB": 2}, {"name": "new"}]});
        assert_eq!(
            paths(before, after),
            [
                "cpu.cores",
                "disks[root].sizeGB",
                "disks[old]",
                "disks[new]",
                "keys",
                "tags[a.b/c]",
                "zone",
                "memory",
            ]
        );
    }

    #[test]
    fn lists_without_names_are_one_value() {
        let twice = json!([{"name": "a"}, {"name": "a"}]);
        assert_eq!(
            paths(json!({"l": twice}), json!({"l": [{"name": "a"}]})),
            ["l"]
        );
        assert_eq!(paths(json!({"l": [1]}), json!({"l": [2]})), ["l"]);
        assert_eq!(paths(json!({"l": null}), json!({"l": {"a": 1}})), ["l"]);
    }

    #[test]
    fn an_apply_takes_back_what_it_declared_before() {
        let last = json!({"spec": {"a": 1, "b": 2, "list": [1]}});
        let live = json!({"spec": {"a": 1, "b": 2, "defaulted": 3, "list": [1]}, "status": {}});
        let declared = json!({"spec": {"a": 5, "list": [1]}});
        assert_eq!(
            three_way(&last, &declared, &live),
            json!({"spec": {"a": 5, "b": null}})
        );
        assert_eq!(three_way(&last, &last, &live), json!({}));
    }
}
