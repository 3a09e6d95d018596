//! Finds what an API server would refuse in a CRD, or would accept and then not mean.
//!
//! It covers the structural-schema rules that derives can break; CEL is checked by the tests,
//! which run every rule.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool,
};

/// Formats that an API server knows and that our schemas may use.
const KNOWN_FORMATS: &[&str] = &["int32", "int64", "double", "float", "date-time", "byte"];

/// Everything that is wrong with a CRD, each as one sentence with the path of the field.
pub fn violations(crd: &CustomResourceDefinition) -> Vec<String> {
    let mut found = Vec::new();
    for (_, schema) in super::schemas(crd) {
        check(schema, &crd.spec.names.kind, true, &mut found);
    }
    found
}

fn check(schema: &JSONSchemaProps, path: &str, root: bool, found: &mut Vec<String>) {
    let mut report = |what: String| found.push(format!("{path}: {what}"));
    if let Some(format) = schema
        .format
        .as_deref()
        .filter(|format| !KNOWN_FORMATS.contains(format))
    {
        report(format!("Kubernetes does not know the format {format}"));
    }
    let any = schema.x_kubernetes_int_or_string == Some(true)
        || schema.x_kubernetes_preserve_unknown_fields == Some(true);
    if schema.type_.is_none() && !any {
        report("has no type".to_owned());
    }
    if schema.nullable == Some(true) {
        report("is nullable".to_owned());
    }
    if schema.ref_path.is_some() {
        report("uses $ref".to_owned());
    }
    if !root
        && schema
            .description
            .as_deref()
            .unwrap_or_default()
            .trim()
            .is_empty()
    {
        report("has no description".to_owned());
    }
    if schema.any_of.is_some() || schema.one_of.is_some() || schema.all_of.is_some() {
        report("combines schemas".to_owned());
    }
    for (name, property) in schema.properties.iter().flatten() {
        // What metadata is, the server knows; a definition may only speak of the names in it.
        if root && name == "metadata" {
            continue;
        }
        check(property, &format!("{path}.{name}"), false, found);
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &schema.additional_properties {
        check(values, &format!("{path}{{}}"), true, found);
    }
    if schema.type_.as_deref() == Some("array") {
        check_array(schema, path, found);
    }
}

fn check_array(schema: &JSONSchemaProps, path: &str, found: &mut Vec<String>) {
    let Some(JSONSchemaPropsOrArray::Schema(items)) = &schema.items else {
        found.push(format!("{path}: does not say what it is a list of"));
        return;
    };
    if schema.x_kubernetes_list_type.is_none() {
        found.push(format!("{path}: does not say how lists are merged"));
    }
    if schema.max_items.is_none() {
        found.push(format!(
            "{path}: has no largest size, which the cost of rules needs"
        ));
    }
    for key in schema.x_kubernetes_list_map_keys.iter().flatten() {
        if !items
            .required
            .iter()
            .flatten()
            .any(|required| required == key)
        {
            found.push(format!("{path}: its key {key} is not required"));
        }
    }
    check(items, &format!("{path}[]"), true, found);
}
