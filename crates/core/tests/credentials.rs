//! The Secrets that a provider refers to: every documented form, and every way to get one wrong.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

use std::collections::BTreeMap;

use machinist_api::vitistack::MachineProvider;
use machinist_core::{
    dialect::vitistack::{SecretData, access, secret_names},
    provider::Access,
};
use serde_json::{Value, json};

const CERTIFICATE: &str = include_str!("credentials/tls.crt");
/// Nobody's key: only its form is looked at.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\nbm8ga2V5IGF0IGFsbA==\n-----END PRIVATE KEY-----\n";

/// A declaration, what the Secret holds, and words of the refusal.
type Case<'a> = (&'a Value, &'a [(&'a str, &'a str)], [&'a str; 3]);

fn provider(spec: &Value) -> MachineProvider {
    let mut spec = spec.clone();
    spec["type"] = "sim".into();
    let object = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
        "metadata": {"name": "p", "namespace": "own"}, "spec": spec,
    });
    serde_json::from_value(object).expect("a provider")
}

fn held(secret: &str, values: &[(&str, &str)]) -> SecretData {
    let name = ("own".to_owned(), secret.to_owned());
    let values = values
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()));
    BTreeMap::from([(name, values.collect())])
}

fn check(spec: &Value, values: &[(&str, &str)]) -> Result<Access, String> {
    let outcome = access(&provider(spec), &held("s", values));
    outcome.map_err(|error| format!("{} {error}", error.reason()))
}

#[test]
fn every_documented_form_is_understood() {
    let key = json!({"authentication": {"type": "apikey", "apiKey": {"secretRef": {"name": "s", "key": "k"}}}});
    let Ok(Access::Token(token)) = check(&key, &[("k", "abc\n")]) else {
        unreachable!("no token");
    };
    assert_eq!(token.reveal(), "abc");
    let oauth2 = json!({"authentication": {"type": "oauth2", "oauth2": {
        "clientId": "me", "clientSecretRef": {"name": "s", "key": "k"},
        "tokenURL": "https://example.com/token", "scopes": ["a"],
    }}});
    let Ok(Access::OAuth2(client)) = check(&oauth2, &[("k", "abc")]) else {
        unreachable!("no client");
    };
    assert_eq!(
        (client.client.as_str(), client.secret.reveal()),
        ("me", "abc")
    );
    let certificate = json!({"authentication": {"type": "certificate", "certificate": {
        "certSecretRef": {"name": "s", "key": "tls.crt"}, "keySecretRef": {"name": "s", "key": "tls.key"},
    }}});
    let pair = [("tls.crt", CERTIFICATE), ("tls.key", KEY)];
    let by_certificate = check(&certificate, &pair).expect("a certificate");
    let expires = by_certificate.expires().expect("an end").to_string();
    assert!(expires.starts_with("2"), "{expires}");
    let account = json!({"authentication": {"type": "serviceaccount",
        "serviceAccount": {"secretRef": {"name": "s", "key": "k"}}}});
    for good in [r#"{"client_email": "a@b"}"#, "eyJhbGciOi.J9.x"] {
        let account = check(&account, &[("k", good)]);
        assert!(matches!(account, Ok(Access::Account(_))), "{account:?}");
    }
    let credentials =
        |kind: &str| json!({"credentials": {"type": kind, "secretRef": {"name": "s"}}});
    let login = check(
        &credentials("password"),
        &[("username", "ann"), ("password", "p w")],
    );
    assert!(
        matches!(login, Ok(Access::Password { user, password }) if user == "ann" && password.reveal() == "p w")
    );
    let token = check(&credentials("token"), &[("token", "abc")]);
    assert!(matches!(token, Ok(Access::Token(_))));
    assert_eq!(
        check(&credentials("certificate"), &pair),
        Ok(by_certificate)
    );
    assert_eq!(check(&json!({}), &[]), Ok(Access::Opaque));
}

#[test]
fn what_is_wrong_names_secret_and_key_and_never_a_value() {
    let key = json!({"authentication": {"type": "apikey", "apiKey": {"secretRef": {"name": "s", "key": "k"}}}});
    let token = json!({"credentials": {"type": "token", "secretRef": {"name": "s"}}});
    let login =
        json!({"credentials": {"type": "password", "secretRef": {"name": "s", "key": "pw"}}});
    let pair = json!({"credentials": {"type": "certificate", "secretRef": {"name": "s"}}});
    let account = json!({"authentication": {"type": "serviceaccount",
        "serviceAccount": {"secretRef": {"name": "s", "key": "k"}}}});
    let oauth2 = json!({"authentication": {"type": "oauth2", "oauth2": {
        "clientId": "me", "clientSecretRef": {"name": "s"},
    }}});
    let cases: [Case<'_>; 11] = [
        (
            &key,
            &[("other", "s3cr3t")],
            ["SecretKeyNotFound", "own/s has no key k", "it has other"],
        ),
        (
            &key,
            &[],
            [
                "SecretKeyNotFound",
                "it is empty",
                "spec.authentication.apiKey.secretRef",
            ],
        ),
        (
            &key,
            &[("k", " \n")],
            ["SecretMalformed", "key k of Secret own/s", "line of text"],
        ),
        (
            &key,
            &[("k", "s3cr3t\ns3cr3t")],
            ["SecretMalformed", "key k of Secret own/s", "line"],
        ),
        (
            &token,
            &[("tokens", "s3cr3t")],
            ["SecretKeyNotFound", "token or api-key", "has tokens"],
        ),
        (
            &login,
            &[("username", "ann")],
            ["SecretKeyNotFound", "no key pw", "has username"],
        ),
        (
            &login,
            &[("pw", "s3cr3t")],
            ["SecretKeyNotFound", "username or user", "has pw"],
        ),
        (
            &pair,
            &[("tls.crt", "s3cr3t"), ("tls.key", KEY)],
            ["SecretMalformed", "tls.crt", "certificate in PEM"],
        ),
        (
            &pair,
            &[("tls.crt", CERTIFICATE), ("tls.key", "s3cr3t")],
            ["SecretMalformed", "tls.key", "private key in PEM"],
        ),
        (
            &account,
            &[("k", "{s3cr3t")],
            ["SecretMalformed", "key k", "JSON object or a token"],
        ),
        (
            &oauth2,
            &[("client-secret", "s3cr3t")],
            ["CredentialsIncomplete", "tokenURL is missing", "issued"],
        ),
    ];
    for (spec, values, words) in cases {
        let told = check(spec, values).expect_err("refused");
        for word in words {
            assert!(told.contains(word), "{word} is not in {told}");
        }
        assert!(!told.contains("s3cr3t"), "{told}");
    }
    let told = access(&provider(&key), &SecretData::new()).expect_err("refused");
    assert_eq!(told.reason(), "SecretNotFound");
    assert!(told.to_string().contains("Secret own/s"), "{told}");
}

#[test]
fn secrets_are_named_once_and_nothing_that_they_hold_is_shown() {
    let reference = json!({"name": "s", "namespace": "there"});
    let spec = json!({"authentication": {"type": "certificate", "certificate": {
        "certSecretRef": reference, "keySecretRef": reference,
    }}});
    let names = secret_names(&provider(&spec));
    assert_eq!(names, [("there".to_owned(), "s".to_owned())]);
    let token = json!({"credentials": {"type": "token", "secretRef": {"name": "s"}}});
    let shown = format!("{:?}", check(&token, &[("token", "s3cr3t")]));
    assert!(!shown.contains("s3cr3t"), "{shown}");
}
