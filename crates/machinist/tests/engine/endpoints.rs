//! Endpoints that are not what they should be: each is a condition that says so, and nothing is lost.

use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use machinist_api::{conditions, vitistack::MachineProvider};
use machinist_apiserver::{ApiServer, Options, Pki, Store, tls};
use machinist_providers::SimOptions;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::world::{LIMIT, World};

/// A server that says this to everybody, or nothing at all.
pub(crate) async fn server(answer: Option<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        let mut silent = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            match &answer {
                Some(answer) => {
                    let mut request = [0; 8192];
                    let _ = stream.read(&mut request).await;
                    let _ = stream.write_all(answer.as_bytes()).await;
                }
                None => silent.push(stream),
            }
        }
    });
    format!("http://{address}")
}

pub(crate) fn http(status: &str, headers: &str, body: &str) -> Option<String> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n");
    Some(format!("{head}content-length: {length}\r\n\r\n{body}"))
}

pub(crate) async fn declare(world: &World, name: &str, spec: Value) {
    let provider = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
        "metadata": {"name": name}, "spec": spec,
    });
    let provider = serde_json::from_value(provider).expect("a provider");
    let api = world.providers();
    let made = api.create(&PostParams::default(), &provider).await;
    made.expect("created");
}

pub(crate) async fn secret(world: &World, name: &str, data: Value) {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data,
    });
    let secrets: Api<Secret> = Api::default_namespaced(world.client.clone());
    let params = PatchParams::apply("test");
    let written = secrets.patch(name, &params, &Patch::Apply(&secret)).await;
    written.expect("written");
}

/// Waits until the Ready condition is of this reason and has these words.
pub(crate) async fn until(world: &World, name: &str, reason: &str, words: &str) -> MachineProvider {
    let api = world.providers();
    let look = async {
        loop {
            let provider = api.get(name).await.expect("a provider");
            let all = provider.status.clone().map(|status| status.conditions);
            let all = all.unwrap_or_default();
            let ready = conditions::find(&all, "Ready");
            if ready.is_some_and(|c| c.reason == reason && c.message.contains(words)) {
                return provider;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    match tokio::time::timeout(LIMIT, look).await {
        Ok(provider) => provider,
        Err(_) => unreachable!("waited too long for {words}: {:#?}", api.get(name).await),
    }
}

pub(crate) fn aws(endpoint: &str) -> Value {
    let key = json!({"secretRef": {"name": "keys", "key": "access-key-id"}});
    json!({
        "type": "aws", "region": "us-west-2",
        "config": {"endpoint": endpoint, "timeout": "1s"},
        "authentication": {"type": "apikey", "apiKey": key},
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_is_wrong_is_told_in_the_providers_condition() {
    let world = World::new(SimOptions::default()).await;
    let keys = json!({"access-key-id": "AKIA", "secret-access-key": "not-to-be-seen"});
    secret(&world, "keys", keys).await;
    let elsewhere = "location: http://169.254.169.254/latest/meta-data\r\n";
    // A server whose certificate is of an authority that nobody knows.
    let dir = tempfile::tempdir().expect("a directory");
    let pki = Pki::load_or_create(dir.path()).expect("certificates");
    let other = ApiServer::new(Store::memory(), Options::default()).await;
    let other = other.expect("a server");
    let listener = tls::bind("127.0.0.1:0").await.expect("a port");
    let strange = format!("https://{}", listener.local_addr().expect("an address"));
    let serving =
        tokio::spawn(async move { other.serve(listener, &pki, std::future::pending()).await });
    let cases = [
        (
            "hangs",
            server(None).await,
            "ProviderUnreachable",
            "within 1s",
        ),
        (
            "garbage",
            server(http("200 OK", "", "<html>hello")).await,
            "ProviderUnreachable",
            "cannot be read",
        ),
        (
            "redirects",
            server(http("302 Found", elsewhere, "")).await,
            "ProviderUnreachable",
            "redirects to http://169.254.169.254/latest/meta-data, which is not followed",
        ),
        (
            "strange",
            strange,
            "EndpointUntrusted",
            "name it in spec.endpoint.caBundle",
        ),
        (
            "metadata",
            "https://169.254.169.254/".to_owned(),
            "Rejected",
            "allowLinkLocal",
        ),
        (
            "clear",
            "http://ec2.example.com".to_owned(),
            "Rejected",
            "only https is used",
        ),
    ];
    for (name, endpoint, _, _) in &cases {
        declare(&world, name, aws(endpoint)).await;
    }
    for (name, endpoint, reason, words) in &cases {
        let provider = until(&world, name, reason, words).await;
        let status = provider.status.expect("a status");
        assert_eq!(status.ready, Some(false), "{name}");
        let ready = conditions::find(&status.conditions, "Ready").expect("it");
        assert!(
            ready.message.contains(endpoint),
            "{name}: {}",
            ready.message
        );
        if *reason != "EndpointUntrusted" {
            let field = "spec.config.endpoint";
            assert!(ready.message.contains(field), "{name}: {}", ready.message);
        }
        let shown = format!("{status:?}");
        assert!(!shown.contains("not-to-be-seen"), "{shown}");
    }
    serving.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_oauth2_client_gets_its_token_where_its_provider_says() {
    let world = World::new(SimOptions::default()).await;
    until(&world, "cloud", "Connected", "").await;
    let body = json!({"access_token": "good", "token_type": "bearer", "expires_in": 3600});
    let url = server(http("200 OK", "", &body.to_string())).await;
    let spec = |url: &str| {
        json!({"type": "sim", "region": "there", "authentication": {"type": "oauth2", "oauth2": {
            "clientId": "me", "tokenURL": url,
            "clientSecretRef": {"name": "client", "key": "secret"},
        }}})
    };
    secret(&world, "client", json!({"secret": "not-to-be-seen"})).await;
    declare(&world, "tokens", spec(&url)).await;
    let provider = until(&world, "tokens", "Connected", "").await;
    let status = provider.status.expect("a status");
    let authentication = status.authentication.expect("whether it is known");
    let shown = format!("{authentication:?}");
    assert!(shown.contains("Valid"), "{shown}");
    assert!(authentication.expires_at.is_some(), "{shown}");
    // The platform's word counts, not the endpoint's.
    world.cloud.require(Some("another".into()));
    declare(&world, "refused", spec(&url)).await;
    let words = "write the right one into the Secret that the provider refers to";
    until(&world, "refused", "CredentialsRefused", words).await;
    world.cloud.require(None);
    let refusing = server(http("401 No", "", r#"{"error": "invalid_client"}"#)).await;
    declare(&world, "unknown", spec(&refusing)).await;
    until(&world, "unknown", "CredentialsRefused", "invalid_client").await;
}
