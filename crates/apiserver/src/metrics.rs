//! The server's own counters, in the names that Kubernetes dashboards know.

mod webhooks;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub(crate) use webhooks::WebhookCall;
use webhooks::Webhooks;

/// What is in this process answers within fractions of a millisecond.
const BOUNDS: [f64; 14] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
];

#[derive(Debug, Default)]
struct Histogram {
    buckets: [u64; BOUNDS.len()],
    sum: f64,
    count: u64,
}

impl Histogram {
    fn observe(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        for (bucket, bound) in self.buckets.iter_mut().zip(BOUNDS) {
            *bucket += u64::from(seconds <= bound);
        }
        self.sum += seconds;
        self.count += 1;
    }

    fn render(&self, out: &mut String, name: &str, labels: &str) {
        for (count, bound) in self.buckets.iter().zip(BOUNDS) {
            let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{bound}\"}} {count}");
        }
        let _ = writeln!(out, "{name}_bucket{{{labels},le=\"+Inf\"}} {}", self.count);
        let _ = writeln!(out, "{name}_sum{{{labels}}} {}", self.sum);
        let _ = writeln!(out, "{name}_count{{{labels}}} {}", self.count);
    }
}

#[derive(Debug, Default)]
struct Inner {
    /// By verb, resource and code.
    requests: BTreeMap<(String, String, u16), u64>,
    /// By verb and resource.
    durations: BTreeMap<(String, String), Histogram>,
    webhooks: Webhooks,
}

/// Counters of requests and open watches.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    inner: Mutex<Inner>,
    watches: AtomicI64,
    together: AtomicU64,
    alone: AtomicU64,
    /// How many objects of custom kinds were judged, and the nanoseconds that it took.
    judged: AtomicU64,
    judging: AtomicU64,
}

impl Metrics {
    /// Counts time that went into pruning and defaulting an object of a custom kind.
    pub(crate) fn shaped(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.judging.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Counts an object of a custom kind that was validated.
    pub(crate) fn validated(&self, took: Duration) {
        self.shaped(took);
        self.judged.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an answered request; watches count when they start.
    pub(crate) fn answered(&self, verb: &str, resource: &str, code: u16, took: Duration) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        *inner
            .requests
            .entry((verb.into(), resource.into(), code))
            .or_default() += 1;
        let histogram = inner
            .durations
            .entry((verb.into(), resource.into()))
            .or_default();
        histogram.observe(took);
    }

    /// Counts a webhook that was asked.
    pub(crate) fn webhook_called(&self, call: WebhookCall<'_>, took: Duration) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.webhooks.called(call, took);
    }

    /// Counts a watch for as long as the guard lives.
    pub(crate) fn watch_opened(&self) {
        self.watches.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts pieces of events that were sent to watches which are told the same.
    pub(crate) fn told_together(&self, watches: usize) {
        self.together.fetch_add(watches as u64, Ordering::Relaxed);
    }

    /// Counts a piece of events that a watch told by itself.
    pub(crate) fn told_alone(&self) {
        self.alone.fetch_add(1, Ordering::Relaxed);
    }

    /// The counterpart of [`Metrics::watch_opened`].
    pub(crate) fn watch_closed(&self) {
        self.watches.fetch_sub(1, Ordering::Relaxed);
    }

    /// The counters as Prometheus text.
    pub(crate) fn render(&self) -> String {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        out.push_str(
            "# HELP apiserver_request_total Requests answered, by verb, resource and code.\n",
        );
        out.push_str("# TYPE apiserver_request_total counter\n");
        for ((verb, resource, code), count) in &inner.requests {
            let _ = writeln!(
                out,
                "apiserver_request_total{{verb=\"{verb}\",resource=\"{resource}\",code=\"{code}\"}} {count}"
            );
        }
        out.push_str(
            "# HELP apiserver_request_duration_seconds Time to answer, by verb and resource.\n",
        );
        out.push_str("# TYPE apiserver_request_duration_seconds histogram\n");
        for ((verb, resource), histogram) in &inner.durations {
            let labels = format!("verb=\"{verb}\",resource=\"{resource}\"");
            histogram.render(&mut out, "apiserver_request_duration_seconds", &labels);
        }
        inner.webhooks.render(&mut out);
        let name = "machinist_apiserver_schema_duration_seconds";
        let _ = writeln!(
            out,
            "# HELP {name} Time to prune, default and validate an object of a custom kind.\n\
             # TYPE {name} summary\n{name}_sum {}\n{name}_count {}",
            Duration::from_nanos(self.judging.load(Ordering::Relaxed)).as_secs_f64(),
            self.judged.load(Ordering::Relaxed)
        );
        out.push_str("# HELP apiserver_longrunning_requests Watches that are open now.\n");
        out.push_str("# TYPE apiserver_longrunning_requests gauge\n");
        let _ = writeln!(
            out,
            "apiserver_longrunning_requests{{verb=\"WATCH\"}} {}",
            self.watches.load(Ordering::Relaxed)
        );
        let name = "machinist_apiserver_watch_deliveries_total";
        let _ = writeln!(
            out,
            "# HELP {name} Pieces of events that were sent to watches: together with others that \
             are told the same, or alone.\n\
             # TYPE {name} counter\n{name}{{way=\"together\"}} {}\n{name}{{way=\"alone\"}} {}",
            self.together.load(Ordering::Relaxed),
            self.alone.load(Ordering::Relaxed)
        );
        out
    }
}
