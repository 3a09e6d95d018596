//! Every bound of a number, from both sides: made from the schemas and the documented manifests, so
//! that a new bound needs no new case.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// A documented manifest with one number at a bound, or beyond it.
pub(crate) struct Bound {
    /// File of the manifest, and what was changed.
    pub(crate) name: String,
    /// Path of the number.
    pub(crate) path: String,
    /// The manifest.
    pub(crate) manifest: Value,
    /// Whether the number is beyond the bound.
    pub(crate) is_beyond: bool,
}

/// Every bound of a number in the spec of a documented manifest; `schema_of` gives the schema of a
/// manifest's kind.
pub(crate) fn bounds(schema_of: impl Fn(&Value) -> Option<Value>) -> Vec<Bound> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for (file, mut manifest) in super::manifests() {
        let Some(schema) = schema_of(&manifest) else {
            continue;
        };
        manifest.as_object_mut().unwrap().remove("status");
        let mut numbers = Vec::new();
        let spec = &schema["properties"]["spec"];
        walk(spec, &manifest["spec"], "spec", "/spec", &mut numbers);
        for (path, pointer, number, is_beyond) in numbers {
            let kind = format!("{}/{}", manifest["apiVersion"], manifest["kind"]);
            // The same field of another item has the same bounds.
            let field: String = path.chars().filter(|c| !c.is_ascii_digit()).collect();
            if !seen.insert((kind, field, number)) {
                continue;
            }
            let mut manifest = manifest.clone();
            *manifest.pointer_mut(&pointer).unwrap() = json!(number);
            found.push(Bound {
                name: format!("{file}: {path} {number}"),
                path,
                manifest,
                is_beyond,
            });
        }
    }
    found
}

/// The path, the pointer, a number, and whether that is beyond a bound.
type Number = (String, String, i64, bool);

fn walk(schema: &Value, value: &Value, path: &str, pointer: &str, numbers: &mut Vec<Number>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let schema = &schema["properties"][name];
                let pointer = format!("{pointer}/{name}");
                walk(schema, value, &format!("{path}.{name}"), &pointer, numbers);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let pointer = format!("{pointer}/{at}");
                let path = format!("{path}[{at}]");
                walk(&schema["items"], item, &path, &pointer, numbers);
            }
        }
        Value::Number(_) => {
            let bound = |name: &str| schema[name].as_f64().map(|bound| bound as i64);
            let sides = [(bound("minimum"), -1), (bound("maximum"), 1)];
            for (bound, beyond) in sides {
                let Some(bound) = bound else { continue };
                let (path, pointer) = (path.to_owned(), pointer.to_owned());
                numbers.push((path.clone(), pointer.clone(), bound, false));
                numbers.push((path, pointer, bound + beyond, true));
            }
        }
        _ => {}
    }
}
