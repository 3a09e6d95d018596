//! Tokens of ServiceAccounts: issued, reviewed, bound to secrets, kept in secrets, and ended.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use common::{call, ok};
use machinist_apiserver::ApiServer;
use serde_json::{Value, json};

const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";

async fn review(server: &ApiServer, token: &str, audiences: &[&str]) -> Value {
    let asked = json!({"spec": {"token": token, "audiences": audiences}});
    let line = "POST /apis/authentication.k8s.io/v1/tokenreviews";
    ok(server, line, Some(&asked)).await["status"].clone()
}

async fn request(server: &ApiServer, spec: Value) -> (u16, Value) {
    let line = format!("POST {ACCOUNTS}/default/token");
    call(server, &line, Some(&json!({"spec": spec}))).await
}

fn token(answer: &(u16, Value)) -> String {
    assert_eq!(answer.0, 201, "{}", answer.1);
    answer.1["status"]["token"].as_str().unwrap().to_owned()
}

fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

#[tokio::test]
async fn a_token_has_the_claims_of_kubernetes_and_ends_with_its_account() {
    let server = common::server().await;
    let account = ok(&server, &format!("GET {ACCOUNTS}/default"), None).await;
    let uid = &account["metadata"]["uid"];
    let answer = request(&server, json!({"expirationSeconds": 700})).await;
    let issued = token(&answer);
    assert_eq!(
        answer.1["spec"],
        json!({"audiences": ["https://kubernetes.default.svc"], "expirationSeconds": 700, "boundObjectRef": null})
    );
    let found = claims(&issued);
    assert_eq!(
        found["kubernetes.io"],
        json!({"namespace": "default", "serviceaccount": {"name": "default", "uid": uid}})
    );
    assert_eq!(found["sub"], "system:serviceaccount:default:default");
    assert_eq!(
        found["exp"].as_i64().unwrap() - found["iat"].as_i64().unwrap(),
        700
    );
    let status = review(&server, &issued, &[]).await;
    assert_eq!(
        status,
        json!({
            "authenticated": true,
            "audiences": ["https://kubernetes.default.svc"],
            "user": {
                "username": "system:serviceaccount:default:default",
                "uid": uid,
                "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
                "extra": {"authentication.kubernetes.io/credential-id": [format!("JTI={}", found["jti"].as_str().unwrap())]},
            },
        })
    );
    // Another account of the same name is another account.
    ok(&server, &format!("DELETE {ACCOUNTS}/default"), None).await;
    common::eventually(
        &server,
        &format!("GET {ACCOUNTS}/default"),
        |code, found| code == 200 && found["metadata"]["uid"] != *uid,
    )
    .await;
    let status = review(&server, &issued, &[]).await;
    assert!(
        status["error"]
            .as_str()
            .unwrap()
            .starts_with("[invalid bearer token, service account UID ("),
        "{status}"
    );
    assert_eq!(status["authenticated"], Value::Null);
}

#[tokio::test]
async fn audiences_lives_and_bounds_are_checked() {
    let server = common::server().await;
    let vault = token(&request(&server, json!({"audiences": ["vault", "x"]})).await);
    let status = review(&server, &vault, &["vault", "y"]).await;
    assert_eq!(status["audiences"], json!(["vault"]));
    let status = review(&server, &vault, &[]).await;
    assert_eq!(
        status["error"],
        "[invalid bearer token, token audiences [\"vault\" \"x\"] is invalid for the target audiences [\"https://kubernetes.default.svc\"]]"
    );
    for (spec, code, message) in [
        (
            json!({"expirationSeconds": 60}),
            422,
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes",
        ),
        (
            json!({"expirationSeconds": 4294967297_i64}),
            422,
            "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds",
        ),
        (
            json!({"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": "none"}}),
            404,
            "secrets \"none\" not found",
        ),
        (
            json!({"boundObjectRef": {"apiVersion": "v1", "kind": "ConfigMap", "name": "none"}}),
            400,
            "cannot bind token to object of type /v1, Kind=ConfigMap",
        ),
    ] {
        let (found, answer) = request(&server, spec).await;
        assert_eq!(
            (found, answer["message"].as_str().unwrap()),
            (code, message)
        );
    }
    let (code, answer) = call(
        &server,
        &format!("POST {ACCOUNTS}/none/token"),
        Some(&json!({})),
    )
    .await;
    assert_eq!(
        (code, answer["message"].as_str().unwrap()),
        (404, "serviceaccounts \"none\" not found")
    );
    // A token that is bound to a secret ends with it.
    ok(
        &server,
        &format!("POST {SECRETS}"),
        Some(&json!({"metadata": {"name": "s"}})),
    )
    .await;
    let bound = json!({"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": "s"}});
    let bound = token(&request(&server, bound).await);
    assert_eq!(review(&server, &bound, &[]).await["authenticated"], true);
    ok(&server, &format!("DELETE {SECRETS}/s"), None).await;
    ok(
        &server,
        &format!("POST {SECRETS}"),
        Some(&json!({"metadata": {"name": "s"}})),
    )
    .await;
    let status = review(&server, &bound, &[]).await;
    assert_eq!(
        status["error"],
        "[invalid bearer token, service account token has been invalidated]"
    );
}

#[tokio::test]
async fn secrets_are_filled_with_tokens_and_go_with_their_account() {
    let server = common::server().await;
    ok(
        &server,
        &format!("POST {ACCOUNTS}"),
        Some(&json!({"metadata": {"name": "robot"}})),
    )
    .await;
    let wanted = |name: &str, account: &str| {
        json!({
            "metadata": {"name": name, "annotations": {"kubernetes.io/service-account.name": account}},
            "type": "kubernetes.io/service-account-token",
        })
    };
    let (code, answer) = call(&server, &format!("POST {SECRETS}"), Some(&wanted("t", ""))).await;
    assert_eq!(
        (code, answer["message"].as_str().unwrap()),
        (
            422,
            "Secret \"t\" is invalid: metadata.annotations[kubernetes.io/service-account.name]: Required value"
        )
    );
    ok(
        &server,
        &format!("POST {SECRETS}"),
        Some(&wanted("t", "robot")),
    )
    .await;
    let line = format!("GET {SECRETS}/t");
    common::eventually(&server, &line, |_, secret| {
        secret["data"]["token"].is_string()
    })
    .await;
    let secret = ok(&server, &line, None).await;
    let kept = STANDARD
        .decode(secret["data"]["token"].as_str().unwrap())
        .unwrap();
    let kept = String::from_utf8(kept).unwrap();
    assert_eq!(claims(&kept)["iss"], "kubernetes/serviceaccount");
    let status = review(&server, &kept, &[]).await;
    assert_eq!(
        status["user"]["username"],
        "system:serviceaccount:default:robot"
    );
    // Somebody who changes the copy ends the token.
    let other = json!({"data": {"token": STANDARD.encode("x")}});
    ok(&server, &format!("PATCH+merge {SECRETS}/t"), Some(&other)).await;
    assert_eq!(
        review(&server, &kept, &[]).await["error"],
        "[invalid bearer token, Token does not match server's copy]"
    );
    ok(&server, &format!("DELETE {ACCOUNTS}/robot"), None).await;
    common::eventually(&server, &line, |code, _| code == 404).await;
    assert_eq!(
        review(&server, &kept, &[]).await["error"],
        "[invalid bearer token, Token has been invalidated]"
    );
    // A secret for an account that is not there goes at once.
    ok(
        &server,
        &format!("POST {SECRETS}"),
        Some(&wanted("u", "nobody")),
    )
    .await;
    common::eventually(&server, &format!("GET {SECRETS}/u"), |code, _| code == 404).await;
}

#[tokio::test]
async fn others_can_verify_tokens() {
    let server = common::server().await;
    let configuration = ok(&server, "GET /.well-known/openid-configuration", None).await;
    assert_eq!(configuration["issuer"], "https://kubernetes.default.svc");
    let keys = ok(&server, "GET /openid/v1/jwks", None).await;
    let issued = token(&request(&server, json!({})).await);
    let header = issued.split('.').next().unwrap();
    let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).unwrap()).unwrap();
    assert_eq!(keys["keys"][0]["kid"], header["kid"]);
    assert_eq!(
        (&keys["keys"][0]["alg"], &header["alg"]),
        (&json!("ES256"), &json!("ES256"))
    );
}
