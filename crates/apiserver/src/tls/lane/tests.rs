//! The agreement between a watch, the HTTP machinery and those who send past it: nothing is sent beside the
//! machinery while it holds something of the watch.

use std::future::poll_fn;
use std::time::Duration;

use axum::body::Body;
use futures::FutureExt as _;
use http::Request;
use http_body_util::BodyExt as _;
use machinist_store::Store;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector, client};
use tower::ServiceExt as _;

use super::*;
use crate::tls::Pki;
use crate::watch::LARGEST;
use crate::{ApiServer, Identity, Options};

const PATIENCE: Duration = Duration::from_secs(30);
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Both ends of a connection after its handshake.
async fn connect() -> (Arc<TlsLane>, client::TlsStream<TcpStream>) {
    let home = tempfile::tempdir().unwrap();
    let pki = Pki::load_or_create(home.path()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config = pki.server_config(address, &pki.trust().unwrap()).unwrap();
    let accepting = async {
        let stream = listener.accept().await.unwrap().0;
        let accepted = TlsAcceptor::from(config).accept(Socket(stream)).await;
        Arc::new(TlsLane::over(accepted.unwrap()))
    };
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(pki.ca_certificate().as_bytes()).unwrap();
    roots.add(authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connecting = async {
        let stream = TcpStream::connect(address).await.unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        connector.connect(name, stream).await.unwrap()
    };
    tokio::join!(accepting, connecting)
}

/// Sends a request that succeeds.
async fn call(server: &ApiServer, request: Request<Body>) -> Body {
    let service = server.service(Identity::admin());
    let response = service.oneshot(request).await.unwrap();
    assert!(response.status().is_success(), "{}", response.status());
    response.into_body()
}

/// Writes an object whose event has at least so many bytes.
async fn write(server: &ApiServer, name: &str, size: usize) {
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"filler": "n".repeat(size)},
    });
    let request = Request::post(MAPS)
        .header("content-type", "application/json")
        .body(map.to_string().into())
        .unwrap();
    drop(call(server, request).await);
}

/// What the HTTP machinery is given next.
async fn given(body: &mut Body) -> String {
    let frame = tokio::time::timeout(PATIENCE, body.frame()).await;
    let frame = frame.expect("the machinery is given something");
    let data = frame.unwrap().unwrap().into_data().unwrap();
    String::from_utf8(data.to_vec()).unwrap()
}

/// Lets the watch wait for what comes, as the machinery does.
fn wait(body: &mut Body) {
    assert!(body.frame().now_or_never().is_none(), "nothing happened");
}

/// Has the machinery say that everything left it.
async fn flush(lane: &Arc<TlsLane>) {
    let flushed = poll_fn(|cx| Pin::new(&mut OnLane(lane.clone())).poll_flush(cx)).await;
    flushed.unwrap();
}

#[tokio::test]
async fn nothing_is_sent_beside_the_machinery_while_it_holds_something() {
    let (lane, mut client) = connect().await;
    let server = ApiServer::new(Store::memory(), Options::default())
        .await
        .unwrap();
    let path =
        format!("{MAPS}?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
    let mut request = Request::get(path).body(Body::empty()).unwrap();
    request.extensions_mut().insert(lane.clone());
    let mut body = call(&server, request).await;

    // The head of the answer is still to be sent.
    wait(&mut body);
    assert!(!lane.lock().channel.is_free());
    write(&server, "first", 1).await;
    assert!(given(&mut body).await.contains("first"));
    wait(&mut body);
    flush(&lane).await;

    // This event is too large for others to send, and what is to be sent then is not theirs either.
    assert!(lane.lock().channel.is_free());
    write(&server, "second", LARGEST).await;
    assert!(given(&mut body).await.contains("second"));
    wait(&mut body);
    assert!(!lane.lock().channel.is_free());
    write(&server, "third", 1).await;
    assert!(given(&mut body).await.contains("third"));

    // Until all has left: then whoever has an event sends it.
    wait(&mut body);
    flush(&lane).await;
    write(&server, "fourth", 1).await;
    let mut chunk = Vec::new();
    while !chunk.ends_with(b"}\n\r\n") {
        let read = tokio::time::timeout(PATIENCE, client.read_buf(&mut chunk)).await;
        assert!(read.expect("the event comes").unwrap() > 0);
    }
    let chunk = String::from_utf8(chunk).unwrap();
    let (size, content) = chunk.split_once("\r\n").unwrap();
    assert_eq!(usize::from_str_radix(size, 16).unwrap(), content.len() - 2);
    assert!(content.contains("fourth"), "{content}");
    wait(&mut body);
}
