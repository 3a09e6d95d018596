//! Traces by OpenTelemetry's protocol, for whoever asks for them; off otherwise.
//!
//! What is traced is the engine's and the webhooks' business (`machinist_engine::trace`); here
//! flags and environment are read, and spans are sent.

mod encode;
mod export;
mod settings;

use std::time::Duration;

use machinist_engine::{Metrics, trace::Tracer};
use reqwest::{Client, redirect};
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{
    cli,
    failure::{self, Outcome},
};
use export::Exporter;
use settings::Settings;

/// How long what was not sent yet may hold up the end.
const FAREWELL: Duration = Duration::from_secs(3);

/// What sends traces, if anything does.
#[derive(Default)]
pub(crate) struct Telemetry {
    /// Begins spans.
    pub(crate) tracer: Tracer,
    exporting: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Telemetry {
    /// Starts what flag and environment ask for.
    pub(crate) fn start(flags: &cli::Tracing, metrics: &Metrics) -> Outcome<Telemetry> {
        let variable = |name: &str| std::env::var(name).ok();
        let settings = Settings::read(flags.otlp_endpoint.as_deref(), &variable)
            .map_err(|e| failure::configuration("traces cannot be sent", e))?;
        let Some(settings) = settings else {
            return Ok(Telemetry::default());
        };
        let client = Client::builder()
            .user_agent(concat!("machinist/", env!("CARGO_PKG_VERSION")))
            // A header may be a secret, and is for the collector alone.
            .redirect(redirect::Policy::none())
            .timeout(settings.timeout)
            .build()
            .map_err(|e| failure::configuration("could not make a client for traces", e))?;
        let (tracer, spans) = Tracer::new(settings.sampler, settings.queue, metrics.clone());
        let (stop, stopped) = oneshot::channel();
        tracing::info!(endpoint = %settings.endpoint, "traces are sent");
        let exporter = Exporter {
            settings,
            client,
            metrics: metrics.clone(),
            silent: false,
        };
        let task = tokio::spawn(exporter.run(spans, stopped));
        Ok(Telemetry {
            tracer,
            exporting: Some((stop, task)),
        })
    }

    /// Sends what is left, for as long as that is no nuisance.
    pub(crate) async fn stop(self) {
        let Some((stop, task)) = self.exporting else {
            return;
        };
        let _ = stop.send(());
        let ending = task.abort_handle();
        if tokio::time::timeout(FAREWELL, task).await.is_err() {
            ending.abort();
        }
    }
}
