//! Merge patch, RFC 7386.

use serde_json::{Map, Value};

/// The target with the patch laid over it: null removes, objects merge, everything else replaces.
pub fn merge_patch(target: &Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch.clone();
    };
    let mut out = match target {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    for (name, change) in patch {
        if change.is_null() {
            out.remove(name);
        } else {
            let before = out.get(name).unwrap_or(&Value::Null);
            let after = merge_patch(before, change);
            out.insert(name.clone(), after);
        }
    }
    Value::Object(out)
}
