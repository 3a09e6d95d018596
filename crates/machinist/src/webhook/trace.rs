//! Traces, at the door: a Machine that is made or whose spec changes is given its place in one.
//!
//! The place is an annotation, so that whoever works on the machine later, in this process or
//! another, goes on with the same trace. What asks for nothing new keeps the one that it has: to
//! apply a manifest once more changes nothing.

use std::future::Future;

use machinist_api::{admission::answer_annotation, names::TRACEPARENT_ANNOTATION};
use machinist_engine::trace::{Role, Started, TraceContext, Tracer};
use serde_json::Value;

/// Path at which machines are given their place in a trace.
pub(super) const PATH: &str = "/trace";

/// Answers a review with the annotation. The trace is the one that the request is part of, or a new
/// one.
pub(super) fn answer(
    tracer: &Tracer,
    review: &Value,
    traceparent: Option<&str>,
) -> Result<Value, String> {
    let request = &review["request"];
    let parent = traceparent.and_then(|text| text.parse().ok());
    let Some(span) = begin(tracer, "admission", request, parent) else {
        return answer_annotation(review, None);
    };
    let place = span.context().to_string();
    let answer = answer_annotation(review, Some((TRACEPARENT_ANNOTATION, &place)));
    tracer.end(span);
    answer
}

/// Does the work of another webhook, and tells of it in the trace that the object was given its
/// place in just before.
pub(super) async fn told(
    tracer: &Tracer,
    name: &'static str,
    review: &Value,
    work: impl Future<Output = Result<Value, String>>,
) -> Result<Value, String> {
    let Some(mut span) = follow(tracer, name, review) else {
        return work.await;
    };
    let answer = work.await;
    match &answer {
        Ok(answer) if answer["response"]["allowed"] == true => span.set("machinist.outcome", "ok"),
        Ok(_) => {
            span.set("machinist.outcome", "denied");
            span.fail("Denied");
        }
        Err(_) => {
            span.set("machinist.outcome", "error");
            span.fail("Unanswered");
        }
    }
    tracer.end(span);
    answer
}

fn follow(tracer: &Tracer, name: &'static str, review: &Value) -> Option<Started> {
    if !tracer.is_on() {
        return None;
    }
    let request = &review["request"];
    let place = &request["object"]["metadata"]["annotations"][TRACEPARENT_ANNOTATION];
    let parent = place.as_str()?.parse().ok()?;
    begin(tracer, name, request, Some(parent))
}

/// Begins a span about a request that asks for something new; a dry run asks for nothing.
fn begin(
    tracer: &Tracer,
    name: &'static str,
    request: &Value,
    parent: Option<TraceContext>,
) -> Option<Started> {
    let (object, old) = (&request["object"], &request["oldObject"]);
    let is_new = request["operation"] == "CREATE" || object["spec"] != old["spec"];
    if request["dryRun"] == true || !is_new {
        return None;
    }
    let mut span = tracer.begin(name, Role::Server, parent)?;
    let told = [
        ("machinist.operation", &request["operation"]),
        ("k8s.namespace.name", &request["namespace"]),
        ("machinist.machine", &object["metadata"]["name"]),
    ];
    for (name, value) in told {
        // One whose name the server is still to make up has none yet.
        if let Some(value) = value.as_str() {
            span.set(name, value);
        }
    }
    Some(span)
}

#[cfg(test)]
mod tests {
    use machinist_engine::{
        Metrics,
        trace::{Sampler, Span},
    };
    use serde_json::json;
    use tokio::sync::mpsc::Receiver;

    use super::*;

    const OF_CLIENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn tracer() -> (Tracer, Receiver<Span>) {
        Tracer::new(Sampler::DEFAULT, 16, Metrics::default())
    }

    fn review(request: &Value) -> Value {
        let mut review = json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {
                "uid": "7", "operation": "CREATE", "namespace": "default", "dryRun": false,
                "object": {
                    "metadata": {"name": "web"}, "spec": {"userData": "hunter2"},
                },
            },
        });
        json_patch::merge(&mut review["request"], request);
        review
    }

    fn is_stamped(answer: &Value) -> bool {
        answer["response"]["patch"].is_string()
    }

    #[test]
    fn what_is_new_gets_its_place_in_the_clients_trace() {
        let (tracer, mut spans) = tracer();
        let created = answer(&tracer, &review(&json!({})), Some(OF_CLIENT)).unwrap();
        assert!(is_stamped(&created));
        let span = spans.try_recv().unwrap();
        let client: TraceContext = OF_CLIENT.parse().unwrap();
        assert_eq!(span.context.trace, client.trace);
        assert_eq!(span.parent, Some(client.span));
        assert!(!format!("{span:?}").contains("hunter2"));
        // Nonsense is nobody's trace.
        let created = answer(&tracer, &review(&json!({})), Some("nonsense")).unwrap();
        assert!(is_stamped(&created));
        let span = spans.try_recv().unwrap();
        assert!(span.parent.is_none() && span.context.trace != client.trace);
    }

    #[test]
    fn only_what_asks_for_something_new_is_stamped() {
        let (tracer, mut spans) = tracer();
        let spec = json!({"userData": "hunter2"});
        for (request, expected) in [
            (json!({"dryRun": true}), false),
            (
                json!({"operation": "UPDATE", "oldObject": {"spec": spec}}),
                false,
            ),
            (
                json!({"operation": "UPDATE", "oldObject": {"spec": {}}}),
                true,
            ),
        ] {
            let answered = answer(&tracer, &review(&request), None).unwrap();
            assert_eq!(is_stamped(&answered), expected, "{request}");
            assert_eq!(spans.try_recv().is_ok(), expected, "{request}");
        }
        let off = answer(&Tracer::default(), &review(&json!({})), None).unwrap();
        assert!(!is_stamped(&off));
        assert!(answer(&tracer, &json!({}), None).is_err());
    }

    #[tokio::test]
    async fn verdicts_are_told_in_the_trace_of_the_object() {
        let (tracer, mut spans) = tracer();
        let annotations = json!({TRACEPARENT_ANNOTATION: OF_CLIENT});
        let review = review(&json!({"object": {"metadata": {"annotations": annotations}}}));
        let refusal = Ok(json!({"response": {"allowed": false}}));
        let work = std::future::ready(refusal);
        let answer = told(&tracer, "admission quota", &review, work).await;
        assert_eq!(answer.unwrap()["response"]["allowed"], false);
        let span = spans.try_recv().unwrap();
        let client: TraceContext = OF_CLIENT.parse().unwrap();
        assert_eq!(span.parent, Some(client.span));
        assert_eq!(span.error, Some("Denied"));
    }
}
