//! Takes spans from the queue, and sends them to a collector in batches.
//!
//! It runs beside everything else and nothing waits for it. A collector that cannot be reached is
//! tried again for a while; what is given up is counted.

use machinist_engine::{Metrics, trace::Span};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

use super::{
    encode,
    post::{Batch, Post, Refusal},
    settings::{Encoding, Settings},
};

pub(super) struct Exporter {
    pub(super) settings: Settings,
    pub(super) post: Post,
    pub(super) metrics: Metrics,
    /// Whether the last batch was refused: that is said once.
    pub(super) silent: bool,
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
                    let sent = self.post.send(&self.write(part)).await;
                    self.told(sent, part.len());
                }
                return;
            }
            let written = self.write(&batch);
            let outcome = tokio::select! {
                outcome = self.post.insist(&written) => outcome,
                // The try that was under way is given up, and made once more with the rest.
                _ = &mut stop => {
                    spans.close();
                    while spans.recv_many(&mut batch, usize::MAX).await > 0 {}
                    self.post.send(&self.write(&batch)).await
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

    fn write(&self, batch: &[Span]) -> Batch {
        let resource = &self.settings.resource;
        match self.settings.encoding {
            Encoding::Protobuf => (encode::PROTOBUF, encode::spans::protobuf(resource, batch)),
            Encoding::Json => ("application/json", encode::spans::json(resource, batch)),
        }
    }

    fn told(&mut self, outcome: Result<(), Refusal>, count: usize) {
        let endpoint = &self.post.endpoint;
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
