//! Clients that misbehave on the wire: none of them keeps a connection, and the others notice
//! nothing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::time::Duration;

use common::WIDGETS;
use common::tls::{Served, rest};
use machinist_apiserver::{ApiServer, Limits, Store};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A server with little patience.
async fn impatient() -> (ApiServer, Served) {
    let short = Duration::from_millis(300);
    let limits = Limits {
        handshake_time: short,
        header_time: short,
        idle_time: short,
        request_time: short,
        ..Limits::default()
    };
    let server = common::server_with(Store::memory(), limits).await;
    let served = Served::start(&server).await;
    (server, served)
}

#[tokio::test]
async fn who_is_silent_or_slow_is_cut_off() {
    let (_server, served) = impatient().await;
    // A handshake that never begins, one that stops, and one that is no handshake.
    for hello in [
        &b""[..],
        b"\x16\x03\x01\x02\x00\x01",
        b"GET / HTTP/1.1\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(hello).await.unwrap();
        rest(&mut stream).await;
    }
    // Headers that never come, or that stop; in both protocols.
    for (protocol, bytes) in [
        ("http/1.1", &b""[..]),
        ("http/1.1", b"GET /readyz HTTP/1.1\r\nhost: local"),
        ("h2", b""),
        ("h2", b"PRI * HTTP/2.0\r\n"),
        (
            "h2",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
        ),
    ] {
        let mut stream = served.connect(&[protocol]).await;
        stream.write_all(bytes).await.unwrap();
        rest(&mut stream).await;
    }
    // A connection that was used and is not used any more.
    let mut stream = served.connect(&["http/1.1"]).await;
    let request = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    stream.write_all(request).await.unwrap();
    assert!(rest(&mut stream).await.starts_with("HTTP/1.1 200"));
    // A body that is announced and does not come.
    let head = format!(
        "POST {WIDGETS} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{{"
    );
    let answer = served.exchange(head.as_bytes()).await;
    assert!(
        answer.starts_with("HTTP/1.1 504") && answer.contains("\"Timeout\""),
        "{answer}"
    );
    assert!(served.is_well().await);
}

#[tokio::test]
async fn broken_requests_are_refused() {
    let server = common::server().await;
    let served = Served::start(&server).await;
    let chunked = |path: &str| {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        let mut bytes = head.into_bytes();
        for _ in 0..4 {
            bytes.extend_from_slice(b"100000\r\n");
            bytes.extend(std::iter::repeat_n(b' ', 0x10_0000));
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    };
    let get = |path: &str, headers: &str| {
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n")
            .into_bytes()
    };
    let mut not_text = get("/readyz", "");
    not_text[5] = 0xff;
    let long = "x".repeat(100_000);
    for (what, bytes, expected) in [
        ("a large body in pieces", chunked(WIDGETS), "HTTP/1.1 413"),
        ("no HTTP", b"\0\0\0\0\r\n\r\n".to_vec(), "HTTP/1.1 400"),
        ("bytes that are no text in a path", not_text, "HTTP/1.1 400"),
        (
            "an escape that is no text",
            get(&format!("{WIDGETS}/%ff%fe"), ""),
            "HTTP/1.1 404",
        ),
        ("a long path", get(&format!("/{long}"), ""), "HTTP/1.1 414"),
        (
            "a long header",
            get("/readyz", &format!("x: {}\r\n", "x".repeat(500_000))),
            "HTTP/1.1 431",
        ),
        (
            "many headers",
            get("/readyz", &"x: y\r\n".repeat(5000)),
            "HTTP/1.1 431",
        ),
        (
            "bytes in a header that are no text",
            {
                let mut bytes = get("/readyz", "accept: ?\r\n");
                let at = bytes.iter().position(|b| *b == b'?').unwrap();
                bytes[at] = 0xfe;
                bytes
            },
            "HTTP/1.1 200",
        ),
        (
            "two lengths",
            b"POST /api HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"
                .to_vec(),
            "HTTP/1.1 400",
        ),
    ] {
        let answer = served.exchange(&bytes).await;
        assert!(answer.starts_with(expected), "{what}: {answer}");
    }
    assert!(served.is_well().await);
}

#[tokio::test]
async fn a_watch_ends_when_its_client_goes_half_way() {
    let server = common::server().await;
    let served = Served::start(&server).await;
    let mut stream = served.connect(&["http/1.1"]).await;
    let watch = b"GET /api/v1/namespaces?watch=true HTTP/1.1\r\nhost: localhost\r\n\r\n";
    stream.write_all(watch).await.unwrap();
    let open = |count: usize| {
        move |_: u16, text: &serde_json::Value| {
            let line = format!("apiserver_longrunning_requests{{verb=\"WATCH\"}} {count}\n");
            text.as_str().unwrap().contains(&line)
        }
    };
    common::eventually(&server, "GET /metrics", open(1)).await;
    // The client says that it sends no more, and goes on reading.
    stream.shutdown().await.unwrap();
    let mut buffer = [0; 1024];
    while stream.read(&mut buffer).await.is_ok_and(|count| count > 0) {}
    common::eventually(&server, "GET /metrics", open(0)).await;
    assert!(served.is_well().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_are_opened_and_reset_end_the_connection() {
    let server = common::server().await;
    let served = Served::start(&server).await;
    let stream = served.connect(&["h2"]).await;
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    let ended = tokio::spawn(connection);
    let attack = async {
        let mut client = client;
        loop {
            let Ok(mut ready) = client.ready().await else {
                return;
            };
            let request = http::Request::get("https://localhost/api/v1/namespaces")
                .body(())
                .unwrap();
            let Ok((_, mut stream)) = ready.send_request(request, true) else {
                return;
            };
            stream.send_reset(h2::Reason::CANCEL);
            client = ready;
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(common::PATIENCE, attack)
        .await
        .expect("the server ends it");
    let error = ended.await.unwrap().unwrap_err();
    // The farewell may be lost when the client is still sending: then the connection is just gone.
    let calm = |reason| reason == h2::Reason::ENHANCE_YOUR_CALM;
    assert!(error.reason().is_none_or(calm), "{error}");
    assert!(served.is_well().await);
}

#[tokio::test]
async fn the_servers_certificate_is_renewed_without_a_restart() {
    let server = common::server().await;
    let served = Served::start_with(&server, |pki| {
        pki.with_server_lifetime(Duration::from_secs(9))
    })
    .await;
    let shown = async || {
        let stream = served.connect(&["http/1.1"]).await;
        let certificates = stream.get_ref().1.peer_certificates().unwrap();
        certificates[0].to_vec()
    };
    let first = shown().await;
    assert_eq!(shown().await, first, "it is kept while it is young");
    let renewed = async {
        // Every connection on the way is made with a certificate that is valid.
        while shown().await == first {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(common::PATIENCE, renewed)
        .await
        .expect("a new certificate");
    assert!(served.is_well().await);
}
