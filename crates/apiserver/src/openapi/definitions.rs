//! The schemas of a document: those of the kinds, their lists, and what they refer to.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::OpenApiKind;
use crate::schema::Schema;

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1";
/// The schema of the metadata of objects.
const OBJECT_META: &str = "ObjectMeta";

/// Metadata, options and outcomes: the same in every document.
static COMMON: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    // The file is ours and its parsing is tested; an empty map would only lose descriptions.
    serde_json::from_str(include_str!("meta_v1.json")).unwrap_or_default()
});

/// A reference to a schema of the common ones.
pub(super) fn meta_ref(name: &str) -> Value {
    reference(&format!("{META}.{name}"))
}

/// A reference to the schema of a scale.
pub(super) fn scale_ref() -> Value {
    reference("io.k8s.api.autoscaling.v1.Scale")
}

/// A reference to a schema of the document.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Every schema of a document about these kinds.
pub(super) fn of_kinds(kinds: &[OpenApiKind<'_>]) -> Map<String, Value> {
    let needs_scale = kinds.iter().any(|kind| kind.scale);
    let mut all: Map<String, Value> = COMMON
        .iter()
        .filter(|(name, _)| needs_scale || !name.contains(".autoscaling."))
        .map(|(name, schema)| (name.clone(), schema.clone()))
        .collect();
    for kind in kinds {
        all.insert(kind.definition_name(), of_kind(kind));
        all.insert(kind.list_definition_name(), list_of_kind(kind));
    }
    all
}

fn of_kind(kind: &OpenApiKind<'_>) -> Value {
    let mut schema = to_json(kind.schema);
    if let Some(map) = schema.as_object_mut() {
        map.entry("type").or_insert_with(|| json!("object"));
        add_object_fields(map);
        map.insert(
            "x-kubernetes-group-version-kind".into(),
            json!([kind.gvk(kind.kind)]),
        );
    }
    schema
}

fn list_of_kind(kind: &OpenApiKind<'_>) -> Value {
    let list_kind = format!("{}List", kind.kind);
    let mut schema = json!({
        "description": format!("{list_kind} is a list of {}", kind.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": {
                "description": format!("The {} of the list.", kind.plural),
                "type": "array",
                "items": reference(&kind.definition_name()),
            },
            "metadata": {
                "description": "The metadata of the list.",
                "allOf": [meta_ref("ListMeta")],
            },
        },
        "x-kubernetes-group-version-kind": [kind.gvk(&list_kind)],
    });
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        add_type_fields(properties);
    }
    schema
}

/// A schema as JSON, with the fields of embedded objects and the alternatives of int-or-string
/// spelled out.
fn to_json(schema: &Schema) -> Value {
    let mut json = serde_json::to_value(schema).unwrap_or_else(|_| json!({}));
    spell_out(&mut json);
    json
}

fn spell_out(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(spell_out);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = map.get_mut(key) {
            spell_out(child);
        }
    }
    if map.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true)) {
        add_object_fields(map);
        let mut required = match map.remove("required") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };
        for name in ["kind", "apiVersion"] {
            if !required.contains(&json!(name)) {
                required.push(json!(name));
            }
        }
        map.insert("required".into(), Value::Array(required));
    }
    if map.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        map.entry("anyOf")
            .or_insert_with(|| json!([{ "type": "integer" }, { "type": "string" }]));
    }
}

/// The fields that every object has, in place of whatever the schema says of them.
fn add_object_fields(schema: &mut Map<String, Value>) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        add_type_fields(properties);
        properties.insert(
            "metadata".into(),
            json!({
                "description": "Standard object's metadata: what every stored object has.",
                "allOf": [meta_ref(OBJECT_META)],
            }),
        );
    }
}

fn add_type_fields(properties: &mut Map<String, Value>) {
    for (name, description) in [
        (
            "apiVersion",
            "APIVersion defines the version of the schema that this object is written in. \
             Servers convert what they recognize and refuse the rest.",
        ),
        (
            "kind",
            "Kind names what this object is, in CamelCase. It follows from the address that \
             the object is sent to and cannot be changed.",
        ),
    ] {
        properties.insert(
            name.into(),
            json!({ "description": description, "type": "string" }),
        );
    }
}
