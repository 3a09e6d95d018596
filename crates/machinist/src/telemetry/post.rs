//! Sends batches to a collector over HTTP: once, or again and again while there is hope.

use std::{io::Write, time::Duration};

use axum::http::{
    HeaderMap, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER},
};
use flate2::{Compression, write::GzEncoder};
use machinist_providers::shared::http::forbidden;
use reqwest::{Client, Url};

/// How often a batch is tried, with twice as long a wait each time.
const ATTEMPTS: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Why something is sent to no such place.
pub(super) const FORBIDDEN: &str =
    "it is, or leads to, a link-local address or a metadata service, which are told nothing";

/// A way to a collector.
pub(super) struct Post {
    pub(super) client: Client,
    pub(super) endpoint: Url,
    pub(super) headers: HeaderMap,
    pub(super) gzip: bool,
}

/// Why a batch did not arrive.
pub(super) struct Refusal {
    pub(super) why: String,
    /// How long to wait before it is worth another try; never, when it is not.
    wait: Option<Duration>,
}

/// A batch as it is sent: its media type and its bytes.
pub(super) type Batch = (&'static str, Vec<u8>);

impl Post {
    /// Sends a batch, again and again while there is hope.
    pub(super) async fn insist(&self, batch: &Batch) -> Result<(), Refusal> {
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

    /// Sends a batch once.
    pub(super) async fn send(&self, (kind, body): &Batch) -> Result<(), Refusal> {
        let mut request = self.client.post(self.endpoint.clone());
        let mut body = body.clone();
        if self.gzip {
            let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
            // Writing to memory cannot fail; if it ever did, the body goes as it is.
            if let Ok(packed) = packer.write_all(&body).and_then(|()| packer.finish()) {
                body = packed;
                request = request.header(CONTENT_ENCODING, "gzip");
            }
        }
        let request = request
            .headers(self.headers.clone())
            .header(CONTENT_TYPE, *kind)
            .body(body);
        let answer = request
            .send()
            .await
            .map_err(|error| match forbidden(&error) {
                Some(_) => Refusal {
                    why: FORBIDDEN.to_owned(),
                    wait: None,
                },
                None => Refusal {
                    why: said(&error.without_url()),
                    wait: Some(Duration::ZERO),
                },
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
}

/// An error and what it came from, in one line.
pub(super) fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
