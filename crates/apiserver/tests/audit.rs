//! The audit log: what is written of requests, and what never is.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::path::Path;

use common::{assert_contains, call_as, ok, user};
use machinist_apiserver::{ApiServer, AuditOptions, Identity, LogFile, Options, Store};
use serde_json::{Value, json};
use tower::ServiceExt as _;

async fn server(path: &Path, policy: Option<&str>) -> ApiServer {
    let log = LogFile {
        path: path.to_owned(),
        max_size: 0,
        max_backups: 0,
    };
    let options = Options {
        audit: Some(AuditOptions {
            log,
            policy: policy.map(str::to_owned),
        }),
        ..Options::default()
    };
    ApiServer::new(Store::memory(), options).await.unwrap()
}

/// Waits until as many events are there, and gives them.
async fn events(path: &Path, count: usize) -> Vec<Value> {
    let read = || {
        let text = std::fs::read_to_string(path).unwrap();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect::<Vec<Value>>()
    };
    let wait = async {
        while read().len() < count {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(common::PATIENCE, wait)
        .await
        .unwrap_or_else(|_| panic!("{:#?}", read()));
    let found = read();
    assert_eq!(found.len(), count, "{found:#?}");
    found
}

#[tokio::test]
async fn changes_are_written_down_without_their_content() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("audit.log");
    let server = server(&path, None).await;
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"password": "swordfish"}});
    let secrets = "/api/v1/namespaces/default/secrets";
    ok(&server, &format!("GET {secrets}"), None).await;
    ok(
        &server,
        &format!("POST {secrets}?fieldManager=m"),
        Some(&secret),
    )
    .await;
    call_as(
        &server,
        &user("ann", &[]),
        &format!("DELETE {secrets}/s"),
        None,
    )
    .await;
    let line = "POST /apis/authentication.k8s.io/v1/tokenreviews";
    ok(
        &server,
        line,
        Some(&json!({"spec": {"token": "hush-hush"}})),
    )
    .await;
    let found = events(&path, 3).await;
    assert_contains(
        &found[0],
        &json!({
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata",
            "stage": "ResponseComplete",
            "requestURI": format!("{secrets}?fieldManager=m"),
            "verb": "create",
            "user": {"username": "machinist-admin", "groups": ["system:masters", "system:authenticated"]},
            "userAgent": "table-test/1.0",
            "objectRef": {"resource": "secrets", "namespace": "default", "apiVersion": "v1", "name": null},
            "responseStatus": {"code": 201},
            "requestObject": null,
            "responseObject": null,
            "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
        }),
        "create",
    );
    assert_contains(
        &found[1],
        &json!({
            "verb": "delete",
            "user": {"username": "ann"},
            "objectRef": {"name": "s"},
            "responseStatus": {"code": 403, "reason": "Forbidden", "status": "Failure", "message": "~User \"ann\" cannot delete"},
            "annotations": {"authorization.k8s.io/decision": "forbid"},
        }),
        "delete",
    );
    let text = std::fs::read_to_string(&path).unwrap();
    for word in ["swordfish", "c3dvcmRmaXNo", "hush-hush"] {
        assert!(!text.contains(word), "{text}");
    }
}

#[tokio::test]
async fn a_policy_says_how_much_is_written() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("audit.log");
    let policy = "
apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
rules:
- {level: RequestResponse, resources: [{group: '', resources: [configmaps]}], verbs: [create]}
- {level: RequestResponse, resources: [{group: '', resources: [serviceaccounts/token]}], omitStages: [RequestReceived]}
- {level: Metadata, verbs: [watch]}
- {level: Request, verbs: [patch], omitStages: [RequestReceived]}
";
    let server = server(&path, Some(policy)).await;
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = json!({"metadata": {"name": "c"}, "data": {"k": "v"}});
    ok(&server, &format!("POST {maps}"), Some(&map)).await;
    let found = events(&path, 2).await;
    assert_eq!(
        (&found[0]["stage"], &found[0]["requestObject"]),
        (&json!("RequestReceived"), &Value::Null)
    );
    assert_contains(
        &found[1],
        &json!({
            "stage": "ResponseComplete",
            "requestObject": {"data": {"k": "v"}},
            "responseObject": {"data": {"k": "v"}, "metadata": {"name": "c", "managedFields": null}},
        }),
        "create",
    );
    assert_eq!(found[0]["auditID"], found[1]["auditID"]);
    // A watch is written down when it begins and when it ends.
    let mut watch = common::watch(&server, &format!("GET {maps}?watch=true")).await;
    watch.next().await.unwrap();
    let found = events(&path, 4).await;
    assert_eq!(found[3]["stage"], "ResponseStarted");
    drop(watch);
    let found = events(&path, 5).await;
    assert_eq!(found[4]["stage"], "ResponseComplete");
    ok(
        &server,
        &format!("PATCH+merge {maps}/c"),
        Some(&json!({"data": {"k": "w"}})),
    )
    .await;
    let found = events(&path, 6).await;
    assert_contains(
        &found[5],
        &json!({"requestObject": {"data": {"k": "w"}}, "responseObject": null}),
        "patch",
    );
    // A token is never written, whatever the policy.
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    common::eventually(&server, &format!("GET {accounts}/default"), |code, _| {
        code == 200
    })
    .await;
    let answer = ok(
        &server,
        &format!("POST {accounts}/default/token"),
        Some(&json!({})),
    )
    .await;
    let found = events(&path, 7).await;
    assert_eq!(found[6]["responseObject"]["status"]["token"], "<redacted>");
    let token = answer["status"]["token"].as_str().unwrap();
    assert!(!std::fs::read_to_string(&path).unwrap().contains(token));
}

#[tokio::test]
async fn a_request_is_named_and_the_one_spoken_for_is_written_down() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("audit.log");
    let server = server(&path, None).await;
    let mut request = common::request(
        "POST /api/v1/namespaces",
        Some(&json!({"metadata": {"name": "n"}})),
    );
    for (name, value) in [("audit-id", "mine"), ("impersonate-user", "ann")] {
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    let response = server
        .service(Identity::admin())
        .oneshot(request)
        .await
        .unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["audit-id"]),
        (403, &"mine".parse().unwrap())
    );
    let found = events(&path, 1).await;
    assert_contains(
        &found[0],
        &json!({
            "auditID": "mine",
            "user": {"username": "machinist-admin"},
            "impersonatedUser": {"username": "ann", "groups": ["system:authenticated"]},
        }),
        "event",
    );
}

#[tokio::test]
async fn a_log_that_cannot_be_opened_or_a_policy_that_is_none_is_told_at_the_start() {
    for (path, policy, expected) in [
        ("/no/such/directory/audit.log", None, "cannot be written"),
        (
            "/dev/null",
            Some("kind: Pod".to_owned()),
            "must be a Policy of audit.k8s.io/v1",
        ),
    ] {
        let log = LogFile {
            path: path.into(),
            max_size: 0,
            max_backups: 0,
        };
        let options = Options {
            audit: Some(AuditOptions { log, policy }),
            ..Options::default()
        };
        let Err(error) = ApiServer::new(Store::memory(), options).await else {
            panic!("{path} is no log");
        };
        let chain = format!("{error}: {}", std::error::Error::source(&error).unwrap());
        assert!(chain.contains(expected), "{chain}");
    }
}
