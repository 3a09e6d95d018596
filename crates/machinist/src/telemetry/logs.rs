//! Brings what the engine tells for collectors of logs to each of them, in batches.
//!
//! Every endpoint has a lane of its own, so that a collector that does not answer holds up nobody
//! else's logs; what does not fit into its lane is dropped and counted.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::http::HeaderMap;
use machinist_engine::journal::{Entry, Journal, Letter};
use machinist_providers::{Reach, shared::http};
use reqwest::{Url, redirect};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::timeout,
};

use super::{
    encode,
    post::{Post, said},
};

/// How many entries wait for all lanes together, and in each of them.
pub(super) const QUEUE: usize = 2048;
/// How many entries go at once.
const BATCH: usize = 512;
/// How long entries wait for others to go with.
const DELAY: Duration = Duration::from_secs(1);
/// How long a collector may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// A lane that nobody used for so long ends.
const IDLE: Duration = Duration::from_secs(600);
/// Where a collector takes logs, by the protocol.
const PATH: &str = "/v1/logs";

/// Everybody who brings entries somewhere.
pub(super) struct Couriers {
    journal: Journal,
    /// What the entries are about: this program, where and as what it runs.
    resource: Arc<[(String, String)]>,
    lanes: HashMap<Arc<str>, mpsc::Sender<Entry>>,
    working: JoinSet<()>,
}

impl Couriers {
    pub(super) fn new(journal: Journal, resource: Vec<(String, String)>) -> Couriers {
        Couriers {
            journal,
            resource: resource.into(),
            lanes: HashMap::new(),
            working: JoinSet::new(),
        }
    }

    /// Takes letters until it is told to stop; then brings what is left.
    pub(super) async fn run(
        mut self,
        mut letters: mpsc::Receiver<Letter>,
        mut stop: oneshot::Receiver<()>,
    ) {
        loop {
            tokio::select! {
                letter = letters.recv() => match letter {
                    Some(letter) => self.hand(letter),
                    None => break,
                },
                Some(_) = self.working.join_next() => {
                    self.lanes.retain(|_, lane| !lane.is_closed());
                }
                _ = &mut stop => break,
            }
        }
        letters.close();
        while let Some(letter) = letters.recv().await {
            self.hand(letter);
        }
        self.lanes.clear();
        while self.working.join_next().await.is_some() {}
    }

    fn hand(&mut self, Letter { endpoint, entry }: Letter) {
        let lane = match self.lanes.get(&endpoint) {
            Some(lane) if !lane.is_closed() => lane.clone(),
            _ => self.open(endpoint),
        };
        if lane.try_send(entry).is_err() {
            self.journal.dropped(1);
        }
    }

    fn open(&mut self, endpoint: Arc<str>) -> mpsc::Sender<Entry> {
        let (sender, entries) = mpsc::channel(QUEUE);
        let lane = Lane {
            endpoint: endpoint.clone(),
            journal: self.journal.clone(),
            resource: self.resource.clone(),
        };
        self.working.spawn(lane.run(entries));
        self.lanes.insert(endpoint, sender.clone());
        sender
    }
}

/// The way to one endpoint.
struct Lane {
    endpoint: Arc<str>,
    journal: Journal,
    resource: Arc<[(String, String)]>,
}

impl Lane {
    async fn run(self, mut entries: mpsc::Receiver<Entry>) {
        let post = post(&self.endpoint);
        let mut batch = Vec::new();
        while let Ok(1..) = timeout(IDLE, entries.recv_many(&mut batch, BATCH)).await {
            let outcome = match &post {
                Ok(post) => {
                    // Most come in company.
                    let more = timeout(DELAY, fill(&mut entries, &mut batch));
                    let _ = more.await;
                    let body = encode::logs::protobuf(&self.resource, &batch);
                    let sent = post.insist(&(encode::PROTOBUF, body)).await;
                    sent.map_err(|refusal| refusal.why)
                }
                Err(why) => Err(why.clone()),
            };
            self.journal.fared(&self.endpoint, outcome, batch.len());
            batch.clear();
        }
    }
}

/// Takes entries until the batch is full or no more can come.
async fn fill(entries: &mut mpsc::Receiver<Entry>, batch: &mut Vec<Entry>) {
    while batch.len() < BATCH {
        let room = BATCH - batch.len();
        if entries.recv_many(batch, room).await == 0 {
            return;
        }
    }
}

/// The way to an endpoint; or why there is none.
fn post(endpoint: &str) -> Result<Post, String> {
    let url = Url::parse(endpoint).ok();
    let url = url.filter(|url| url.has_host() && matches!(url.scheme(), "http" | "https"));
    let Some(mut url) = url else {
        return Err("it is not a URL that begins with http:// or https://".to_owned());
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err("it has a user or a password, which do not belong into a URL".to_owned());
    }
    http::check(&url, Reach::Usual).map_err(|_| super::post::FORBIDDEN.to_owned())?;
    if url.path() == "/" {
        url.set_path(PATH);
    }
    let client = http::builder(Reach::Usual)
        .redirect(redirect::Policy::none())
        .timeout(PATIENCE)
        .build()
        .map_err(|error| said(&error))?;
    Ok(Post {
        client,
        endpoint: url,
        headers: HeaderMap::new(),
        gzip: true,
    })
}

#[cfg(test)]
mod tests {
    use machinist_engine::Metrics;

    use super::*;

    #[test]
    fn an_endpoint_is_a_url_of_a_place_that_may_be_told() {
        let path = |endpoint: &str| post(endpoint).map(|post| post.endpoint.to_string());
        let usual = path("http://collector.example.com:4318");
        assert_eq!(
            usual.as_deref(),
            Ok("http://collector.example.com:4318/v1/logs")
        );
        let own = path("https://loki.example.com/otlp/v1/logs");
        assert_eq!(own.as_deref(), Ok("https://loki.example.com/otlp/v1/logs"));
        for (endpoint, word) in [
            ("loki.example.com:3100", "http://"),
            ("", "http://"),
            ("ftp://logs.example.com", "http://"),
            ("https://me:secret@logs.example.com", "password"),
            ("http://169.254.169.254/latest", "link-local"),
            ("http://metadata.google.internal", "link-local"),
        ] {
            let why = path(endpoint).expect_err(endpoint);
            assert!(
                why.contains(word) && !why.contains("secret"),
                "{endpoint}: {why}"
            );
        }
    }

    #[tokio::test]
    async fn what_was_told_before_the_end_is_still_brought() {
        // Which of several things that are ready comes first is chance.
        for _ in 0..32 {
            let metrics = Metrics::default();
            let (journal, _) = Journal::new(1, metrics.clone());
            let (letters, waiting) = mpsc::channel(1);
            let letter = Letter {
                endpoint: "nowhere".into(),
                entry: entry(),
            };
            letters.try_send(letter).unwrap();
            let (stop, stopped) = oneshot::channel();
            stop.send(()).unwrap();
            let couriers = Couriers::new(journal, Vec::new());
            tokio::spawn(couriers.run(waiting, stopped)).await.unwrap();
            let told = metrics.encode();
            assert!(
                told.contains("machinist_log_entries_total{result=\"refused\"} 1"),
                "{told}"
            );
        }
    }

    fn entry() -> Entry {
        Entry {
            at: jiff::Timestamp::UNIX_EPOCH,
            warning: false,
            kind: "Machine".to_owned(),
            namespace: "default".to_owned(),
            name: "web".to_owned(),
            uid: "u".to_owned(),
            reason: "Created".to_owned(),
            action: None,
            note: "It was made.".to_owned(),
            trace: None,
        }
    }
}
