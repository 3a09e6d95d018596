//! Traces and logs by OpenTelemetry's protocol, for whoever asks for them; off otherwise.
//!
//! What is traced is the engine's and the webhooks' business (`machinist_engine::trace`), and what is
//! told to collectors of logs the engine's (`machinist_engine::journal`); here flags and environment are
//! read, and spans and entries are sent.

mod encode;
mod logs;
mod post;
mod settings;
mod spans;

use std::time::Duration;

use machinist_engine::{Metrics, journal::Journal, trace::Tracer};
use reqwest::{Client, redirect};
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{
    cli,
    failure::{self, Outcome},
};
use logs::Couriers;
use post::Post;
use settings::Settings;
use spans::Exporter;

/// How long what was not sent yet may hold up the end.
const FAREWELL: Duration = Duration::from_secs(3);

/// What sends traces, if anything does, and logs for the Vitistacks that have them collected.
pub(crate) struct Telemetry {
    /// Begins spans.
    pub(crate) tracer: Tracer,
    /// Takes what is told to collectors of logs.
    pub(crate) journal: Journal,
    sending: Vec<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Telemetry {
    /// Starts what flag and environment ask for.
    pub(crate) fn start(flags: &cli::Tracing, metrics: &Metrics) -> Outcome<Telemetry> {
        let variable = |name: &str| std::env::var(name).ok();
        let settings = Settings::read(flags.otlp_endpoint.as_deref(), &variable)
            .map_err(|e| failure::configuration("traces cannot be sent", e))?;
        // Whoever did not ask for traces is not held up by what is said of them.
        let resource = match &settings {
            Some(settings) => settings.resource.clone(),
            None => settings::resource(&variable)
                .or_else(|_| settings::resource(&|_| None))
                .unwrap_or_default(),
        };
        let (journal, letters) = Journal::new(logs::QUEUE, metrics.clone());
        let (stop, stopped) = oneshot::channel();
        let couriers = Couriers::new(journal.clone(), resource);
        let mut telemetry = Telemetry {
            tracer: Tracer::default(),
            journal,
            sending: vec![(stop, tokio::spawn(couriers.run(letters, stopped)))],
        };
        if let Some(settings) = settings {
            telemetry.trace(settings, metrics)?;
        }
        Ok(telemetry)
    }

    fn trace(&mut self, settings: Settings, metrics: &Metrics) -> Outcome {
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
            post: Post {
                client,
                endpoint: settings.endpoint.clone(),
                headers: settings.headers.clone(),
                gzip: settings.gzip,
            },
            settings,
            metrics: metrics.clone(),
            silent: false,
        };
        let task = tokio::spawn(exporter.run(spans, stopped));
        self.tracer = tracer;
        self.sending.push((stop, task));
        Ok(())
    }

    /// Sends what is left, for as long as that is no nuisance.
    pub(crate) async fn stop(self) {
        let tasks = self.sending.into_iter().map(|(stop, task)| {
            let _ = stop.send(());
            let ending = task.abort_handle();
            async move {
                if tokio::time::timeout(FAREWELL, task).await.is_err() {
                    ending.abort();
                }
            }
        });
        futures::future::join_all(tasks).await;
    }
}
