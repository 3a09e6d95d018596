//! The same as Swagger 2.0, without what that cannot say.

use serde_json::{Map, Value, json};

use super::{OpenApiKind, definitions, info, paths};
use crate::schema::Schema;

/// One v2 document of all kinds.
///
/// Alternatives, negations and nulls have no words here, so they are left out; a node that may
/// be null or that keeps unknown fields loses its type or fields with them, because clients
/// would refuse what the server accepts.
pub fn v2_document(kinds: &[OpenApiKind<'_>]) -> Value {
    let mut all_definitions = definitions::of_kinds(kinds);
    all_definitions.values_mut().for_each(simplify);
    for kind in kinds.iter().filter(|kind| keeps_unknown(kind.schema)) {
        // Clients would refuse every field that is not listed, so none is.
        let any = json!({
            "type": "object",
            "x-kubernetes-group-version-kind": [kind.gvk(kind.kind)],
        });
        all_definitions.insert(kind.definition_name(), any);
    }

    let mut all_paths = Map::new();
    for kind in kinds {
        for (path, mut item) in paths::of_kind(kind) {
            simplify_path(&mut item);
            all_paths.insert(path, item);
        }
    }
    json!({
        "swagger": "2.0",
        "info": info(),
        "paths": all_paths,
        "definitions": all_definitions,
    })
}

fn keeps_unknown(schema: &Schema) -> bool {
    schema.preserve_unknown_fields
}

/// Turns a v3 schema into what v2 can say of it.
fn simplify(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    // A reference with a description is wrapped in v3 and stands beside it here.
    if let Some(Value::Array(all_of)) = map.remove("allOf")
        && let [only] = all_of.as_slice()
        && let Some(target) = only.get("$ref")
    {
        map.insert("$ref".into(), target.clone());
        map.remove("default");
    }
    if let Some(Value::String(target)) = map.get_mut("$ref") {
        *target = target.replace("#/components/schemas/", "#/definitions/");
    }
    for key in [
        "anyOf",
        "oneOf",
        "not",
        "x-kubernetes-validations",
        "example",
    ] {
        map.remove(key);
    }
    if map.remove("nullable") == Some(Value::Bool(true)) {
        for key in [
            "type",
            "items",
            "properties",
            "additionalProperties",
            "required",
            "format",
        ] {
            map.remove(key);
        }
    }
    if map.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true)) {
        for key in ["items", "properties", "additionalProperties", "required"] {
            map.remove(key);
        }
        if map
            .get("type")
            .is_some_and(|t| t == "object" || t == "array")
        {
            map.remove("type");
        }
    }
    if map.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        map.remove("type");
    }
    drop_nullable_from_required(map);
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(simplify);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = map.get_mut(key) {
            simplify(child);
        }
    }
}

/// A required null would be seen as absent by v2 clients.
fn drop_nullable_from_required(schema: &mut Map<String, Value>) {
    let is_nullable = |name: &Value| {
        name.as_str()
            .and_then(|name| schema.get("properties")?.get(name)?.get("nullable"))
            == Some(&Value::Bool(true))
    };
    let kept: Option<Vec<Value>> = match schema.get("required") {
        Some(Value::Array(names)) => Some(
            names
                .iter()
                .filter(|name| !is_nullable(name))
                .cloned()
                .collect(),
        ),
        _ => None,
    };
    match kept {
        Some(names) if names.is_empty() => {
            schema.remove("required");
        }
        Some(names) => {
            schema.insert("required".into(), Value::Array(names));
        }
        None => {}
    }
}

fn simplify_path(item: &mut Value) {
    let Some(item) = item.as_object_mut() else {
        return;
    };
    for (key, part) in item.iter_mut() {
        if key == "parameters" {
            simplify_parameters(part);
        } else {
            simplify_operation(part);
        }
    }
}

/// In v2 a parameter is its own schema.
fn simplify_parameters(parameters: &mut Value) {
    for parameter in parameters.as_array_mut().into_iter().flatten() {
        if let Some(map) = parameter.as_object_mut()
            && let Some(Value::Object(schema)) = map.remove("schema")
        {
            map.extend(schema);
        }
    }
}

/// In v2 the body is a parameter, and media types are named once.
fn simplify_operation(operation: &mut Value) {
    let Some(map) = operation.as_object_mut() else {
        return;
    };
    let mut parameters = map.remove("parameters").unwrap_or_else(|| json!([]));
    simplify_parameters(&mut parameters);
    let body = map.remove("requestBody");
    let consumes = body.as_ref().map(media_types);
    if let (Some(body), Some(list)) = (body, parameters.as_array_mut()) {
        list.push(json!({
            "name": "body",
            "in": "body",
            "required": body.get("required").cloned().unwrap_or(Value::Bool(false)),
            "schema": schema_of(&body),
        }));
    }
    map.insert("parameters".into(), parameters);
    map.insert(
        "consumes".into(),
        consumes.unwrap_or_else(|| json!(["application/json", "application/yaml"])),
    );
    map.insert(
        "produces".into(),
        json!(["application/json", "application/yaml"]),
    );
    map.insert("schemes".into(), json!(["https"]));
    if let Some(Value::Object(responses)) = map.get_mut("responses") {
        for response in responses.values_mut() {
            let schema = response.get("content").map(|_| schema_of(response));
            if let (Some(response), Some(schema)) = (response.as_object_mut(), schema) {
                response.remove("content");
                response.insert("schema".into(), schema);
            }
        }
    }
}

fn media_types(body: &Value) -> Value {
    let names = body.get("content").and_then(Value::as_object);
    names
        .map(|content| content.keys().cloned().collect::<Vec<_>>())
        .unwrap_or_default()
        .into()
}

fn schema_of(body: &Value) -> Value {
    let mut schema = body
        .get("content")
        .and_then(Value::as_object)
        .and_then(|content| content.values().next())
        .and_then(|media| media.get("schema"))
        .cloned()
        .unwrap_or_else(|| json!({}));
    simplify(&mut schema);
    schema
}
