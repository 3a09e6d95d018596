//! How much a server takes at once, and what it says to more.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::io::Read as _;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use common::{WIDGETS, answer, assert_contains, request, widget};
use futures::StreamExt as _;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use machinist_apiserver::{ApiServer, Identity, Limits, Store};
use serde_json::json;
use tower::ServiceExt as _;

fn somebody(name: &str) -> Identity {
    Identity {
        user: name.into(),
        groups: vec!["system:authenticated".into()],
        ..Identity::default()
    }
}

async fn send_as(server: &ApiServer, identity: Identity, request: Request<Body>) -> Response<Body> {
    server.service(identity).oneshot(request).await.unwrap()
}

/// A request whose body begins and does not end before it is dropped; it says when it has been
/// read so far.
fn endless(line: &str, first: Bytes) -> (Request<Body>, tokio::sync::oneshot::Receiver<()>) {
    let mut request = request(line, None);
    let (say, read) = tokio::sync::oneshot::channel();
    let pieces = futures::stream::iter([Ok::<_, std::io::Error>(first)]);
    let waiting = futures::stream::once(async move {
        let _ = say.send(());
        std::future::pending().await
    });
    *request.body_mut() = Body::from_stream(pieces.chain(waiting));
    (request, read)
}

async fn assert_turned_away(response: Response<Body>) {
    assert_eq!(response.headers()["retry-after"], "1");
    let (code, status) = answer(response).await;
    assert_eq!(code, 429, "{status}");
    let expected = json!({
        "kind": "Status", "reason": "TooManyRequests", "code": 429,
        "message": "Too many requests, please try again later.",
        "details": {"retryAfterSeconds": 1},
    });
    assert_contains(&status, &expected, "too many");
}

/// Asks until the answer is not 429.
async fn until_let_in(server: &ApiServer, line: &str) {
    let wait = async {
        while send_as(server, somebody("b"), request(line, None))
            .await
            .status()
            == 429
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(common::PATIENCE, wait).await.unwrap();
}

#[tokio::test]
async fn requests_in_flight_are_bounded() {
    let limits = Limits {
        reads: 1,
        changes: 1,
        ..Limits::default()
    };
    let server = common::server_with(Store::memory(), limits).await;
    let everybody = serde_json::json!({
        "metadata": {"name": "everybody"},
        "roleRef": {"kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "Group", "name": "system:authenticated"}],
    });
    let bindings = "POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    common::ok(&server, bindings, Some(&everybody)).await;
    let (list, create) = (format!("GET {WIDGETS}"), format!("POST {WIDGETS}"));

    // An answer that nobody has read yet counts; changes are counted for themselves.
    let unread = send_as(&server, somebody("a"), request(&list, None)).await;
    assert_turned_away(send_as(&server, somebody("b"), request(&list, None)).await).await;
    let change = send_as(
        &server,
        somebody("b"),
        request(&create, Some(&widget("one"))),
    )
    .await;
    assert_ne!(change.status(), 429);
    let (code, _) = common::call(&server, &list, None).await;
    assert_eq!(code, 200, "an administrator is always let in");
    drop(unread);
    until_let_in(&server, &list).await;

    let (begun, reading) = endless(&create, Bytes::from_static(b"{"));
    let slow = {
        let server = server.clone();
        tokio::spawn(async move { send_as(&server, somebody("a"), begun).await })
    };
    reading.await.unwrap();
    let refused = send_as(
        &server,
        somebody("b"),
        request(&create, Some(&widget("two"))),
    )
    .await;
    assert_turned_away(refused).await;
    slow.abort();
}

#[tokio::test]
async fn watches_are_bounded_for_each_client_and_in_all() {
    let limits = Limits {
        reads: 0,
        watches: 3,
        watches_per_client: 2,
        ..Limits::default()
    };
    let server = common::server_with(Store::memory(), limits).await;
    let line = format!("GET {WIDGETS}?watch=true");
    let open = async |name: &str| send_as(&server, somebody(name), request(&line, None)).await;
    let (first, second) = (open("a").await, open("a").await);
    assert_ne!(
        (first.status().as_u16(), second.status().as_u16()),
        (429, 429)
    );
    assert_turned_away(open("a").await).await;
    let third = open("b").await;
    assert_ne!(third.status(), 429);
    assert_turned_away(open("c").await).await;
    drop(first);
    assert_ne!(open("a").await.status(), 429);
    drop((second, third));
}

#[tokio::test]
async fn bodies_share_a_bounded_room_and_a_time() {
    let limits = Limits {
        body_bytes: 1024 * 1024,
        request_time: Duration::from_secs(2),
        ..Limits::default()
    };
    let server = common::server_with(Store::memory(), limits).await;
    let create = format!("POST {WIDGETS}");
    let large = Bytes::from(vec![b' '; 700 * 1024]);
    let (begun, reading) = endless(&create, large.clone());
    let first = {
        let server = server.clone();
        tokio::spawn(async move { common::send(&server, begun).await })
    };
    reading.await.unwrap();
    let mut second = request(&create, None);
    *second.body_mut() = Body::from(large);
    assert_turned_away(common::send(&server, second).await).await;
    let (code, status) = answer(first.await.unwrap()).await;
    assert_eq!(code, 504, "{status}");
    let expected = json!({
        "kind": "Status", "reason": "Timeout",
        "message": "Timeout: request did not complete within the allotted timeout",
    });
    assert_contains(&status, &expected, "a slow body");
}

#[tokio::test]
async fn large_answers_are_compressed_for_those_who_ask() {
    let server = common::server().await;
    let mut object = widget("large");
    object["metadata"]["annotations"] = json!({"text": "long ".repeat(40_000)});
    common::ok(&server, &format!("POST {WIDGETS}"), Some(&object)).await;
    for (accept, line, expected) in [
        ("gzip, deflate", format!("GET {WIDGETS}"), true),
        ("gzip", format!("GET {WIDGETS}/large"), true),
        ("identity", format!("GET {WIDGETS}"), false),
        ("gzip", "GET /api/v1/namespaces".to_owned(), false),
    ] {
        let mut asked = request(&line, None);
        asked
            .headers_mut()
            .insert("accept-encoding", accept.parse().unwrap());
        let response = common::send(&server, asked).await;
        assert_eq!(response.status(), 200);
        let encoded = response.headers().get("content-encoding").is_some();
        assert_eq!(encoded, expected, "{accept} {line}");
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let mut text = String::new();
        if encoded {
            assert!(bytes.len() < 20_000, "{} bytes", bytes.len());
            flate2::read::GzDecoder::new(&*bytes)
                .read_to_string(&mut text)
                .unwrap();
        } else {
            text = String::from_utf8(bytes.to_vec()).unwrap();
        }
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
    }
}
