//! JSON schemas for editors and offline checkers, made from the CRDs.
//!
//! They know types, ranges and names but not CEL, so they find typing errors; the server decides.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Map, Value, json};

use super::{CrdError, canonical, schemas};

/// The schema of each version of a CRD: file name (`<group>_<plural>_<version>.json`) and content.
pub fn editor_schema(crd: &CustomResourceDefinition) -> Result<Vec<(String, Value)>, CrdError> {
    schemas(crd)
        .map(|(version, schema)| {
            let names = &crd.spec.names;
            let group = &crd.spec.group;
            let mut schema = serde_json::to_value(schema).map_err(|source| CrdError::Json {
                name: crd.metadata.name.clone().unwrap_or_default(),
                source,
            })?;
            schema["properties"]["apiVersion"] = json!({
                "description": "API version of the object.",
                "type": "string",
                "enum": [format!("{group}/{version}")],
            });
            schema["properties"]["kind"] = json!({
                "description": "Kind of the object.",
                "type": "string",
                "enum": [names.kind],
            });
            strict(&mut schema);
            schema["properties"]["metadata"] = json!({
                "description": "Name, namespace, labels and annotations of the object.",
                "type": "object",
            });
            schema["required"] = required(&schema);
            schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
            let file_name = format!("{group}_{}_{version}.json", names.plural);
            Ok((file_name, canonical(schema)))
        })
        .collect()
}

/// What an author must write: what every object has, and what the kind requires and does not make up.
fn required(schema: &Value) -> Value {
    let own = schema["required"].as_array().into_iter().flatten();
    let given = own.filter_map(Value::as_str).filter(|name| {
        let property = &schema["properties"][*name];
        property.get("default").is_none()
    });
    let every = ["apiVersion", "kind", "metadata"];
    json!(every.into_iter().chain(given).collect::<Vec<_>>())
}

/// Drops Kubernetes' own keywords and closes every object, so that an editor marks a misspelt field.
fn strict(schema: &mut Value) {
    let Value::Object(node) = schema else { return };
    let open = node.contains_key("x-kubernetes-preserve-unknown-fields");
    if node.contains_key("x-kubernetes-int-or-string") {
        node.insert("type".to_owned(), json!(["integer", "string"]));
    }
    node.retain(|keyword, _| !keyword.starts_with("x-kubernetes-"));
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        properties.values_mut().for_each(strict);
        if !open {
            close(node);
        }
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(child) = node.get_mut(keyword) {
            strict(child);
        }
    }
}

fn close(node: &mut Map<String, Value>) {
    node.insert("additionalProperties".to_owned(), Value::Bool(false));
}
