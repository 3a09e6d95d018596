//! Watches that are told together: whatever their connections do meanwhile, each gets every event, once,
//! in order, in whole chunks, and ends as one that is told alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::time::Duration;

use common::tls::Served;
use common::{PATIENCE, WIDGETS, ok, server, server_on, watch, widget};
use futures::future::join_all;
use machinist_apiserver::{ApiServer, Store};
use machinist_store::Options;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A watch over HTTP/1.1, read byte by byte.
struct Wire {
    stream: TlsStream<TcpStream>,
    /// What came and was not used.
    raw: Vec<u8>,
    /// What the chunks hold and was not used.
    body: Vec<u8>,
    ended: bool,
}

impl Wire {
    async fn open(served: &Served, query: &str) -> Self {
        let mut wire = Self {
            stream: served.connect(&["http/1.1"]).await,
            raw: Vec::new(),
            body: Vec::new(),
            ended: false,
        };
        wire.ask(&format!("{WIDGETS}?watch=true{query}")).await;
        let head = wire.head().await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.contains("transfer-encoding: chunked"), "{head}");
        wire
    }

    async fn ask(&mut self, path: &str) {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    async fn head(&mut self) -> String {
        loop {
            let end = self.raw.windows(4).position(|bytes| bytes == b"\r\n\r\n");
            if let Some(end) = end {
                let head: Vec<u8> = self.raw.drain(..end + 4).collect();
                return String::from_utf8(head).unwrap();
            }
            self.more().await;
        }
    }

    async fn more(&mut self) {
        let read = self.stream.read_buf(&mut self.raw);
        let read = tokio::time::timeout(PATIENCE, read).await;
        let size = read.expect("something comes in time").unwrap();
        assert!(size > 0, "the connection ended");
    }

    /// Up to the end of a line of the framing, which is all there is between chunks.
    async fn framing(&mut self) -> String {
        loop {
            if let Some(end) = self.raw.windows(2).position(|bytes| bytes == b"\r\n") {
                let line: Vec<u8> = self.raw.drain(..end + 2).collect();
                return String::from_utf8(line).unwrap().trim_end().to_owned();
            }
            assert!(self.raw.len() < 32, "no framing: {:?}", self.raw);
            self.more().await;
        }
    }

    /// The next event, or nothing when the body has ended.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.body.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.body.drain(..=end).collect();
                return Some(serde_json::from_slice(&line).unwrap());
            }
            if self.ended {
                assert!(self.body.is_empty(), "half an event at the end");
                return None;
            }
            let size = self.framing().await;
            let size = usize::from_str_radix(&size, 16).expect("the size of a chunk");
            while self.raw.len() < size + 2 {
                self.more().await;
            }
            self.body.extend(self.raw.drain(..size));
            assert_eq!(self.framing().await, "", "after a chunk");
            self.ended = size == 0;
        }
    }

    /// The next events, as type and revision.
    async fn events(&mut self, count: usize) -> Vec<String> {
        let mut events = Vec::with_capacity(count);
        for _ in 0..count {
            events.push(shown(&self.next().await.expect("the watch goes on")));
        }
        events
    }
}

fn shown(event: &Value) -> String {
    let metadata = &event["object"]["metadata"];
    format!(
        "{} {} {}",
        event["type"], metadata["name"], metadata["resourceVersion"]
    )
}

async fn revision(server: &ApiServer) -> String {
    let list = ok(server, &format!("GET {WIDGETS}"), None).await;
    list["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// Changes a widget, so that an event about it has at least so many bytes.
async fn change(server: &ApiServer, name: &str, size: usize) {
    let (id, filler) = (uuid::Uuid::new_v4().to_string(), "n".repeat(size));
    let body = json!({"metadata": {"annotations": {"id": id, "filler": filler}}});
    ok(
        server,
        &format!("PATCH+merge {WIDGETS}/{name}"),
        Some(&body),
    )
    .await;
}

/// How many pieces of events were sent this way.
async fn deliveries(served: &Served, way: &str) -> u64 {
    let request = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let metrics = served.exchange(request).await;
    let name = format!("machinist_apiserver_watch_deliveries_total{{way=\"{way}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
    line.expect("the counter").trim().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_is_told_everything_once_and_in_order() {
    const WRITES: usize = 60;
    let server = server().await;
    let served = Served::start(&server).await;
    let names = ["a", "b", "c", "d"];
    for name in names {
        ok(&server, &format!("POST {WIDGETS}"), Some(&widget(name))).await;
    }
    let from = revision(&server).await;
    let after = format!("&resourceVersion={from}");
    // One that is within the process is told alone, and is what the others are held against.
    let mut alone = watch(&server, &format!("GET {WIDGETS}?watch=true{after}")).await;
    let mut eager = Vec::new();
    for _ in 0..80 {
        eager.push(Wire::open(&served, &after).await);
    }
    let mut sleepy = Vec::new();
    for _ in 0..4 {
        sleepy.push(Wire::open(&served, &after).await);
    }
    let total = WRITES * names.len();
    let reading = tokio::spawn(join_all(
        eager
            .into_iter()
            .map(|mut wire| async move { wire.events(total).await }),
    ));
    let writing = names.map(|name| {
        let server = server.clone();
        tokio::spawn(async move {
            for n in 0..WRITES {
                // Some are too large to be sent together, and all are more than sockets hold.
                change(&server, name, [100, 9_000, 40_000, 24_000][n % 4]).await;
            }
        })
    });
    // Others come in the middle of it all.
    let mut late = Vec::new();
    for _ in 0..20 {
        late.push(Wire::open(&served, &after).await);
    }
    for written in writing {
        written.await.unwrap();
    }
    let mut expected = Vec::new();
    for _ in 0..total {
        expected.push(shown(&alone.next().await.unwrap()));
    }
    for told in reading.await.unwrap() {
        assert_eq!(told, expected, "eager");
    }
    for wire in &mut late {
        assert_eq!(wire.events(total).await, expected, "late");
    }
    for wire in &mut sleepy {
        assert_eq!(wire.events(total).await, expected, "sleepy");
    }
    assert!(deliveries(&served, "together").await > 0);
    // Once all have caught up, all are told together again.
    let (mut together, mut before) = (0, 0);
    for n in 0..50 {
        before = deliveries(&served, "together").await;
        change(&server, "a", n).await;
        let last = shown(&alone.next().await.unwrap());
        for wire in late.iter_mut().chain(&mut sleepy) {
            assert_eq!(wire.events(1).await, std::slice::from_ref(&last));
        }
        together = deliveries(&served, "together").await - before;
        if together == 24 {
            break;
        }
    }
    assert_eq!(together, 24, "before: {before}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_says_how_far_it_came_ends_and_leaves_its_connection_usable() {
    let server = server().await;
    let served = Served::start(&server).await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("a"))).await;
    let query = format!(
        "&resourceVersion={}&allowWatchBookmarks=true&timeoutSeconds=2",
        revision(&server).await
    );
    let mut wires = join_all((0..5).map(|_| Wire::open(&served, &query))).await;
    change(&server, "a", 1).await;
    for wire in &mut wires {
        assert!(shown(&wire.next().await.unwrap()).starts_with("\"MODIFIED\""));
        // Asked already while the watch goes on.
        wire.ask("/readyz").await;
    }
    // Not of interest to the watches, and yet they are further after it.
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    let map = ok(
        &server,
        "POST /api/v1/namespaces/default/configmaps",
        Some(&map),
    )
    .await;
    let newest: u64 = map["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    for wire in &mut wires {
        let last = wire.next().await.expect("a bookmark");
        assert_eq!(last["type"], "BOOKMARK");
        let said: u64 = last["object"]["metadata"]["resourceVersion"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        assert!(said >= newest, "{said} is behind {newest}");
        assert!(wire.next().await.is_none());
        let head = wire.head().await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_write_does_not_make_a_quiet_watch_old() {
    let options = Options {
        keep_events: 50,
        ..Options::default()
    };
    let server = server_on(Store::memory_with(options)).await;
    let served = Served::start(&server).await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("a"))).await;
    let query = format!("&resourceVersion={}", revision(&server).await);
    let mut wires = join_all((0..3).map(|_| Wire::open(&served, &query))).await;
    for n in 0..200 {
        let map =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("m{n}")}});
        ok(
            &server,
            "POST /api/v1/namespaces/default/configmaps",
            Some(&map),
        )
        .await;
    }
    // Too large to be told together: each goes on by itself, from where the others brought it.
    change(&server, "a", 50_000).await;
    change(&server, "a", 1).await;
    for wire in &mut wires {
        for _ in 0..2 {
            assert!(shown(&wire.next().await.unwrap()).starts_with("\"MODIFIED\" \"a\""));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_goes_takes_its_watches_with_it_and_who_left_is_forgotten() {
    let server = server().await;
    let served = Served::start(&server).await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("a"))).await;
    let query = format!("&resourceVersion={}", revision(&server).await);
    let mut wires = join_all((0..70).map(|_| Wire::open(&served, &query))).await;
    // Most hang up, some of them with an event unread.
    change(&server, "a", 1).await;
    wires.truncate(3);
    change(&server, "a", 2).await;
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io";
    ok(&server, &format!("DELETE {definition}"), None).await;
    for wire in &mut wires {
        let mut types = Vec::new();
        while let Some(event) = wire.next().await {
            types.push(event["type"].as_str().unwrap().to_owned());
        }
        assert_eq!(types, ["MODIFIED", "MODIFIED", "DELETED"]);
    }
    let none = "apiserver_longrunning_requests{verb=\"WATCH\"} 0\n";
    let wait = async {
        while !call_metrics(&server).await.contains(none) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait)
        .await
        .expect("no watch is left");
}

async fn call_metrics(server: &ApiServer) -> String {
    let response = common::send(server, common::request("GET /metrics", None)).await;
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX)
        .await
        .unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_client_gets_no_chunks() {
    let server = server().await;
    let served = Served::start(&server).await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("a"))).await;
    let mut stream = served.connect(&["http/1.1"]).await;
    let path = format!("{WIDGETS}?watch=true&timeoutSeconds=1");
    let request = format!("GET {path} HTTP/1.0\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut begun = Vec::new();
    while !begun.ends_with(b"}\n") {
        assert!(stream.read_buf(&mut begun).await.unwrap() > 0, "no event");
    }
    change(&server, "a", 1).await;
    let answer = String::from_utf8(begun).unwrap() + &common::tls::rest(&mut stream).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(!head.contains("chunked"), "{head}");
    for line in body.lines() {
        serde_json::from_str::<Value>(line).expect("events and nothing else");
    }
    assert_eq!(body.lines().count(), 2, "{body}");
}
