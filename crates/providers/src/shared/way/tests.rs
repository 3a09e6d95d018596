//! An endpoint with a certificate of an authority that was made a moment ago.

use std::sync::Arc;

use machinist_core::provider::{Access, Confidential, Courtesy, Credentials, OAuth2};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::Tokens;

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// An endpoint whose certificate is for this name, and that answers each request with a token.
async fn endpoint(authority: &Authority, name: &str) -> Url {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new([name.to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let mut request = [0; 8192];
            let _ = stream.read(&mut request).await;
            let body = r#"{"access_token": "t", "expires_in": 60}"#;
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}");
            let _ = stream
                .write_all(format!("{head}\r\n\r\n{body}").as_bytes())
                .await;
            let _ = stream.shutdown().await;
        }
    });
    format!("https://127.0.0.1:{port}/").parse().unwrap()
}

fn way(trust: Trust) -> ProviderResult<Way> {
    Way::of(&ProviderSpec {
        name: "p".to_owned(),
        namespace: "default".to_owned(),
        uid: "uid".to_owned(),
        kind: "sim".to_owned(),
        region: None,
        endpoint: None,
        timeout: None,
        courtesy: Courtesy::default(),
        images: Default::default(),
        settings: Default::default(),
        link_local: false,
        trust,
        access: Access::Opaque,
        credentials: Credentials::default(),
    })
}

/// How a request to the endpoint goes: nothing, or what kept it from being sent.
async fn ask(way: &Way, url: &Url) -> Option<ProviderError> {
    let client = way.builder().build().unwrap();
    let error = client.get(url.clone()).send().await.err()?;
    let unsent = way.unsent("spec.config.endpoint", url, &error);
    Some(unsent.unwrap_or_else(|| ProviderError::transport("no answer", error)))
}

/// How a token is got there.
async fn token(way: &Way, url: &Url) -> Option<ProviderError> {
    let client = OAuth2 {
        client: "me".into(),
        secret: Confidential::new("s3cr3t"),
        url: url.to_string(),
        scopes: Vec::new(),
    };
    Tokens::new(client, way.clone())
        .unwrap()
        .token()
        .await
        .err()
}

#[tokio::test]
async fn an_endpoint_is_believed_by_its_declared_authority_alone() {
    let (ours, theirs) = (authority(), authority());
    let url = endpoint(&ours, "127.0.0.1").await;
    let good = way(Trust::Bundle(ours.pem())).unwrap();
    let both = way(Trust::Bundle(theirs.pem() + &ours.pem())).unwrap();
    let insecure = way(Trust::Unchecked).unwrap();
    for way in [&good, &both, &insecure] {
        assert!(ask(way, &url).await.is_none(), "{way:?}");
        assert!(token(way, &url).await.is_none(), "{way:?}");
    }
    for (trust, words) in [
        (Trust::Usual, "name it in spec.endpoint.caBundle"),
        (Trust::Bundle(theirs.pem()), "caBundle does not have it"),
    ] {
        let way = way(trust).unwrap();
        let errors = [ask(&way, &url).await, token(&way, &url).await];
        for error in errors.map(Option::unwrap) {
            assert_eq!(error.reason(), "EndpointUntrusted", "{error}");
            let said = error.to_string();
            assert!(said.starts_with(url.as_str()), "{said}");
            assert!(said.contains("authority that is not known"), "{said}");
            assert!(said.contains(words), "{said}");
        }
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused_with_both_names() {
    let ours = authority();
    let url = endpoint(&ours, "cloud.example.com").await;
    let error = ask(&way(Trust::Bundle(ours.pem())).unwrap(), &url).await;
    let error = error.unwrap();
    assert_eq!(error.reason(), "EndpointUntrusted", "{error}");
    let said = error.to_string();
    for words in ["127.0.0.1", "cloud.example.com", "by a name that its"] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
}

#[tokio::test]
async fn an_endpoint_that_speaks_no_tls_is_no_question_of_trust() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: Url = format!("https://{}/", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"220 welcome to mail\r\n").await;
        }
    });
    let error = ask(&Way::default(), &url).await.unwrap();
    assert_eq!(error.reason(), "ProviderUnreachable", "{error}");
}

#[test]
fn a_bundle_that_holds_no_certificates_is_refused_by_name() {
    let broken = authority().pem().replace('M', "*");
    for bundle in ["", "my authority", &broken] {
        let error = way(Trust::Bundle(bundle.to_owned())).unwrap_err();
        assert_eq!(error.reason(), "Rejected");
        assert!(error.to_string().starts_with(FIELD), "{error}");
    }
}
