//! How lists and maps merge: the rules of `x-kubernetes-list-type` and its siblings.

use std::collections::HashSet;

use serde_json::Value;

use super::structural::{flag, type_of};
use super::surface::unsupported;
use crate::meta;
use crate::schema::json_text;
use crate::status::Cause;

const LIST: &str = "x-kubernetes-list-type";
const KEYS: &str = "x-kubernetes-list-map-keys";
const MAP: &str = "x-kubernetes-map-type";

/// Adds what is wrong with a node's way to merge.
pub(super) fn check(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let ty = type_of(schema);
    let shown = json_text(&Value::String(ty.to_owned()));
    if let Some(map) = schema[MAP].as_str() {
        if ty != "object" {
            let why = "must be object if x-kubernetes-map-type is specified";
            causes.push(Cause::invalid(&format!("{path}.type"), &shown, why));
        }
        if !matches!(map, "atomic" | "granular") {
            causes.push(unsupported(
                &format!("{path}.{MAP}"),
                map,
                &["atomic", "granular"],
            ));
        }
    }
    let keys = meta::strings(schema.get(KEYS));
    let list = schema[LIST].as_str();
    if list.is_some() && ty != "array" {
        let why = "must be array if x-kubernetes-list-type is specified";
        causes.push(Cause::invalid(&format!("{path}.type"), &shown, why));
    }
    match list {
        Some("map") => map_list(schema, &keys, path, causes),
        Some("set") => set_list(&schema["items"], path, causes),
        Some("atomic") | None => {}
        Some(other) => {
            let allowed = ["atomic", "set", "map"];
            causes.push(unsupported(&format!("{path}.{LIST}"), other, &allowed));
        }
    }
    if !keys.is_empty() && list != Some("map") {
        let why = "must be map if x-kubernetes-list-map-keys is non-empty";
        let place = format!("{path}.{LIST}");
        causes.push(match list {
            None => Cause::required(&place, why),
            Some(other) => {
                Cause::invalid(&place, &json_text(&Value::String(other.to_owned())), why)
            }
        });
    }
}

fn set_list(items: &Value, path: &str, causes: &mut Vec<Cause>) {
    if type_of(items) == "object" && items[MAP] != "atomic" {
        let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
        let value = json_text(&items[MAP]);
        causes.push(Cause::invalid(&format!("{path}.items.{MAP}"), &value, why));
    }
    if flag(items, "nullable") {
        let why = "cannot be nullable when x-kubernetes-list-type is set";
        causes.push(Cause::forbidden(&format!("{path}.items.nullable"), why));
    }
}

fn map_list(schema: &Value, keys: &[&str], path: &str, causes: &mut Vec<Cause>) {
    let items = &schema["items"];
    let place = format!("{path}.{KEYS}");
    if !items.is_object() {
        let why = "must have a schema if x-kubernetes-list-type is map";
        causes.push(Cause::required(&format!("{path}.items"), why));
        return;
    }
    let ty = type_of(items);
    if ty != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        let shown = json_text(&Value::String(ty.to_owned()));
        causes.push(Cause::invalid(&format!("{path}.items.type"), &shown, why));
        return;
    }
    if keys.is_empty() {
        let why = "must not be empty if x-kubernetes-list-type is map";
        causes.push(Cause::required(&place, why));
    }
    let shown = json_text(&schema[KEYS]);
    let unique: HashSet<&&str> = keys.iter().collect();
    if unique.len() != keys.len() {
        causes.push(Cause::invalid(
            &place,
            &shown,
            "must not contain duplicate entries",
        ));
    }
    let required = meta::strings(items.get("required"));
    for key in unique {
        let Some(property) = items["properties"].get(*key) else {
            let why = "entries must all be names of item properties";
            causes.push(Cause::invalid(&place, &shown, why));
            continue;
        };
        let at = format!("{path}.items.properties[{key}]");
        let ty = type_of(property);
        if matches!(ty, "object" | "array") {
            let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
            let shown = json_text(&Value::String(ty.to_owned()));
            causes.push(Cause::invalid(&format!("{at}.type"), &shown, why));
        }
        if flag(property, "nullable") {
            let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            causes.push(Cause::forbidden(&format!("{at}.nullable"), why));
        }
        if property["default"].is_null() && !required.contains(key) {
            let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            causes.push(Cause::required(&format!("{at}.default"), why));
        }
    }
}
