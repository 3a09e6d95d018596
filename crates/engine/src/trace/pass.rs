//! The spans of one pass over a machine, and of the provider's calls within it.
//!
//! They are kept until the pass ends and sent only if it did something: a machine that waits for
//! months is looked at thousands of times, and belongs to one request all the while.

use std::{
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use kube::ResourceExt;
use machinist_api::vitistack::Machine;
use tracing::Instrument;

use super::{Role, Span, Started, TraceId, Tracer};

tokio::task_local! {
    /// The pass that the work at hand is part of; there is none while tracing is off.
    static CURRENT: Arc<Pass>;
}

/// A pass that is part of a recorded request.
pub(crate) struct Pass {
    tracer: Tracer,
    span: Mutex<Option<Started>>,
    trace: TraceId,
    calls: Mutex<Vec<Span>>,
    matters: AtomicBool,
}

impl Pass {
    /// Begins a pass as part of the request that the machine is as it is because of; nothing when
    /// that is not recorded.
    pub(crate) fn begin(tracer: &Tracer, machine: &Machine) -> Option<Arc<Pass>> {
        let origin = tracer.origin(machine)?;
        let mut span = tracer.begin("machine pass", Role::Internal, Some(origin))?;
        span.set("machinist.machine", machine.name_any());
        span.set("machinist.machine.uid", machine.uid().unwrap_or_default());
        let namespace = machine.namespace().unwrap_or_default();
        span.set("k8s.namespace.name", namespace);
        Some(Arc::new(Pass {
            tracer: tracer.clone(),
            span: Mutex::new(Some(span)),
            trace: origin.trace,
            calls: Mutex::default(),
            matters: AtomicBool::default(),
        }))
    }

    /// Does the work of a pass, and ends it.
    pub(crate) async fn around<T, E>(
        pass: Option<Arc<Pass>>,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        let Some(pass) = pass else {
            return work.await;
        };
        let trace = pass.trace;
        // As loud as can be, so that no filter parts a line that it lets through from its trace.
        let logged = tracing::error_span!("pass", trace_id = %trace);
        let outcome = CURRENT.scope(pass.clone(), work.instrument(logged)).await;
        pass.end(outcome.is_err());
        outcome
    }

    fn end(&self, failed: bool) {
        let Some(mut span) = lock(&self.span).take() else {
            return;
        };
        if failed {
            span.fail("PassFailed");
        }
        if failed || self.matters.load(Ordering::Relaxed) {
            let calls = std::mem::take(&mut *lock(&self.calls));
            self.tracer.submit(calls.into_iter().chain([span.end()]));
        }
    }
}

/// Tells something of the pass at hand, which thereby is worth to be told of.
pub(crate) fn note(told: impl FnOnce(&mut Started)) {
    let _ = CURRENT.try_with(|pass| {
        pass.matters.store(true, Ordering::Relaxed);
        if let Some(span) = lock(&pass.span).as_mut() {
            told(span);
        }
    });
}

/// The trace that the work at hand is part of.
pub(crate) fn current_id() -> Option<TraceId> {
    CURRENT.try_with(|pass| pass.trace).ok()
}

/// A provider's call as part of a pass.
pub(crate) struct Call {
    pass: Arc<Pass>,
    span: Started,
}

impl Call {
    /// Begins one; nothing when the work at hand is part of no trace.
    pub(crate) fn begin(verb: &'static str, provider: &str) -> Option<Call> {
        let pass = CURRENT.try_with(Arc::clone).ok()?;
        let parent = lock(&pass.span).as_ref().map(Started::context)?;
        let mut span = pass
            .tracer
            .begin("provider call", Role::Client, Some(parent))?;
        span.set("machinist.call", verb);
        span.set("machinist.provider", provider);
        Some(Call { pass, span })
    }

    /// Ends it with an outcome, which is the class of the error if it is one.
    pub(crate) fn end(mut self, outcome: &'static str, failed: bool) {
        self.span
            .set("machinist.outcome", if failed { "error" } else { "ok" });
        if failed {
            self.span.fail(outcome);
        }
        let span = self.span.end();
        lock(&self.pass.calls).push(span);
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
