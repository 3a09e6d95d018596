//! What is sent of a pass, and what is not.

use super::*;
use crate::{
    Metrics, testing,
    trace::{Attribute, Sampler},
};

const ORIGIN: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn annotated(traceparent: &str) -> Machine {
    let mut machine = testing::machine(1);
    let annotation = machinist_api::names::TRACEPARENT_ANNOTATION.to_owned();
    let annotations = machine.metadata.annotations.get_or_insert_default();
    annotations.insert(annotation, traceparent.to_owned());
    machine
}

/// The spans of a pass with one call, which tells of itself or not, and fails or not.
async fn sent(machine: &Machine, tells: bool, fails: bool) -> Vec<Span> {
    let (tracer, mut spans) = Tracer::new(Sampler::DEFAULT, 16, Metrics::default());
    let work = async {
        if let Some(call) = Call::begin("find", "default/sim") {
            call.end("Transport", fails);
        }
        if tells {
            note(|span| span.set("machinist.step", "create"));
        }
        if fails { Err(()) } else { Ok(()) }
    };
    let pass = Pass::begin(&tracer, machine);
    let _ = Pass::around(pass, work).await;
    let mut sent = Vec::new();
    while let Ok(span) = spans.try_recv() {
        sent.push(span);
    }
    sent
}

#[tokio::test]
async fn a_call_is_part_of_its_pass_and_the_pass_of_its_request() {
    let spans = sent(&annotated(ORIGIN), true, false).await;
    let [call, pass] = spans.as_slice() else {
        panic!("{spans:?}");
    };
    let origin: crate::trace::TraceContext = ORIGIN.parse().unwrap();
    assert_eq!(pass.parent, Some(origin.span));
    assert_eq!(call.parent, Some(pass.context.span));
    assert!(spans.iter().all(|span| span.context.trace == origin.trace));
    assert_eq!((call.role, call.error), (Role::Client, None));
    let step = ("machinist.step", Attribute::from("create"));
    assert!(pass.attributes.contains(&step), "{pass:?}");
}

#[tokio::test]
async fn a_pass_that_changes_nothing_is_not_told_of() {
    assert!(sent(&annotated(ORIGIN), false, false).await.is_empty());
}

#[tokio::test]
async fn a_failure_is_told_with_its_class() {
    let spans = sent(&annotated(ORIGIN), false, true).await;
    let errors: Vec<_> = spans.iter().map(|span| span.error).collect();
    assert_eq!(errors, [Some("Transport"), Some("PassFailed")]);
}

#[tokio::test]
async fn what_is_part_of_no_recorded_request_has_no_trace() {
    assert!(sent(&testing::machine(1), true, true).await.is_empty());
    let unsampled = ORIGIN.replace("-01", "-00");
    assert!(sent(&annotated(&unsampled), true, true).await.is_empty());
    assert!(sent(&annotated("nonsense"), true, true).await.is_empty());
    assert!(Call::begin("find", "default/sim").is_none());
    assert!(current_id().is_none());
}
