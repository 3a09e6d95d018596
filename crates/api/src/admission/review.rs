//! AdmissionReview, as a webhook answers it: functions from review to review.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Fault, complete, faults, warnings};

/// Answers an AdmissionReview of `admission.k8s.io/v1` with a verdict.
///
/// # Errors
/// When the value is no such review; the error is a sentence.
pub fn answer_admission(review: &Value) -> Result<Value, String> {
    let object = &request(review)?["object"];
    let found = faults(object);
    let mut response = json!({ "allowed": found.is_empty() });
    let warnings = warnings(object);
    if !warnings.is_empty() {
        response["warnings"] = json!(warnings);
    }
    if !found.is_empty() {
        response["status"] = refusal(object, &found);
    }
    Ok(answer(review, response))
}

/// Answers an AdmissionReview of `admission.k8s.io/v1` with what follows from the rest of the
/// object, as a JSON patch.
///
/// # Errors
/// When the value is no such review; the error is a sentence.
pub fn answer_completion(review: &Value) -> Result<Value, String> {
    let request = request(review)?;
    let mut object = request["object"].clone();
    let old = Some(&request["oldObject"]).filter(|old| old.is_object());
    complete(&mut object, old);
    let mut response = json!({ "allowed": true });
    // One operation for each field of the spec that is not as it was.
    let before = &request["object"]["spec"];
    let fields = object["spec"].as_object().into_iter().flatten();
    let patch: Vec<Value> = fields
        .filter(|(name, value)| before.get(name.as_str()) != Some(value))
        .map(
            |(name, value)| json!({ "op": "add", "path": format!("/spec/{name}"), "value": value }),
        )
        .collect();
    if !patch.is_empty() {
        response["patchType"] = "JSONPatch".into();
        response["patch"] = STANDARD.encode(Value::Array(patch).to_string()).into();
    }
    Ok(answer(review, response))
}

/// Answers an AdmissionReview of `admission.k8s.io/v1` with one annotation on the object, as a JSON
/// patch; with none, it is let pass as it is.
///
/// # Errors
/// When the value is no such review; the error is a sentence.
pub fn answer_annotation(review: &Value, note: Option<(&str, &str)>) -> Result<Value, String> {
    let metadata = &request(review)?["object"]["metadata"];
    let mut response = json!({ "allowed": true });
    if let Some((name, value)) = note {
        let operation = match metadata["annotations"].is_object() {
            true => {
                let name = name.replace('~', "~0").replace('/', "~1");
                json!({ "op": "add", "path": format!("/metadata/annotations/{name}"), "value": value })
            }
            false => {
                json!({ "op": "add", "path": "/metadata/annotations", "value": { name: value } })
            }
        };
        response["patchType"] = "JSONPatch".into();
        response["patch"] = STANDARD.encode(json!([operation]).to_string()).into();
    }
    Ok(answer(review, response))
}

fn request(review: &Value) -> Result<&Value, String> {
    let request = &review["request"];
    let known = review["kind"] == "AdmissionReview"
        && review["apiVersion"] == "admission.k8s.io/v1"
        && request["uid"].is_string();
    if known {
        return Ok(request);
    }
    Err(format!(
        "expected an AdmissionReview of admission.k8s.io/v1 with a request, got {} of {}",
        review["kind"], review["apiVersion"]
    ))
}

fn answer(review: &Value, mut response: Value) -> Value {
    response["uid"] = review["request"]["uid"].clone();
    json!({
        "apiVersion": review["apiVersion"], "kind": review["kind"], "response": response,
    })
}

/// The Status that a server would answer with if the rule were its own.
fn refusal(object: &Value, found: &[Fault]) -> Value {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    let (group, _) = text("apiVersion").split_once('/').unwrap_or_default();
    let all: Vec<String> = found.iter().map(ToString::to_string).collect();
    let message = match all.as_slice() {
        [one] => one.clone(),
        all => format!("[{}]", all.join(", ")),
    };
    let causes: Vec<Value> = found
        .iter()
        .map(|fault| {
            let reason = match fault.value {
                Value::Null => "FieldValueRequired",
                _ => "FieldValueInvalid",
            };
            json!({ "reason": reason, "field": fault.field, "message": fault.said() })
        })
        .collect();
    json!({
        "code": 422, "reason": "Invalid", "status": "Failure",
        "message": format!("{}.{group} {name:?} is invalid: {message}", text("kind")),
        "details": { "name": name, "group": group, "kind": text("kind"), "causes": causes },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(object: &Value) -> Value {
        json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": { "uid": "7", "object": object },
        })
    }

    #[test]
    fn several_faults_are_reported_together() {
        let review = review(&json!({
            "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine", "metadata": { "name": "web" },
            "spec": { "userData": "#cloud-config\n- a\n", "cloudInit": { "networkData": "- b\n" } },
        }));
        let answer = answer_admission(&review).unwrap_or_default();
        let response = &answer["response"];
        assert_eq!(
            (&response["uid"], &response["allowed"]),
            (&json!("7"), &json!(false))
        );
        assert_eq!(
            response["status"]["message"],
            "Machine.vitistack.io \"web\" is invalid: [spec.userData: Invalid value: \"- a\": is YAML, \
             but no map of settings; the guest would ignore all of it, spec.cloudInit.networkData: \
             Invalid value: \"- b\": is YAML, but no map of settings; the guest would ignore all of it]"
        );
        assert_eq!(
            response["status"]["details"]["causes"][1]["field"],
            "spec.cloudInit.networkData"
        );
        assert_eq!(response["status"]["code"], 422);
    }

    #[test]
    fn what_follows_is_answered_as_a_patch() {
        let prefix = |spec: Value| {
            review(&json!({
                "apiVersion": "ipam.ironcore.dev/v1alpha1", "kind": "Prefix", "spec": spec,
            }))
        };
        let answer =
            answer_completion(&prefix(json!({"prefix": "10.0.0.0/8"}))).unwrap_or_default();
        let patch = answer["response"]["patch"].as_str().unwrap_or_default();
        let patch: Value =
            serde_json::from_slice(&STANDARD.decode(patch).unwrap_or_default()).unwrap_or_default();
        assert_eq!(
            patch,
            json!([{ "op": "add", "path": "/spec/ipFamily", "value": "IPv4" }])
        );
        assert_eq!(answer["response"]["patchType"], "JSONPatch");
        let whole = json!({"prefix": "10.0.0.0/8", "ipFamily": "IPv4"});
        let answer = answer_completion(&prefix(whole)).unwrap_or_default();
        assert_eq!(answer["response"], json!({"uid": "7", "allowed": true}));
    }

    #[test]
    fn what_is_no_review_is_refused() {
        for answer in [answer_admission, answer_completion] {
            assert!(answer(&json!({})).is_err());
            assert!(answer(&json!({"kind": "AdmissionReview"})).is_err());
        }
    }
}
