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
use common::wire::{Protocol, Wire, shown};
use common::{PATIENCE, WIDGETS, ok, revision, server, server_on, watch, widget};
use futures::future::join_all;
use machinist_apiserver::{ApiServer, Store};
use machinist_store::Options;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

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
async fn everybody_is_told_everything_once_and_in_order_over_http_1() {
    everybody_is_told_everything_once_and_in_order(Protocol::Http1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_is_told_everything_once_and_in_order_over_http_2() {
    everybody_is_told_everything_once_and_in_order(Protocol::Http2).await;
}

async fn everybody_is_told_everything_once_and_in_order(protocol: Protocol) {
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
        eager.push(Wire::open(&served, protocol, &after).await);
    }
    let mut sleepy = Vec::new();
    for _ in 0..4 {
        sleepy.push(Wire::open(&served, protocol, &after).await);
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
        late.push(Wire::open(&served, protocol, &after).await);
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
    let sent_together = deliveries(&served, "together").await;
    match protocol {
        Protocol::Http1 => assert!(sent_together > 0),
        // Whoever sends past the HTTP machinery would have to keep account of windows, which it keeps.
        Protocol::Http2 => return assert_eq!(sent_together, 0),
    }
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
    let (one, two) = (Protocol::Http1, Protocol::Http2);
    tokio::join!(says_how_far_it_came(one), says_how_far_it_came(two));
}

async fn says_how_far_it_came(protocol: Protocol) {
    let server = server().await;
    let served = Served::start(&server).await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("a"))).await;
    // Long enough for what has to happen before the end, on a busy machine too.
    let query = format!(
        "&resourceVersion={}&allowWatchBookmarks=true&timeoutSeconds=12",
        revision(&server).await
    );
    let mut wires = join_all((0..5).map(|_| Wire::open(&served, protocol, &query))).await;
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
        assert!(wire.is_answered().await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_write_does_not_make_a_quiet_watch_old() {
    for protocol in [Protocol::Http1, Protocol::Http2] {
        stays_young(protocol).await;
    }
}

async fn stays_young(protocol: Protocol) {
    let options = Options {
        keep_events: 50,
        ..Options::default()
    };
    let server = server_on(Store::memory_with(options)).await;
    let served = Served::start(&server).await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("a"))).await;
    let query = format!("&resourceVersion={}", revision(&server).await);
    let mut wires = join_all((0..3).map(|_| Wire::open(&served, protocol, &query))).await;
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
    for protocol in [Protocol::Http1, Protocol::Http2] {
        goes_with_its_kind(protocol).await;
    }
}

async fn goes_with_its_kind(protocol: Protocol) {
    let server = server().await;
    let served = Served::start(&server).await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("a"))).await;
    let query = format!("&resourceVersion={}", revision(&server).await);
    let mut wires = join_all((0..70).map(|_| Wire::open(&served, protocol, &query))).await;
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
    let path = format!("{WIDGETS}?watch=true&timeoutSeconds=12");
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
