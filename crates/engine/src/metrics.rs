//! What the engine counts, under controller-runtime's names where one exists.

use std::{sync::Arc, time::Duration};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

/// The engine's metrics; cheap to clone.
#[derive(Clone)]
pub struct Metrics {
    registry: Arc<Registry>,
    reconciles: Family<ReconcileLabels, Counter>,
    reconcile_seconds: Family<ControllerLabels, Histogram>,
    provider_calls: Family<CallLabels, Histogram>,
    leads: Family<LeaseLabels, Gauge>,
    machines: Family<PhaseLabels, Gauge>,
    phase_seconds: Family<PhaseLabels, Histogram>,
    quota_used: Family<QuotaLabels, Gauge>,
    quota_limit: Family<QuotaLabels, Gauge>,
    spans: Family<ResultLabels, Counter>,
    logs: Family<ResultLabels, Counter>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ResultLabels {
    result: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PhaseLabels {
    phase: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct QuotaLabels {
    namespace: String,
    resource: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct LeaseLabels {
    name: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ReconcileLabels {
    controller: &'static str,
    result: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ControllerLabels {
    controller: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    provider: String,
    call: &'static str,
    result: &'static str,
}

fn seconds() -> Histogram {
    Histogram::new([0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0])
}

/// From a simulated machine to one that somebody forgot for a week.
fn phase_seconds() -> Histogram {
    Histogram::new([
        1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 86_400.0, 604_800.0,
    ])
}

impl Default for Metrics {
    fn default() -> Metrics {
        let mut registry = Registry::default();
        let reconciles = Family::default();
        let reconcile_seconds = Family::new_with_constructor(seconds as fn() -> Histogram);
        let provider_calls = Family::new_with_constructor(seconds as fn() -> Histogram);
        registry.register(
            "controller_runtime_reconcile",
            "Passes over an object, by controller and result",
            reconciles.clone(),
        );
        registry.register(
            "controller_runtime_reconcile_time_seconds",
            "How long a pass over an object took",
            reconcile_seconds.clone(),
        );
        registry.register(
            "machinist_provider_call_duration_seconds",
            "How long a call to a provider took",
            provider_calls.clone(),
        );
        let leads = Family::default();
        registry.register(
            "leader_election_master_status",
            "Whether this process holds the lease and works, by lease",
            leads.clone(),
        );
        let machines = Family::default();
        registry.register("machinist_machines", "Machines, by phase", machines.clone());
        let phase_seconds = Family::new_with_constructor(phase_seconds as fn() -> Histogram);
        registry.register(
            "machinist_machine_phase_duration_seconds",
            "How long machines were in a phase that they have left",
            phase_seconds.clone(),
        );
        let (quota_used, quota_limit) = (Family::default(), Family::default());
        registry.register(
            "machinist_quota_used",
            "What a namespace has of what its Vitistack limits; storage in bytes",
            quota_used.clone(),
        );
        registry.register(
            "machinist_quota_limit",
            "What a namespace may have by its Vitistack; storage in bytes",
            quota_limit.clone(),
        );
        let spans = Family::default();
        registry.register(
            "machinist_trace_spans",
            "Spans, by what became of them: sent, or dropped because of what",
            spans.clone(),
        );
        let logs = Family::default();
        registry.register(
            "machinist_log_entries",
            "Entries for collectors of logs, by what became of them: sent, refused or dropped",
            logs.clone(),
        );
        Metrics {
            spans,
            logs,
            machines,
            phase_seconds,
            quota_used,
            quota_limit,
            leads,
            registry: Arc::new(registry),
            reconciles,
            reconcile_seconds,
            provider_calls,
        }
    }
}

impl Metrics {
    /// All metrics in Prometheus' text form.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail; half a page would be worse than none.
        match encode(&mut text, &self.registry) {
            Ok(()) => text,
            Err(_) => String::new(),
        }
    }

    /// Whether this process holds a lease now.
    pub fn leads(&self, lease: &str, leads: bool) {
        let name = lease.to_owned();
        let gauge = self.leads.get_or_create(&LeaseLabels { name });
        gauge.set(i64::from(leads));
    }

    /// What became of so many spans.
    pub fn spans(&self, result: &'static str, count: usize) {
        let spans = self.spans.get_or_create(&ResultLabels { result });
        spans.inc_by(count as u64);
    }

    /// What became of so many entries for collectors of logs.
    pub(crate) fn logs(&self, result: &'static str, count: usize) {
        let logs = self.logs.get_or_create(&ResultLabels { result });
        logs.inc_by(count as u64);
    }

    /// More or fewer machines are in a phase.
    pub(crate) fn in_phase(&self, phase: &'static str, more: i64) {
        let labels = PhaseLabels { phase };
        self.machines.get_or_create(&labels).inc_by(more);
    }

    /// A machine left a phase.
    pub(crate) fn left_phase(&self, phase: &'static str, after: f64) {
        let labels = PhaseLabels { phase };
        self.phase_seconds.get_or_create(&labels).observe(after);
    }

    /// What a namespace has of one resource, and how much it may have, if there is a limit.
    pub(crate) fn quota(
        &self,
        namespace: &str,
        resource: &'static str,
        used: u64,
        limit: Option<u64>,
    ) {
        let labels = QuotaLabels {
            namespace: namespace.to_owned(),
            resource,
        };
        let Some(limit) = limit else {
            self.quota_used.remove(&labels);
            self.quota_limit.remove(&labels);
            return;
        };
        let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.quota_used.get_or_create(&labels).set(whole(used));
        self.quota_limit.get_or_create(&labels).set(whole(limit));
    }

    pub(crate) fn reconciled(&self, controller: &'static str, ok: bool, took: Duration) {
        let result = if ok { "success" } else { "error" };
        self.reconciles
            .get_or_create(&ReconcileLabels { controller, result })
            .inc();
        self.reconcile_seconds
            .get_or_create(&ControllerLabels { controller })
            .observe(took.as_secs_f64());
    }

    pub(crate) fn called(
        &self,
        provider: &str,
        call: &'static str,
        result: &'static str,
        took: Duration,
    ) {
        let provider = provider.to_owned();
        self.provider_calls
            .get_or_create(&CallLabels {
                provider,
                call,
                result,
            })
            .observe(took.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_was_counted() {
        let metrics = Metrics::default();
        metrics.reconciled("machine", true, Duration::from_millis(3));
        metrics.called("default/local", "create", "ok", Duration::from_secs(2));
        metrics.quota("prod", "machines", 3, Some(10));
        metrics.quota("prod", "networks", 1, Some(2));
        metrics.quota("prod", "networks", 1, None);
        let text = metrics.encode();
        let quota = r#"machinist_quota_limit{namespace="prod",resource="machines"} 10"#;
        assert!(text.contains(quota), "{text}");
        assert!(!text.contains(r#"resource="networks""#), "{text}");
        let line = r#"controller_runtime_reconcile_total{controller="machine",result="success"} 1"#;
        assert!(text.contains(line), "{text}");
        assert!(text.contains(r#"call="create",result="ok""#), "{text}");
    }
}
