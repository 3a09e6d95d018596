//! ConversionReview: asking a webhook to convert, and judging what it gives back.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};

use super::strategy::{Converter, Webhook};
use crate::meta;
use crate::resource::names;
use crate::status::ApiError;
use crate::webhook::Caller;

/// How long a conversion may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The most that a webhook may answer; a review may hold a whole page of objects.
const ANSWER_LIMIT: usize = 64 << 20;

/// Converts by a function; the result is held to the same rules as a webhook's.
pub(super) fn converted_by(
    converter: &dyn Converter,
    object: &Value,
    api_version: &str,
) -> Result<Value, ApiError> {
    let mut converted = object.clone();
    let about = gvk(object);
    let failed = |why: &str| failure(format!("conversion webhook for {about} failed: {why}"));
    converter
        .convert(&mut converted, api_version)
        .map_err(|why| failed(&why))?;
    accept(object, converted, api_version)
        .map_err(|why| failure(format!("conversion webhook for {about} returned {why}")))
}

/// Converts by a webhook: one review for all objects that are of another version.
pub(super) async fn ask(
    caller: &Caller,
    webhook: &Webhook,
    api_version: &str,
    mut objects: Vec<Value>,
) -> Result<Vec<Value>, ApiError> {
    let places: Vec<usize> = (0..objects.len())
        .filter(|at| objects[*at]["apiVersion"] != api_version)
        .collect();
    let Some(first) = places.first().map(|at| &objects[*at]) else {
        return Ok(objects);
    };
    let about = gvk(first);
    let failed = |why: String| failure(format!("conversion webhook for {about} failed: {why}"));
    let versions = webhook.review_versions.iter().map(String::as_str);
    let version = versions
        .into_iter()
        .find(|v| matches!(*v, "v1" | "v1beta1"))
        .ok_or_else(|| failure("no supported conversion review versions".into()))?;
    let target = webhook.target.as_ref().map_err(|why| failed(why.clone()))?;
    let uid = uuid::Uuid::new_v4().to_string();
    let sent: Vec<&Value> = places.iter().map(|at| &objects[*at]).collect();
    let review = json!({
        "kind": "ConversionReview",
        "apiVersion": format!("apiextensions.k8s.io/{version}"),
        "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": sent},
    });
    let answer = caller
        .post(target, review, TIMEOUT, ANSWER_LIMIT, None)
        .await
        .map_err(|error| failed(error.to_string()))?;
    let converted = read(answer, version, &uid).map_err(failed)?;
    if converted.len() != places.len() {
        return Err(failure(format!(
            "conversion webhook for {about} returned {} objects, expected {}",
            converted.len(),
            places.len()
        )));
    }
    for (at, converted) in places.into_iter().zip(converted) {
        objects[at] = accept(&objects[at], converted, api_version)
            .map_err(|why| failure(format!("conversion webhook for {about} returned {why}")))?;
    }
    Ok(objects)
}

/// The objects of an answer; the error is a sentence.
fn read(mut answer: Value, version: &str, uid: &str) -> Result<Vec<Value>, String> {
    if version == "v1" {
        let text = |field: &str| answer[field].as_str().unwrap_or_default();
        let (found, kind) = (text("apiVersion"), text("kind"));
        if found != "apiextensions.k8s.io/v1" || kind != "ConversionReview" {
            return Err(format!(
                "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got {found}, Kind={kind}"
            ));
        }
    }
    let response = answer["response"].take();
    if !response.is_object() {
        return Err("no response provided".into());
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let given = text(&response["uid"]);
    if version == "v1" && given != uid {
        return Err(format!("expected response.uid={uid:?}, got {given:?}"));
    }
    let status = text(&response["result"]["status"]);
    if status != "Success" {
        return Err(match text(&response["result"]["message"]).as_str() {
            "" => format!("response.result.status was '{status}', not 'Success'"),
            message => message.to_owned(),
        });
    }
    match response["convertedObjects"].clone() {
        Value::Array(objects) => Ok(objects),
        _ => Ok(Vec::new()),
    }
}

/// The converted object with the metadata of the original, of which only labels and annotations
/// may change; the error is what follows `returned`.
fn accept(original: &Value, mut converted: Value, api_version: &str) -> Result<Value, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (found, kind) = (text(&converted["apiVersion"]), text(&converted["kind"]));
    if found != api_version {
        return Err(format!(
            "invalid object at index 0: invalid groupVersion (expected {api_version}, received {found})"
        ));
    }
    let expected = text(&original["kind"]);
    if kind != expected {
        return Err(format!(
            "invalid object at index 0: invalid kind (expected {expected}, received {kind})"
        ));
    }
    for (field, name) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let (before, after) = (meta::text(original, field), meta::text(&converted, field));
        if before != after {
            return Err(format!(
                "invalid object: must have the same {name}: {before} != {after}"
            ));
        }
    }
    let Some(given) = converted.get("metadata").cloned() else {
        return Err("invalid metadata: missing metadata in converted object".into());
    };
    meta::copy_field(&mut converted, original, "metadata");
    for field in ["labels", "annotations"] {
        match given.get(field) {
            None | Some(Value::Null) => {
                meta::metadata_mut(&mut converted).remove(field);
            }
            Some(map) => {
                check_map(field, map)?;
                meta::metadata_mut(&mut converted).insert(field.into(), map.clone());
            }
        }
    }
    Ok(converted)
}

fn check_map(field: &str, map: &Value) -> Result<(), String> {
    let Some(map) = map.as_object() else {
        return Err(format!(
            "invalid metadata: invalid metadata.{field} in converted object"
        ));
    };
    for (key, value) in map {
        let Some(value) = value.as_str() else {
            return Err(format!(
                "invalid metadata: metadata.{field}[{key}] must be a string in converted object"
            ));
        };
        let mut wrong = names::qualified(key);
        let mut blamed = key.as_str();
        if field == "labels" && wrong.is_empty() {
            wrong = names::label_value(value);
            blamed = value;
        }
        if let Some(why) = wrong.first() {
            return Err(format!(
                "invalid metadata: metadata.{field}: Invalid value: {blamed:?}: {why}"
            ));
        }
    }
    Ok(())
}

/// A group, version and kind as Go writes them.
fn gvk(object: &Value) -> String {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    format!("{}, Kind={}", text("apiVersion"), text("kind"))
}

/// Conversion fails without a reason that a machine could read.
fn failure(message: String) -> ApiError {
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "", message)
}
