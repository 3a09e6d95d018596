//! ConversionReview, as a webhook answers it: a function from review to review.

use serde_json::{Value, json};

use super::convert;

/// Answers a ConversionReview of `apiextensions.k8s.io/v1`.
///
/// All objects are converted or none is: one that cannot be fails the whole review, with its name.
///
/// # Errors
/// When the value is no such review; the error is a sentence.
pub fn answer_conversion(review: &Value) -> Result<Value, String> {
    let request = &review["request"];
    if review["kind"] != "ConversionReview" || review["apiVersion"] != "apiextensions.k8s.io/v1" {
        return Err(format!(
            "expected a ConversionReview of apiextensions.k8s.io/v1, got {} of {}",
            review["kind"], review["apiVersion"]
        ));
    }
    let wanted = request["desiredAPIVersion"].as_str();
    let (Some(wanted), Some(objects)) = (wanted, request["objects"].as_array()) else {
        return Err("the review's request has no desiredAPIVersion or no objects".to_owned());
    };
    let converted: Result<Vec<Value>, String> = objects
        .iter()
        .map(|object| {
            convert(object, wanted).map_err(|error| {
                let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
                format!("{}/{}: {error}", text("namespace"), text("name"))
            })
        })
        .collect();
    let (objects, result) = match converted {
        Ok(objects) => (objects, json!({ "status": "Success" })),
        Err(message) => (
            Vec::new(),
            json!({ "status": "Failure", "message": message }),
        ),
    };
    Ok(json!({
        "apiVersion": review["apiVersion"],
        "kind": review["kind"],
        "response": { "uid": request["uid"], "convertedObjects": objects, "result": result },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review(objects: Value) -> Value {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
            "request": { "uid": "1", "desiredAPIVersion": "vitistack.io/v1beta1", "objects": objects },
        })
    }

    #[test]
    fn a_review_is_answered_as_a_whole() {
        let machine = json!({
            "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine",
            "metadata": { "name": "web", "namespace": "default" }, "spec": { "memory": 1 << 30 },
        });
        let answer = answer_conversion(&review(json!([machine]))).unwrap_or_default();
        let object = &answer["response"]["convertedObjects"][0];
        assert_eq!(answer["response"]["result"]["status"], "Success");
        assert_eq!(answer["response"]["uid"], "1");
        assert_eq!(object["spec"]["resources"]["memory"], "1Gi");
        let odd = json!({ "kind": "Machine", "metadata": { "name": "x", "namespace": "n" } });
        let answer = answer_conversion(&review(json!([machine, odd]))).unwrap_or_default();
        assert_eq!(
            answer["response"]["result"]["message"],
            "n/x: cannot convert Machine: it has no apiVersion"
        );
        assert_eq!(answer["response"]["convertedObjects"], json!([]));
    }

    #[test]
    fn what_is_no_review_is_refused() {
        for (value, why) in [
            (
                json!({}),
                "expected a ConversionReview of apiextensions.k8s.io/v1, got null of null",
            ),
            (
                json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}),
                "the review's request has no desiredAPIVersion or no objects",
            ),
        ] {
            assert_eq!(answer_conversion(&value), Err(why.to_owned()));
        }
    }
}
