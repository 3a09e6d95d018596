//! Traces: what a request led to, from admission to the provider's call.
//!
//! A [`Tracer`] that is off, as it is by default, costs a look at an `Option`. One that is on hands
//! spans that have ended to a bounded queue and never waits: what does not fit is dropped and
//! counted. Where spans go from there, and who asks for that, is left to the program around it.
//! Nothing here decides anything, so it reads the wall clock itself, to the nanosecond.

mod context;
mod pass;
mod sampler;

use std::{
    sync::Arc,
    time::{Instant, SystemTime},
};

use kube::ResourceExt;
use machinist_api::{names, vitistack::Machine};
use tokio::sync::mpsc;

pub use context::{ContextError, SpanId, TraceContext, TraceId};
pub(crate) use pass::{Call, Pass, current_id, note};
pub use sampler::Sampler;

use crate::Metrics;

/// What a span stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Work within the process.
    Internal,
    /// The answer to a request.
    Server,
    /// A request to another.
    Client,
}

/// A value that is told of a span. Only names and numbers of objects go in: nothing of what users
/// write into a spec, and no text of an error, which may quote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// A word.
    Text(String),
    /// A count.
    Number(i64),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Attribute {
        Attribute::Text(text.to_owned())
    }
}

impl From<u32> for Attribute {
    fn from(number: u32) -> Attribute {
        Attribute::Number(number.into())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Attribute {
        Attribute::Text(text)
    }
}

/// A span that has ended.
#[derive(Debug, Clone)]
pub struct Span {
    /// Which one it is.
    pub context: TraceContext,
    /// The span that it is a part of.
    pub parent: Option<SpanId>,
    /// What was done.
    pub name: &'static str,
    /// What it stands for.
    pub role: Role,
    /// When it began.
    pub start: SystemTime,
    /// When it ended.
    pub end: SystemTime,
    /// What is told of it.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// The class of the error that it ended with.
    pub error: Option<&'static str>,
}

/// A span that has begun.
#[derive(Debug)]
pub struct Started {
    span: Span,
    began: Instant,
}

impl Started {
    /// Which one it is, for what becomes part of it.
    pub fn context(&self) -> TraceContext {
        self.span.context
    }

    /// Tells something of it; what was told under the same name is replaced.
    pub fn set(&mut self, name: &'static str, value: impl Into<Attribute>) {
        self.span.attributes.retain(|(known, _)| *known != name);
        self.span.attributes.push((name, value.into()));
    }

    /// Says that it ends with an error of this class.
    pub fn fail(&mut self, class: &'static str) {
        self.span.error = Some(class);
    }

    fn end(mut self) -> Span {
        // A wall clock may be set back while a span lasts; what it took does not depend on that.
        self.span.end = self.span.start + self.began.elapsed();
        self.span
    }
}

/// Begins spans and takes them when they end; off by default, and cheap to clone.
#[derive(Clone, Default)]
pub struct Tracer(Option<Arc<Inner>>);

struct Inner {
    sampler: Sampler,
    queue: mpsc::Sender<Span>,
    metrics: Metrics,
}

impl Tracer {
    /// One that is on, and the queue from which its spans are to be taken, which holds so many.
    pub fn new(
        sampler: Sampler,
        capacity: usize,
        metrics: Metrics,
    ) -> (Tracer, mpsc::Receiver<Span>) {
        let (queue, spans) = mpsc::channel(capacity);
        let inner = Inner {
            sampler,
            queue,
            metrics,
        };
        (Tracer(Some(Arc::new(inner))), spans)
    }

    /// Whether it is on.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Begins a span as part of another, or of none; nothing when tracing is off.
    pub fn begin(
        &self,
        name: &'static str,
        role: Role,
        parent: Option<TraceContext>,
    ) -> Option<Started> {
        let Inner { sampler, .. } = self.0.as_deref()?;
        let trace = parent.map_or_else(TraceId::random, |parent| parent.trace);
        let sampled = sampler.samples(parent.as_ref(), trace);
        Some(started(name, role, trace, parent, sampled))
    }

    /// Takes a span that ends now.
    pub fn end(&self, span: Started) {
        self.submit([span.end()]);
    }

    fn submit(&self, spans: impl IntoIterator<Item = Span>) {
        let Some(inner) = self.0.as_deref() else {
            return;
        };
        for span in spans.into_iter().filter(|span| span.context.sampled) {
            if inner.queue.try_send(span).is_err() {
                inner.metrics.spans("queue_full", 1);
            }
        }
    }

    /// The request that a machine is as it is because of, if that is recorded.
    pub(crate) fn origin(&self, machine: &Machine) -> Option<TraceContext> {
        self.0.as_ref()?;
        let noted = machine.annotations().get(names::TRACEPARENT_ANNOTATION)?;
        noted
            .parse()
            .ok()
            .filter(|context: &TraceContext| context.sampled)
    }
}

fn started(
    name: &'static str,
    role: Role,
    trace: TraceId,
    parent: Option<TraceContext>,
    sampled: bool,
) -> Started {
    let start = SystemTime::now();
    let context = TraceContext {
        trace,
        span: SpanId::random(),
        sampled,
    };
    let span = Span {
        context,
        parent: parent.map(|parent| parent.span),
        name,
        role,
        start,
        end: start,
        attributes: Vec::new(),
        error: None,
    };
    Started {
        span,
        began: Instant::now(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_dropped_and_counted() {
        let metrics = Metrics::default();
        let quiet = metrics.encode();
        assert!(!quiet.contains("machinist_trace_spans"), "{quiet}");
        let (tracer, mut spans) = Tracer::new(Sampler::DEFAULT, 2, metrics.clone());
        for _ in 0..5 {
            let span = tracer.begin("admission", Role::Server, None);
            tracer.end(span.unwrap());
        }
        let first = spans.try_recv().unwrap();
        assert!(first.end >= first.start && first.parent.is_none());
        assert!(spans.try_recv().is_ok() && spans.try_recv().is_err());
        let text = metrics.encode();
        let line = r#"machinist_trace_spans_total{result="queue_full"} 3"#;
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn what_is_not_recorded_is_not_sent_and_keeps_its_place() {
        let none = Sampler {
            parent_based: true,
            ratio: 0.0,
        };
        let (tracer, mut spans) = Tracer::new(none, 2, Metrics::default());
        let span = tracer.begin("admission", Role::Server, None).unwrap();
        assert!(span.context().to_string().ends_with("-00"));
        let part = tracer.begin("quota", Role::Server, Some(span.context()));
        let part = part.unwrap();
        assert_eq!(part.context().trace, span.context().trace);
        tracer.end(part);
        tracer.end(span);
        assert!(spans.try_recv().is_err());
        assert!(Tracer::default().begin("x", Role::Server, None).is_none());
    }
}
