//! Whether a schema is structural: every node typed once, outside of the combinators, with
//! nothing in it that the server could not prune, default and merge by.

use serde_json::{Map, Value};

use super::lists;
use super::surface::unsupported;
use crate::schema::json_text;
use crate::status::Cause;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Parts of JSON schema that no definition may use.
const NOT_SUPPORTED: [&str; 7] = [
    "$ref",
    "$schema",
    "definitions",
    "dependencies",
    "patternProperties",
    "additionalItems",
    "id",
];

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Field,
    Item,
}

/// Everything that keeps a schema from being structural.
pub(super) fn check(schema: &Value, path: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    node(schema, path, Level::Root, &mut causes);
    metadata(schema, path, &mut causes);
    causes
}

/// The name of a type, for the others.
pub(super) fn type_of(schema: &Value) -> &str {
    schema["type"].as_str().unwrap_or_default()
}

pub(super) fn flag(schema: &Value, name: &str) -> bool {
    schema[name] == true
}

fn node(schema: &Value, path: &str, level: Level, causes: &mut Vec<Cause>) {
    let at = |field: &str| format!("{path}.{field}");
    for field in NOT_SUPPORTED {
        if schema.get(field).is_some_and(|v| !v.is_null()) {
            causes.push(Cause::forbidden(
                &at(field),
                &format!("{field} is not supported"),
            ));
        }
    }
    types(schema, path, level, causes);
    if flag(schema, "uniqueItems") {
        let why =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.push(Cause::forbidden(&at("uniqueItems"), why));
    }
    if let Some(pattern) = schema["pattern"].as_str()
        && let Err(error) = regex::Regex::new(pattern)
    {
        let why =
            format!("must be a valid regular expression, but isn't: error parsing regexp: {error}");
        let value = json_text(&Value::String(pattern.to_owned()));
        causes.push(Cause::invalid(&at("pattern"), &value, &why));
    }
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let additional = &schema["additionalProperties"];
    if !additional.is_null() && !properties.is_empty() {
        let why = "additionalProperties and properties are mutual exclusive";
        causes.push(Cause::forbidden(&at("additionalProperties"), why));
    } else if additional == false {
        let why = "additionalProperties cannot be set to false";
        causes.push(Cause::forbidden(&at("additionalProperties"), why));
    }
    match &schema["items"] {
        Value::Array(_) => {
            let why = "items must be a schema object and not an array";
            causes.push(Cause::forbidden(&at("items"), why));
        }
        Value::Null if type_of(schema) == "array" => {
            causes.push(Cause::required(&at("items"), "must be specified"));
        }
        _ => {}
    }
    let ty = type_of(schema);
    if level == Level::Root && !ty.is_empty() && ty != "object" {
        let value = json_text(&Value::String(ty.to_owned()));
        let why = "must be object at the root";
        causes.push(Cause::invalid(&at("type"), &value, why));
    }
    extensions(schema, path, causes);
    lists::check(schema, path, causes);
    for (name, child) in properties {
        node(
            child,
            &format!("{path}.properties[{name}]"),
            Level::Field,
            causes,
        );
    }
    if additional.is_object() {
        node(
            additional,
            &at("additionalProperties"),
            Level::Field,
            causes,
        );
    }
    if schema["items"].is_object() {
        node(&schema["items"], &at("items"), Level::Item, causes);
    }
    let free = flag(schema, "x-kubernetes-int-or-string");
    for name in ["allOf", "anyOf", "oneOf"] {
        for (index, branch) in schema[name].as_array().into_iter().flatten().enumerate() {
            combined(branch, &format!("{path}.{name}[{index}]"), free, causes);
        }
    }
    if schema["not"].is_object() {
        combined(&schema["not"], &at("not"), free, causes);
    }
}

fn types(schema: &Value, path: &str, level: Level, causes: &mut Vec<Cause>) {
    let place = format!("{path}.type");
    let ty = type_of(schema);
    if !ty.is_empty() && !TYPES.contains(&ty) {
        causes.push(unsupported(&place, ty, &TYPES));
        if ty == "null" {
            let why = "type cannot be set to null, use nullable as an alternative";
            causes.push(Cause::forbidden(&place, why));
        }
    }
    let untyped = flag(schema, "x-kubernetes-int-or-string")
        || flag(schema, "x-kubernetes-preserve-unknown-fields");
    match level {
        Level::Root => {
            if flag(schema, "nullable") {
                let why = "nullable cannot be true at the root";
                causes.push(Cause::forbidden(&format!("{path}.nullable"), why));
            }
            if ty.is_empty() {
                causes.push(Cause::required(&place, "must not be empty at the root"));
            }
        }
        Level::Field if ty.is_empty() && !untyped => {
            let why = "must not be empty for specified object fields";
            causes.push(Cause::required(&place, why));
        }
        Level::Item if ty.is_empty() && !untyped => {
            let why = "must not be empty for specified array items";
            causes.push(Cause::required(&place, why));
        }
        Level::Field | Level::Item => {}
    }
}

fn extensions(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let preserve = &schema["x-kubernetes-preserve-unknown-fields"];
    if preserve == false {
        let place = format!("{path}.x-kubernetes-preserve-unknown-fields");
        causes.push(Cause::invalid(&place, "false", "must be true or undefined"));
    }
    if flag(schema, "x-kubernetes-embedded-resource") {
        let bare = schema["properties"].as_object().is_none_or(Map::is_empty);
        if bare && preserve != true {
            let why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
            causes.push(Cause::required(&format!("{path}.properties"), why));
        }
        let ty = type_of(schema);
        if ty != "object" {
            let value = json_text(&Value::String(ty.to_owned()));
            let why = "must be object if x-kubernetes-embedded-resource is true";
            causes.push(Cause::invalid(&format!("{path}.type"), &value, why));
        }
    }
}

/// A branch of a combinator may only say more about values, not what they are.
fn combined(schema: &Value, path: &str, may_type: bool, causes: &mut Vec<Cause>) {
    for (field, why) in [
        ("type", "must be empty to be structural"),
        ("title", "must be empty to be structural"),
        ("description", "must be empty to be structural"),
        ("default", "must be undefined to be structural"),
        ("nullable", "must be false to be structural"),
        ("additionalProperties", "must be undefined to be structural"),
        (
            "x-kubernetes-preserve-unknown-fields",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-embedded-resource",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-int-or-string",
            "must be false to be structural",
        ),
        (
            "x-kubernetes-list-type",
            "must be undefined to be structural",
        ),
        (
            "x-kubernetes-list-map-keys",
            "must be empty to be structural",
        ),
        (
            "x-kubernetes-map-type",
            "must be undefined to be structural",
        ),
        ("x-kubernetes-validations", "must be empty to be structural"),
    ] {
        let given = match &schema[field] {
            Value::Null => false,
            Value::Bool(flag) => *flag || field == "additionalProperties",
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => true,
        };
        if given && !(may_type && field == "type") {
            causes.push(Cause::forbidden(&format!("{path}.{field}"), why));
        }
    }
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        combined(
            child,
            &format!("{path}.properties[{name}]"),
            may_type,
            causes,
        );
    }
    if schema["items"].is_object() {
        combined(&schema["items"], &format!("{path}.items"), may_type, causes);
    }
    for name in ["allOf", "anyOf", "oneOf"] {
        for (index, branch) in schema[name].as_array().into_iter().flatten().enumerate() {
            combined(branch, &format!("{path}.{name}[{index}]"), may_type, causes);
        }
    }
}

/// Type and metadata of an object are what they are; a schema may only restrict the names.
fn metadata(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let properties = &schema["properties"];
    for field in ["apiVersion", "kind"] {
        let ty = type_of(&properties[field]);
        if !ty.is_empty() && ty != "string" {
            let value = json_text(&Value::String(ty.to_owned()));
            let place = format!("{path}.properties[{field}].type");
            causes.push(Cause::invalid(&place, &value, "must be string"));
        }
    }
    let metadata = &properties["metadata"];
    let place = format!("{path}.properties[metadata]");
    let ty = type_of(metadata);
    if !ty.is_empty() && ty != "object" {
        let value = json_text(&Value::String(ty.to_owned()));
        causes.push(Cause::invalid(
            &format!("{place}.type"),
            &value,
            "must be object",
        ));
    }
    if !metadata["default"].is_null() {
        let why = "must not be set in top-level metadata";
        causes.push(Cause::forbidden(&format!("{place}.default"), why));
    }
    let others = metadata["properties"].as_object().into_iter().flatten();
    if others
        .into_iter()
        .any(|(name, _)| !matches!(name.as_str(), "name" | "generateName"))
    {
        let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        causes.push(Cause::forbidden(&place, why));
    }
}
