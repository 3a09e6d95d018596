//! Takes spans from the queue, and sends them to a collector in batches.
//!
//! It runs beside everything else and nothing waits for it. A collector that cannot be reached is
//! tried again for a while; what is given up is counted.

use std::{io::Write, time::Duration};

use axum::http::{
    StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER},
};
use flate2::{Compression, write::GzEncoder};
use machinist_engine::{Metrics, trace::Span};
use reqwest::Client;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::{
    encode,
    settings::{Encoding, Settings},
};

/// How often a batch is tried, with twice as long a wait each time.
const ATTEMPTS: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

pub(super) struct Exporter {
    pub(super) settings: Settings,
    pub(super) client: Client,
    pub(super) metrics: Metrics,
    /// Whether the last batch was refused: that is said once.
    pub(super) silent: bool,
}

/// Why a batch did not arrive.
struct Refusal {
    why: String,
    /// How long to wait before it is worth another try; never, when it is not.
    wait: Option<Duration>,
}

impl Exporter {
    /// Sends spans until it is told to stop; then what is left, once.
    pub(super) async fn run(
        mut self,
        mut spans: mpsc::Receiver<Span>,
        mut stop: oneshot::Receiver<()>,
    ) {
        loop {
            let mut batch = Vec::new();
            let stopped = tokio::select! {
                () = self.gather(&mut spans, &mut batch) => false,
                _ = &mut stop => true,
            };
            if stopped {
                spans.close();
                while spans.recv_many(&mut batch, usize::MAX).await > 0 {}
                for part in batch.chunks(self.settings.batch) {
                    let sent = self.send(part).await;
                    self.told(sent, part.len());
                }
                return;
            }
            let outcome = tokio::select! {
                outcome = self.insist(&batch) => outcome,
                // The try that was under way is given up, and made once more with the rest.
                _ = &mut stop => {
                    spans.close();
                    while spans.recv_many(&mut batch, usize::MAX).await > 0 {}
                    self.send(&batch).await
                }
            };
            self.told(outcome, batch.len());
            if spans.is_closed() {
                return;
            }
        }
    }

    /// Waits for a span, and then for others to go with it.
    async fn gather(&self, spans: &mut mpsc::Receiver<Span>, batch: &mut Vec<Span>) {
        let full = self.settings.batch;
        if spans.recv_many(batch, full).await == 0 {
            return std::future::pending().await;
        }
        let due = Instant::now() + self.settings.delay;
        while batch.len() < full {
            let room = full - batch.len();
            let more = tokio::time::timeout_at(due, spans.recv_many(batch, room)).await;
            if !matches!(more, Ok(1..)) {
                return;
            }
        }
    }

    /// Sends a batch, again and again while there is hope.
    async fn insist(&self, batch: &[Span]) -> Result<(), Refusal> {
        let mut wait = FIRST_WAIT;
        let mut attempt = 1;
        loop {
            let refusal = match self.send(batch).await {
                Ok(()) => return Ok(()),
                Err(refusal) => refusal,
            };
            let Some(asked) = refusal.wait.filter(|_| attempt < ATTEMPTS) else {
                return Err(refusal);
            };
            tokio::time::sleep(wait.max(asked).min(LONGEST_WAIT)).await;
            wait *= 2;
            attempt += 1;
        }
    }

    async fn send(&self, batch: &[Span]) -> Result<(), Refusal> {
        let settings = &self.settings;
        let (kind, mut body) = match settings.encoding {
            Encoding::Protobuf => (
                "application/x-protobuf",
                encode::protobuf(&settings.resource, batch),
            ),
            Encoding::Json => ("application/json", encode::json(&settings.resource, batch)),
        };
        let mut request = self.client.post(settings.endpoint.clone());
        if settings.gzip {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            // Writing to memory cannot fail; if it ever did, the body goes as it is.
            if let Ok(packed) = packer.write_all(&body).and_then(|()| packer.finish()) {
                body = packed;
                request = request.header(CONTENT_ENCODING, "gzip");
            }
        }
        let request = request
            .headers(settings.headers.clone())
            .header(CONTENT_TYPE, kind)
            .body(body);
        let answer = request.send().await.map_err(|error| Refusal {
            why: said(&error.without_url()),
            wait: Some(Duration::ZERO),
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let asked = answer.headers().get(RETRY_AFTER);
        let asked = asked.and_then(|value| value.to_str().ok()?.parse().ok());
        // These four, by the protocol; any other answer would be the same again.
        let again = matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT
        );
        Err(Refusal {
            why: format!("it answered {status}"),
            wait: again.then(|| Duration::from_secs(asked.unwrap_or_default())),
        })
    }

    fn told(&mut self, outcome: Result<(), Refusal>, count: usize) {
        let endpoint = &self.settings.endpoint;
        match outcome {
            Ok(()) => {
                self.metrics.spans("sent", count);
                if std::mem::take(&mut self.silent) {
                    tracing::warn!(%endpoint, "the collector takes traces again");
                }
            }
            Err(Refusal { why, .. }) => {
                self.metrics.spans("refused", count);
                if !std::mem::replace(&mut self.silent, true) {
                    tracing::warn!(%endpoint, why, "the collector does not take traces; they are dropped until it does");
                }
            }
        }
    }
}

/// An error and what it came from, in one line.
fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
