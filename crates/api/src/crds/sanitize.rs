//! Rewrites what derives cannot get right into what a Kubernetes API server accepts.
//!
//! The server refuses or ignores formats that it does not know, and an optional field of ours is
//! absent rather than null, so `nullable` has no place in any schema. Doing it twice changes nothing.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};
use serde_json::Value;

/// Integer formats that an API server does not know, with the bounds that say the same.
const FOREIGN_INTEGERS: &[(&str, f64, Option<f64>)] = &[
    ("uint8", 0.0, Some(255.0)),
    ("uint16", 0.0, Some(65535.0)),
    ("uint32", 0.0, None),
    ("uint64", 0.0, None),
    ("uint", 0.0, None),
    ("int8", -128.0, Some(127.0)),
    ("int16", -32768.0, Some(32767.0)),
];

/// Rewrites the schemas of a CRD in place.
pub fn sanitize(crd: &mut CustomResourceDefinition) {
    for version in &mut crd.spec.versions {
        if let Some(schema) = version
            .schema
            .as_mut()
            .and_then(|schema| schema.open_api_v3_schema.as_mut())
        {
            sanitize_schema(schema);
        }
    }
}

fn sanitize_schema(schema: &mut JSONSchemaProps) {
    schema.schema = None;
    schema.title = None;
    schema.nullable = None;
    if schema.default == Some(JSON(Value::Null)) {
        schema.default = None;
    }
    if let Some(values) = &mut schema.enum_ {
        values.retain(|value| value.0 != Value::Null);
    }
    replace_foreign_integer(schema);
    for child in children(schema) {
        sanitize_schema(child);
    }
}

fn replace_foreign_integer(schema: &mut JSONSchemaProps) {
    let Some(format) = &schema.format else { return };
    let Some((_, minimum, maximum)) = FOREIGN_INTEGERS.iter().find(|(name, ..)| name == format)
    else {
        return;
    };
    schema.format = None;
    schema.minimum = Some(schema.minimum.map_or(*minimum, |given| given.max(*minimum)));
    schema.maximum = match (schema.maximum, maximum) {
        (Some(given), Some(maximum)) => Some(given.min(*maximum)),
        (given, maximum) => given.or(*maximum),
    };
}

/// Every schema directly inside a schema.
fn children(schema: &mut JSONSchemaProps) -> Vec<&mut JSONSchemaProps> {
    let mut children = Vec::new();
    children.extend(
        schema
            .properties
            .iter_mut()
            .flat_map(|map| map.values_mut()),
    );
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => children.push(&mut **items),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => children.extend(items),
        None => {}
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        children.push(values);
    }
    let alternatives = [&mut schema.all_of, &mut schema.any_of, &mut schema.one_of];
    children.extend(alternatives.into_iter().flatten().flatten());
    children.extend(schema.not.as_deref_mut());
    children
}
