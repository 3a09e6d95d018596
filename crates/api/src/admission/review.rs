//! AdmissionReview, as a validating webhook answers it: a function from review to review.

use serde_json::{Value, json};

use super::faults;

/// Answers an AdmissionReview of `admission.k8s.io/v1`.
///
/// # Errors
/// When the value is no such review; the error is a sentence.
pub fn answer_admission(review: &Value) -> Result<Value, String> {
    let request = &review["request"];
    let known = review["kind"] == "AdmissionReview"
        && review["apiVersion"] == "admission.k8s.io/v1"
        && request["uid"].is_string();
    if !known {
        return Err(format!(
            "expected an AdmissionReview of admission.k8s.io/v1 with a request, got {} of {}",
            review["kind"], review["apiVersion"]
        ));
    }
    let found = faults(&request["object"]);
    let mut response = json!({ "uid": request["uid"], "allowed": found.is_empty() });
    if !found.is_empty() {
        let text = |field: &str| request["object"][field].as_str().unwrap_or_default();
        let name = request["object"]["metadata"]["name"]
            .as_str()
            .unwrap_or_default();
        let (group, _) = text("apiVersion").split_once('/').unwrap_or_default();
        let all: Vec<String> = found
            .iter()
            .map(|fault| {
                format!(
                    "{}: Invalid value: {:?}: {}",
                    fault.field, fault.value, fault.message
                )
            })
            .collect();
        let message = match all.as_slice() {
            [one] => one.clone(),
            all => format!("[{}]", all.join(", ")),
        };
        let causes: Vec<Value> = found
            .iter()
            .map(|fault| {
                json!({
                    "reason": "FieldValueInvalid", "field": fault.field,
                    "message": format!("Invalid value: {:?}: {}", fault.value, fault.message),
                })
            })
            .collect();
        response["status"] = json!({
            "code": 422, "reason": "Invalid", "status": "Failure",
            "message": format!("{}.{group} {name:?} is invalid: {message}", text("kind")),
            "details": { "name": name, "group": group, "kind": text("kind"), "causes": causes },
        });
    }
    Ok(json!({
        "apiVersion": review["apiVersion"], "kind": review["kind"], "response": response,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_faults_are_reported_together() {
        let review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": { "uid": "7", "object": {
                "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine", "metadata": { "name": "web" },
                "spec": { "userData": "#cloud-config\n- a\n", "cloudInit": { "networkData": "- b\n" } },
            } },
        });
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
    fn what_is_no_review_is_refused() {
        assert!(answer_admission(&json!({})).is_err());
        assert!(answer_admission(&json!({"kind": "AdmissionReview"})).is_err());
    }
}
