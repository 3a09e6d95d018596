//! Questions about access, and speaking for others.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{call_as, ok, user};
use machinist_apiserver::{ApiServer, Identity};
use serde_json::{Value, json};
use tower::ServiceExt as _;

const REVIEWS: &str = "/apis/authorization.k8s.io/v1";
const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

async fn server() -> ApiServer {
    let server = common::server().await;
    let viewer = json!({
        "metadata": {"name": "viewer"},
        "roleRef": {"kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "User", "name": "viewer"}],
    });
    let line = format!("POST {RBAC}/namespaces/default/rolebindings");
    ok(&server, &line, Some(&viewer)).await;
    server
}

#[tokio::test]
async fn questions_about_access_are_answered() {
    let server = server().await;
    let read = |namespace: &str| json!({"verb": "list", "group": "example.io", "resource": "widgets", "namespace": namespace});
    let reason = "RBAC: allowed by RoleBinding \"viewer/default\" of ClusterRole \"view\" to User \"viewer\"";
    let yes = json!({"allowed": true, "reason": reason});
    let no = json!({"allowed": false});
    let selves = format!("{REVIEWS}/selfsubjectaccessreviews");
    let others = format!("{REVIEWS}/subjectaccessreviews");
    let local = format!("{REVIEWS}/namespaces/default/localsubjectaccessreviews");
    for (who, path, spec, expected) in [
        (
            user("viewer", &[]),
            &selves,
            json!({"resourceAttributes": read("default")}),
            &yes,
        ),
        (
            user("viewer", &[]),
            &selves,
            json!({"resourceAttributes": read("")}),
            &no,
        ),
        (
            user("viewer", &[]),
            &selves,
            json!({"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}),
            &no,
        ),
        (
            Identity::admin(),
            &selves,
            json!({"resourceAttributes": read("")}),
            &json!({"allowed": true}),
        ),
        (
            Identity::admin(),
            &others,
            json!({"user": "viewer", "resourceAttributes": read("default")}),
            &yes,
        ),
        (
            Identity::admin(),
            &others,
            json!({"groups": ["system:masters"], "resourceAttributes": read("")}),
            &json!({"allowed": true}),
        ),
        (
            Identity::admin(),
            &local,
            json!({"user": "viewer", "resourceAttributes": read("default")}),
            &yes,
        ),
    ] {
        let (code, answer) = call_as(
            &server,
            &who,
            &format!("POST {path}"),
            Some(&json!({"spec": spec})),
        )
        .await;
        assert_eq!((code, &answer["status"]), (201, expected), "{path} {spec}");
    }
    for (path, spec, code, message) in [
        (
            &selves,
            json!({}),
            422,
            ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
        (
            &selves,
            json!({"resourceAttributes": {"verb": "get"}, "nonResourceAttributes": {"path": "/", "verb": "get"}}),
            422,
            ".authorization.k8s.io \"\" is invalid: spec.nonResourceAttributes: Invalid value: {\"Path\":\"/\",\"Verb\":\"get\"}: cannot be specified in combination with resourceAttributes",
        ),
        (
            &others,
            json!({"resourceAttributes": {"verb": "get"}}),
            422,
            ".authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at least one of user or group must be specified",
        ),
        (
            &local,
            json!({"user": "u", "resourceAttributes": read("other")}),
            422,
            ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid value: \"other\": must match metadata.namespace",
        ),
    ] {
        let (found, answer) = call_as(
            &server,
            &Identity::admin(),
            &format!("POST {path}"),
            Some(&json!({"spec": spec})),
        )
        .await;
        assert_eq!(
            (found, answer["message"].as_str().unwrap()),
            (code, message)
        );
    }
    // Whoever has no right to ask about others gets no answer.
    let (code, answer) = call_as(
        &server,
        &user("viewer", &[]),
        &format!("POST {others}"),
        Some(&json!({"spec": {}})),
    )
    .await;
    assert_eq!(
        (code, answer["reason"].as_str().unwrap()),
        (403, "Forbidden")
    );
    for line in [
        format!("GET {selves}"),
        format!("GET {selves}/x"),
        format!("POST {REVIEWS}/namespaces/default/selfsubjectaccessreviews"),
    ] {
        let (code, _) = call_as(&server, &Identity::admin(), &line, None).await;
        assert_eq!(
            code,
            if line.ends_with("GET /x") {
                404
            } else if line.starts_with("GET") && !line.ends_with("/x") {
                405
            } else {
                404
            },
            "{line}"
        );
    }
}

#[tokio::test]
async fn rules_are_listed() {
    let server = server().await;
    let line = format!("POST {REVIEWS}/selfsubjectrulesreviews");
    let asked = json!({"spec": {"namespace": "default"}});
    let (code, answer) = call_as(&server, &user("viewer", &[]), &line, Some(&asked)).await;
    assert_eq!(code, 201, "{answer}");
    let status = &answer["status"];
    assert_eq!(status["incomplete"], false);
    let widgets = json!({"verbs": ["get", "list", "watch"], "apiGroups": ["example.io"], "resources": ["widgets", "widgets/scale", "widgets/status"]});
    assert!(
        status["resourceRules"]
            .as_array()
            .unwrap()
            .contains(&widgets),
        "{status}"
    );
    assert!(
        status["nonResourceRules"]
            .to_string()
            .contains("/openapi/*"),
        "{status}"
    );
    let (code, answer) = call_as(&server, &user("viewer", &[]), &line, Some(&json!({}))).await;
    assert_eq!(
        (code, answer["message"].as_str().unwrap()),
        (400, "no namespace on request")
    );
}

async fn whoami(server: &ApiServer, who: Identity, headers: &[(&str, &str)]) -> (u16, Value) {
    let line = "POST /apis/authentication.k8s.io/v1/selfsubjectreviews";
    let mut request = common::request(line, Some(&json!({})));
    for (name, value) in headers {
        let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
        request.headers_mut().append(name, value.parse().unwrap());
    }
    common::answer(server.service(who).oneshot(request).await.unwrap()).await
}

#[tokio::test]
async fn whoever_may_speaks_for_others() {
    let server = server().await;
    let role = json!({"metadata": {"name": "speaker"}, "rules": [
        {"apiGroups": [""], "resources": ["users"], "resourceNames": ["ann"], "verbs": ["impersonate"]},
        {"apiGroups": [""], "resources": ["groups"], "verbs": ["impersonate"]},
        {"apiGroups": ["authentication.k8s.io"], "resources": ["userextras/scopes"], "resourceNames": ["read"], "verbs": ["impersonate"]},
        {"apiGroups": ["authentication.k8s.io"], "resources": ["users"], "resourceNames": ["bob"], "verbs": ["impersonate:user-info"]},
        {"apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"], "verbs": ["impersonate-on:user-info:create"]},
    ]});
    ok(&server, &format!("POST {RBAC}/clusterroles"), Some(&role)).await;
    let binding = json!({"metadata": {"name": "speaker"}, "roleRef": {"kind": "ClusterRole", "name": "speaker"}, "subjects": [{"kind": "User", "name": "speaker"}]});
    ok(
        &server,
        &format!("POST {RBAC}/clusterrolebindings"),
        Some(&binding),
    )
    .await;
    let speaker = || user("speaker", &[]);
    let info = |user: &str, groups: &[&str]| json!({"username": user, "groups": groups});
    for (who, headers, expected) in [
        (
            Identity::admin(),
            &[("impersonate-user", "ann")][..],
            info("ann", &["system:authenticated"]),
        ),
        (
            Identity::admin(),
            &[("impersonate-user", "system:serviceaccount:ns:sa")],
            info(
                "system:serviceaccount:ns:sa",
                &[
                    "system:serviceaccounts",
                    "system:serviceaccounts:ns",
                    "system:authenticated",
                ],
            ),
        ),
        (
            Identity::admin(),
            &[
                ("impersonate-user", "ann"),
                ("impersonate-group", "system:authenticated"),
                ("impersonate-group", "b"),
            ],
            info("ann", &["system:authenticated", "b"]),
        ),
        (
            Identity::admin(),
            &[
                ("impersonate-user", "ann"),
                ("impersonate-uid", "7"),
                ("impersonate-extra-a%2fb", "c"),
            ],
            json!({"username": "ann", "uid": "7", "groups": ["system:authenticated"], "extra": {"a/b": ["c"]}}),
        ),
        (
            speaker(),
            &[
                ("impersonate-user", "ann"),
                ("impersonate-group", "b"),
                ("impersonate-extra-scopes", "read"),
            ],
            json!({"username": "ann", "groups": ["b", "system:authenticated"], "extra": {"scopes": ["read"]}}),
        ),
        (
            speaker(),
            &[("impersonate-user", "bob")],
            info("bob", &["system:authenticated"]),
        ),
    ] {
        let (code, answer) = whoami(&server, who, headers).await;
        assert_eq!(
            (code, &answer["status"]["userInfo"]),
            (201, &expected),
            "{headers:?} {answer}"
        );
    }
    for (who, headers, code, message) in [
        (
            user("viewer", &[]),
            &[("impersonate-user", "ann")][..],
            403,
            "selfsubjectreviews.authentication.k8s.io is forbidden: User \"viewer\" cannot impersonate-on:user-info:create resource \"selfsubjectreviews\" in API group \"authentication.k8s.io\" at the cluster scope",
        ),
        (
            user("viewer", &[]),
            &[
                ("impersonate-user", "system:serviceaccount:ns:sa"),
                ("impersonate-group", "g"),
            ],
            403,
            "serviceaccounts \"sa\" is forbidden: User \"viewer\" cannot impersonate resource \"serviceaccounts\" in API group \"\" in the namespace \"ns\"",
        ),
        (
            speaker(),
            &[("impersonate-user", "carl")],
            403,
            "users.authentication.k8s.io \"carl\" is forbidden: User \"speaker\" cannot impersonate:user-info resource \"users\" in API group \"authentication.k8s.io\" at the cluster scope",
        ),
        (
            speaker(),
            &[("impersonate-user", "bob"), ("impersonate-group", "g")],
            403,
            "groups.authentication.k8s.io \"g\" is forbidden: User \"speaker\" cannot impersonate:user-info resource \"groups\" in API group \"authentication.k8s.io\" at the cluster scope",
        ),
    ] {
        let (found, answer) = whoami(&server, who, headers).await;
        assert_eq!(
            (found, answer["message"].as_str().unwrap()),
            (code, message),
            "{headers:?}"
        );
    }
    let (code, _) = whoami(&server, Identity::admin(), &[("impersonate-group", "g")]).await;
    assert_eq!(code, 400);
}
