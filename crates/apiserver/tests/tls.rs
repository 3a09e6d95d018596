//! The listener: who gets in, and who does not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use machinist_apiserver::{Pki, tls};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A client that trusts `pki`, with the certificate of `holder`, if any.
fn client(pki: &Pki, holder: Option<&Pki>) -> TlsConnector {
    common::tls::connector(pki, holder, &[])
}

/// Asks for a path; the answer as text, or how it failed.
async fn get(
    connector: &TlsConnector,
    address: std::net::SocketAddr,
    path: &str,
) -> std::io::Result<String> {
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let mut stream = connector.connect(name, stream).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[tokio::test]
async fn only_holders_of_our_certificates_get_in() {
    let server = common::server().await;
    let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [ours, foreign] = directories
        .each_ref()
        .map(|d| Pki::load_or_create(&d.path().join("pki")).unwrap());
    let listener = tls::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = {
        let (server, pki) = (server.clone(), ours.clone());
        tokio::spawn(async move {
            let stopped = async {
                let _ = stopped.await;
            };
            server.serve(listener, &pki, stopped).await
        })
    };
    let answer = get(&client(&ours, Some(&ours)), address, "/readyz")
        .await
        .unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"),
        "{answer}"
    );
    for path in ["/readyz", "/api/v1/namespaces"] {
        assert!(
            get(&client(&ours, None), address, path).await.is_err(),
            "{path} without a certificate"
        );
        let other = get(&client(&ours, Some(&foreign)), address, path).await;
        assert!(
            other.is_err(),
            "{path} with a certificate of another authority"
        );
    }
    // A second listener on the same address is refused by name.
    let refused = tls::bind(&address.to_string())
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(refused, format!("{address} is in use by another process"));
    // Open watches end, each with a proper last piece; those within the process go on.
    let (connector, path) = (client(&ours, Some(&ours)), "/api/v1/namespaces?watch=true");
    let watching = tokio::spawn(async move { get(&connector, address, path).await });
    common::eventually(&server, "GET /metrics", |_, text| {
        text.as_str()
            .unwrap()
            .contains("apiserver_longrunning_requests{verb=\"WATCH\"} 1")
    })
    .await;
    let mut within = common::watch(&server, "GET /api/v1/namespaces?watch=true").await;
    stop.send(()).unwrap();
    let watched = tokio::time::timeout(common::PATIENCE, watching)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert!(watched.ends_with("\r\n0\r\n\r\n"), "{watched}");
    assert_eq!(within.next_line().await, "ADDED default");
    tokio::time::timeout(common::PATIENCE, serving)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn the_authority_is_made_once_and_kept_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pki");
    let first = Pki::load_or_create(&path).unwrap();
    let second = Pki::load_or_create(&path).unwrap();
    assert_eq!(first.ca_certificate(), second.ca_certificate());
    assert_eq!(first.admin_certificate(), second.admin_certificate());
    assert_eq!(
        first.kubeconfig("https://127.0.0.1:1"),
        second.kubeconfig("https://127.0.0.1:1")
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |p: &std::path::Path| std::fs::metadata(p).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        for entry in std::fs::read_dir(&path).unwrap() {
            assert_eq!(mode(&entry.unwrap().path()), 0o600);
        }
    }
    std::fs::remove_file(path.join("ca.key")).unwrap();
    let error = Pki::load_or_create(&path).unwrap_err().to_string();
    assert!(error.contains("ca.key is missing"), "{error}");
}
