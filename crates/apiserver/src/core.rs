//! What every part of the server shares: the store, the registry, the counters, the stop signal.

use std::sync::Arc;

use machinist_store::Store;
use tokio::sync::watch;

use crate::admission::Admission;
use crate::audit::Auditor;
use crate::auth::SigningKey;
use crate::auth::rbac::Rbac;
use crate::guard::{Gate, Limits};
use crate::metrics::Metrics;
use crate::registry::Registry;
use crate::watch::{Lines, Rooms};

/// Text for `/metrics` from the program around the server.
pub type ExtraMetrics = Arc<dyn Fn() -> String + Send + Sync>;

/// Says when the way by which a request came is about to close.
#[derive(Debug, Clone)]
pub(crate) struct Closing(pub(crate) watch::Receiver<bool>);

impl Closing {
    /// Resolves when it closes.
    pub(crate) async fn closed(mut self) {
        // A listener that is gone has closed as well.
        let _ = self.0.wait_for(|closing| *closing).await;
    }

    /// Whether it has closed.
    pub(crate) fn is_closed(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }
}

/// The shared state of one server.
pub(crate) struct Core {
    pub(crate) store: Store,
    pub(crate) registry: Registry,
    pub(crate) metrics: Metrics,
    pub(crate) admission: Admission,
    /// What watches have told lately.
    pub(crate) lines: Lines,
    /// Watches that are told the same.
    pub(crate) rooms: Rooms,
    pub(crate) gate: Gate,
    /// The version of the program, such as `0.1.0`.
    pub(crate) version: String,
    pub(crate) extra_metrics: Option<ExtraMetrics>,
    /// Where requests are written down, if anywhere.
    pub(crate) audit: Option<Auditor>,
    /// What signs the tokens of ServiceAccounts.
    pub(crate) signing_key: SigningKey,
    /// Who may do what.
    pub(crate) rbac: Rbac,
    /// The certificate of the authority that vouches for this server, once it is served over TLS.
    pub(crate) authority: watch::Sender<Option<String>>,
    stop: watch::Sender<bool>,
}

impl Core {
    /// The state of a server that was just started.
    pub(crate) fn new(
        store: Store,
        registry: Registry,
        version: String,
        extra_metrics: Option<ExtraMetrics>,
        signing_key: SigningKey,
        audit: Option<Auditor>,
        limits: Limits,
    ) -> Self {
        let metrics = Metrics::default();
        Self {
            store,
            registry,
            metrics,
            admission: Admission::default(),
            lines: Lines::default(),
            rooms: Rooms::default(),
            gate: Gate::new(limits),
            version,
            extra_metrics,
            audit,
            signing_key,
            rbac: Rbac::default(),
            authority: watch::Sender::new(None),
            stop: watch::Sender::new(false),
        }
    }

    /// The same with another way to reach webhooks.
    pub(crate) fn asking(self, admission: Admission) -> Self {
        Self { admission, ..self }
    }

    /// Tells every stream and connection to end.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
        self.registry.nudge();
    }

    /// Whether the server is to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Resolves when the server is to stop.
    pub(crate) fn stopped(&self) -> impl Future<Output = ()> + Send + 'static {
        Closing(self.stop.subscribe()).closed()
    }
}
