//! Whether the defaults of a schema are themselves valid.

use serde_json::Value;

use crate::schema::{self, FieldErrorKind, Schema, Validator, json_text};
use crate::status::Cause;

/// Everything that is wrong with the defaults at and below a node.
pub(super) fn check(schema: &Schema, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    walk(schema, path, &mut causes);
    causes
}

fn walk(node: &Schema, path: &str, causes: &mut Vec<Cause>) {
    if let Some(default) = node.default.as_ref().filter(|d| !d.is_null()) {
        let place = format!("{path}.default");
        causes.extend(judge(node, default, &place));
    }
    for (name, child) in &node.properties {
        walk(child, &format!("{path}.properties[{name}]"), causes);
    }
    if let Some(child) = node.map_value() {
        walk(child, &format!("{path}.additionalProperties"), causes);
    }
    if let Some(child) = node.element() {
        walk(child, &format!("{path}.items"), causes);
    }
}

fn judge(node: &Schema, default: &Value, place: &str) -> Vec<Cause> {
    let mut pruned = default.clone();
    // A default stands in place of a field, so it is looked at as the field of an object.
    let holder = Schema {
        ty: Some("object".into()),
        properties: [("default".to_owned(), node.clone())].into(),
        ..Schema::default()
    };
    let mut held = serde_json::json!({"default": pruned.take()});
    if !schema::prune(&holder, &mut held).is_empty() {
        let why = "must not have unknown fields";
        return vec![Cause::invalid(place, &json_text(default), why)];
    }
    schema::default(&holder, &mut held);
    let mut alone = holder;
    if let Some(field) = alone.properties.get_mut("default") {
        field.default = None;
    }
    let Ok(validator) = Validator::new(alone) else {
        // The rule that does not compile is named elsewhere.
        return Vec::new();
    };
    let errors = validator.validate(&held, None);
    // As upstream, a set may have its items twice here.
    let counted = errors
        .iter()
        .filter(|error| error.kind != FieldErrorKind::Duplicate);
    let located = counted.map(|error| {
        let below = error.path.strip_prefix("default").unwrap_or(&error.path);
        let message = error.message().replace("default in body", " in body");
        Cause::new(error.reason(), &format!("{place}{below}"), message)
    });
    located.collect()
}
