//! Forgiveness: what was wrong before an update and is not touched by it does not stand in its way.
//!
//! A schema may become stricter after objects were stored. Their owners can still change the rest
//! of them; only what they write must be right.

use serde_json::Value;

use crate::schema::cel::old_item;
use crate::schema::text::child_path;
use crate::schema::{FieldError, Schema};

/// Drops the faults of every value that is as it was in the old object.
pub(super) fn forgive(schema: &Schema, new: &Value, old: &Value, errors: &mut Vec<FieldError>) {
    let mut unchanged = Vec::new();
    collect(schema, new, old, "", &mut unchanged);
    errors.retain(|error| {
        !unchanged
            .iter()
            .any(|path| is_at_or_below(&error.path, path))
    });
}

/// Lists the values that are equal on both sides, without those below them. Items of a list have
/// a counterpart only where keys tell which one it is.
fn collect(schema: &Schema, new: &Value, old: &Value, path: &str, unchanged: &mut Vec<String>) {
    match (new, old) {
        // The whole object is never the same: its version is not that of the old one.
        (new, old) if new == old && !path.is_empty() => unchanged.push(path.to_owned()),
        (Value::Object(new), Value::Object(old)) => {
            for (name, value) in new {
                let hidden = path.is_empty() && matches!(name.as_str(), "apiVersion" | "kind");
                if let Some((child, before)) = schema.child(name).zip(old.get(name))
                    && !hidden
                {
                    collect(child, value, before, &child_path(path, name), unchanged);
                }
            }
        }
        (Value::Array(items), old) => {
            for (index, item) in items.iter().enumerate() {
                if let Some((element, before)) = schema.element().zip(old_item(schema, old, item)) {
                    collect(
                        element,
                        item,
                        before,
                        &format!("{path}[{index}]"),
                        unchanged,
                    );
                }
            }
        }
        _ => {}
    }
}

fn is_at_or_below(path: &str, place: &str) -> bool {
    path.strip_prefix(place)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
