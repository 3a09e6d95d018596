//! What a person gets wrong about a provider, case by case: each is a condition that names the field or
//! the Secret, what is wrong with it and what is allowed. Nothing of a Secret is shown.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, api::DeleteParams};
use machinist_api::{
    conditions,
    vitistack::machine_provider::{AuthenticationState, MachineProvider},
};
use machinist_providers::SimOptions;
use serde_json::{Value, json};

use crate::{
    endpoints::{aws, declare, http, secret, server, until},
    world::{LIMIT, World},
};

/// How the credentials are said to be.
fn state(provider: &MachineProvider) -> Option<AuthenticationState> {
    let status = provider.status.as_ref()?;
    status.authentication.as_ref()?.status
}

fn token(name: &str, key: Option<&str>) -> Value {
    let reference = json!({"name": name, "key": key});
    json!({"type": "sim", "region": "there", "credentials": {"type": "token", "secretRef": reference}})
}

fn oauth2(url: &str) -> Value {
    json!({"type": "sim", "region": "there", "authentication": {"type": "oauth2", "oauth2": {
        "clientId": "me", "tokenURL": url,
        "clientSecretRef": {"name": "client", "key": "secret"},
    }}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_missing_malformed_or_of_the_wrong_key_is_told_and_taken_up_when_put_right()
 {
    let world = World::new(SimOptions::default()).await;
    secret(
        &world,
        "torn",
        json!({"token": "not-to-be-seen\nnot-to-be-seen"}),
    )
    .await;
    secret(&world, "other", json!({"tokens": "not-to-be-seen"})).await;
    let account = json!({"type": "serviceaccount", "serviceAccount": {
        "secretRef": {"name": "account", "key": "key.json"},
    }});
    secret(&world, "account", json!({"key.json": "{not-to-be-seen"})).await;
    let account = json!({"type": "sim", "region": "there", "authentication": account});
    let cases = [
        (
            "missing",
            token("nowhere", None),
            ("SecretNotFound", AuthenticationState::Error),
            "Secret default/nowhere",
        ),
        (
            "malformed",
            token("torn", Some("token")),
            ("SecretMalformed", AuthenticationState::Invalid),
            "key token of Secret default/torn",
        ),
        (
            "wrong-key",
            token("other", Some("token")),
            ("SecretKeyNotFound", AuthenticationState::Invalid),
            "default/other has no key token, which spec.credentials needs; it has tokens",
        ),
        (
            "no-json",
            account,
            ("SecretMalformed", AuthenticationState::Invalid),
            "key key.json of Secret default/account",
        ),
    ];
    for (name, spec, _, _) in &cases {
        declare(&world, name, spec.clone()).await;
    }
    for (name, _, (reason, authentication), words) in &cases {
        let provider = until(&world, name, reason, words).await;
        assert_eq!(state(&provider), Some(*authentication), "{name}");
        let shown = format!("{:?}", provider.status);
        assert!(!shown.contains("not-to-be-seen"), "{shown}");
    }
    for (name, data) in [
        ("nowhere", json!({"token": "good"})),
        ("torn", json!({"token": "good"})),
        ("other", json!({"token": "good"})),
        ("account", json!({"key.json": "{}"})),
    ] {
        secret(&world, name, data).await;
    }
    for (name, ..) in &cases {
        let provider = until(&world, name, "Connected", "").await;
        assert_eq!(state(&provider), Some(AuthenticationState::Valid), "{name}");
    }
    // One that goes is missed, and comes back.
    let secrets: Api<Secret> = Api::default_namespaced(world.client.clone());
    let gone = secrets.delete("nowhere", &DeleteParams::default()).await;
    gone.expect("deleted");
    until(&world, "missing", "SecretNotFound", "create it").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn link_local_and_metadata_addresses_are_refused_as_endpoint_and_token_endpoint_unless_allowed()
 {
    let world = World::new(SimOptions::default()).await;
    let keys = json!({"access-key-id": "AKIA", "secret-access-key": "not-to-be-seen"});
    secret(&world, "keys", keys).await;
    secret(&world, "client", json!({"secret": "not-to-be-seen"})).await;
    let addresses = [
        ("metadata", "https://169.254.169.254/"),
        ("link-local", "https://[fe80::1]/"),
        ("of-google", "https://metadata.google.internal/"),
    ];
    for (name, url) in addresses {
        declare(&world, name, aws(url)).await;
        declare(&world, &format!("{name}-token"), oauth2(url)).await;
    }
    for (name, url) in addresses {
        for (name, field) in [
            (name.to_owned(), "spec.config.endpoint"),
            (
                format!("{name}-token"),
                "spec.authentication.oauth2.tokenURL",
            ),
        ] {
            let provider = until(&world, &name, "Rejected", field).await;
            let status = provider.status.expect("a status");
            let ready = conditions::find(&status.conditions, "Ready").expect("it");
            for words in [url, "allowLinkLocal"] {
                assert!(ready.message.contains(words), "{name}: {}", ready.message);
            }
        }
    }
    // The field is the one that was written.
    let mut other = aws("https://169.254.169.254/");
    other["config"] = json!({"timeout": "1s"});
    other["endpoint"] = json!({"url": "https://169.254.169.254/"});
    declare(&world, "other-form", other).await;
    until(&world, "other-form", "Rejected", "spec.endpoint.url: ").await;
    // Whoever allows it is asked. What comes of that is the network's business.
    let mut allowed = aws("https://169.254.1.1:9/");
    allowed["config"]["customSettings"] = json!({"allowLinkLocal": "true"});
    declare(&world, "allowed", allowed).await;
    let look = async {
        loop {
            let provider = world.providers().get("allowed").await.expect("it");
            let all = provider.status.map(|status| status.conditions);
            let all = all.unwrap_or_default();
            let ready = conditions::find(&all, "Ready").cloned();
            if let Some(ready) = ready.filter(|ready| ready.message.contains("169.254.1.1:9")) {
                return ready;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let ready = tokio::time::timeout(LIMIT, look).await.expect("asked");
    let asked = ["ProviderUnreachable", "EndpointUntrusted"];
    assert!(asked.contains(&ready.reason.as_str()), "{ready:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_endpoint_that_lies_about_expiry_is_believed_within_reason() {
    let world = World::new(SimOptions::default()).await;
    secret(&world, "client", json!({"secret": "not-to-be-seen"})).await;
    let day = Duration::from_secs(24 * 60 * 60);
    let said = [
        ("never", json!(1e18)),
        ("over", json!(0)),
        ("before", json!(-3600)),
        ("words", json!("soon")),
    ];
    for (name, expires_in) in &said {
        let body =
            json!({"access_token": "good", "token_type": "bearer", "expires_in": expires_in});
        let url = server(http("200 OK", "", &body.to_string())).await;
        declare(&world, name, oauth2(&url)).await;
    }
    for (name, _) in &said {
        let provider = until(&world, name, "Connected", "").await;
        assert_eq!(state(&provider), Some(AuthenticationState::Valid), "{name}");
        let status = provider.status.expect("a status");
        let expires = status.authentication.and_then(|a| a.expires_at);
        let expires = expires.expect("when it ends").0;
        let now = Timestamp::now();
        let latest = now.checked_add(day).expect("a time");
        assert!(expires <= latest, "{name}: {expires}");
    }
    // One that the platform takes for over is told, whatever its endpoint says.
    world.cloud.require(Some("another".into()));
    let body = json!({"access_token": "stale", "token_type": "bearer", "expires_in": 86_400});
    let url = server(http("200 OK", "", &body.to_string())).await;
    declare(&world, "stale", oauth2(&url)).await;
    let words = "the token is not the one that the platform expects";
    let provider = until(&world, "stale", "CredentialsRefused", words).await;
    assert_eq!(state(&provider), Some(AuthenticationState::Invalid));
}
