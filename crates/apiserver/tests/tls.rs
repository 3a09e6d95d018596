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
    get_with(connector, address, path, "").await
}

/// The same with more headers, each ending its line.
async fn get_with(
    connector: &TlsConnector,
    address: std::net::SocketAddr,
    path: &str,
    headers: &str,
) -> std::io::Result<String> {
    let stream = TcpStream::connect(address).await?;
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let mut stream = connector.connect(name, stream).await?;
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
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
    // Whoever shows no certificate of ours, and no token, is nobody.
    for path in ["/readyz", "/api/v1/namespaces", "/apis"] {
        for holder in [None, Some(&foreign)] {
            let answer = get(&client(&ours, holder), address, path).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 401"), "{path} {answer}");
            let status = "\"message\":\"Unauthorized\",\"metadata\":{},\"reason\":\"Unauthorized\"";
            assert!(answer.contains(status), "{path} {answer}");
        }
        for token in ["x", "a.b.c"] {
            let header = format!("authorization: Bearer {token}\r\n");
            let answer = get_with(&client(&ours, None), address, path, &header).await;
            assert!(answer.unwrap().starts_with("HTTP/1.1 401"), "{path}");
        }
        let claimed = "x-remote-user: root\r\nx-remote-group: system:masters\r\n";
        let answer = get_with(&client(&ours, Some(&foreign)), address, path, claimed).await;
        assert!(answer.unwrap().starts_with("HTTP/1.1 401"), "{path}");
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

/// A certificate of a new authority for a name, and its key.
fn of_new_authority(name: &str) -> (String, String, String) {
    use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    let signed = params.signed_by(&key, &issuer).unwrap();
    (certificate.pem(), signed.pem(), key.serialize_pem())
}

#[tokio::test]
async fn a_front_proxy_speaks_for_its_callers() {
    let server = common::server().await;
    let directory = tempfile::tempdir().unwrap();
    let ours = Pki::load_or_create(&directory.path().join("pki")).unwrap();
    let (authority, certificate, key) = of_new_authority("front-proxy");
    for (names, expected) in [
        (vec![], "200"),
        (vec!["front-proxy".to_owned()], "200"),
        (vec!["another".to_owned()], "401"),
    ] {
        let pki = ours
            .clone()
            .with_front_proxy(authority.clone(), names.clone());
        let listener = tls::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = {
            let (server, pki) = (server.clone(), pki.clone());
            tokio::spawn(async move { server.serve(listener, &pki, std::future::pending()).await })
        };
        let proxy = common::tls::connector_with(&pki, Some((&certificate, &key)), &[]);
        let path = "/api/v1/namespaces/default";
        let root = "x-remote-user: root\r\nx-remote-group: system:masters\r\n";
        let answer = get_with(&proxy, address, path, root).await.unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {expected}")),
            "{names:?} {answer}"
        );
        if expected == "200" {
            let nobody = "x-remote-user: nobody\r\n";
            let answer = get_with(&proxy, address, path, nobody).await.unwrap();
            assert!(
                answer.contains("User \\\"nobody\\\" cannot get"),
                "{answer}"
            );
        }
        // Without the headers the proxy is nobody itself, and others cannot use them.
        let answer = get(&proxy, address, path).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        let answer = get_with(&client(&pki, None), address, path, root)
            .await
            .unwrap();
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        serving.abort();
    }
}

#[tokio::test]
async fn a_token_is_enough() {
    let server = common::server().await;
    let directory = tempfile::tempdir().unwrap();
    let ours = Pki::load_or_create(&directory.path().join("pki")).unwrap();
    let listener = tls::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = {
        let (server, pki) = (server.clone(), ours.clone());
        tokio::spawn(async move { server.serve(listener, &pki, std::future::pending()).await })
    };
    let path = "POST /api/v1/namespaces/default/serviceaccounts/default/token";
    let answer = common::ok(&server, path, Some(&serde_json::json!({"spec": {}}))).await;
    let token = answer["status"]["token"].as_str().unwrap();
    let header = format!("authorization: Bearer {token}\r\n");
    let nobody = client(&ours, None);
    let answer = get_with(&nobody, address, "/apis", &header).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let path = "/api/v1/namespaces/default/secrets";
    let answer = get_with(&nobody, address, path, &header).await.unwrap();
    let who = "User \\\"system:serviceaccount:default:default\\\" cannot list";
    assert!(
        answer.starts_with("HTTP/1.1 403") && answer.contains(who),
        "{answer}"
    );
    serving.abort();
}
