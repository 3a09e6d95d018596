//! Who may do what: roles and bindings over the API, refusals in the words of Kubernetes, and that
//! nobody gives away what they do not hold.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{WIDGETS, call_as, ok, user, widget};
use machinist_apiserver::ApiServer;
use serde_json::{Value, json};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

/// One row: who, what, with which body, and the code with the message of the answer.
type Row<'a> = (&'a str, &'a str, Value, u16, &'a str);

async fn check(server: &ApiServer, rows: &[Row<'_>]) {
    for (name, line, body, code, message) in rows {
        let body = (!body.is_null()).then_some(body);
        let (found, answer) = call_as(server, &user(name, &[]), line, body).await;
        assert_eq!(found, *code, "{name} {line} answered {answer}");
        if *code >= 300 {
            // An unknown page has no message.
            let found = answer["message"].as_str().unwrap_or_default();
            assert_eq!(found, *message, "{name} {line}");
        }
    }
}

fn role(name: &str, rules: Value) -> Value {
    json!({"metadata": {"name": name}, "rules": rules})
}

fn binding(name: &str, role: &str, subject: &str) -> Value {
    let (kind, role) = role.split_once('/').unwrap();
    json!({
        "metadata": {"name": name},
        "roleRef": {"kind": kind, "name": role},
        "subjects": [{"kind": "User", "name": subject}],
    })
}

async fn give(server: &ApiServer, namespace: &str, role: &str, who: &str) {
    let name = format!("{who}-{}", role.replace('/', "-").to_lowercase());
    let line = match namespace {
        "" => format!("POST {RBAC}/clusterrolebindings"),
        namespace => format!("POST {RBAC}/namespaces/{namespace}/rolebindings"),
    };
    ok(server, &line, Some(&binding(&name, role, who))).await;
}

#[tokio::test]
async fn requests_are_refused_in_the_words_of_kubernetes() {
    let server = common::server().await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("x"))).await;
    give(&server, "default", "ClusterRole/view", "viewer").await;
    give(&server, "default", "ClusterRole/edit", "editor").await;
    give(&server, "", "ClusterRole/gone", "lost").await;
    let none = Value::Null;
    let line = |verb: &str, rest: &str| format!("{verb} {WIDGETS}{rest}");
    let applied = widget("new");
    let patcher =
        json!([{"apiGroups": ["example.io"], "resources": ["widgets"], "verbs": ["patch"]}]);
    ok(
        &server,
        &format!("POST {RBAC}/clusterroles"),
        Some(&role("patcher", patcher)),
    )
    .await;
    give(&server, "default", "ClusterRole/patcher", "patcher").await;
    check(&server, &[
        ("u", &line("GET", "/x"), none.clone(), 403, "widgets.example.io \"x\" is forbidden: User \"u\" cannot get resource \"widgets\" in API group \"example.io\" in the namespace \"default\""),
        ("u", &line("GET", ""), none.clone(), 403, "widgets.example.io is forbidden: User \"u\" cannot list resource \"widgets\" in API group \"example.io\" in the namespace \"default\""),
        ("u", &line("GET", "?watch=1"), none.clone(), 403, "widgets.example.io is forbidden: User \"u\" cannot watch resource \"widgets\" in API group \"example.io\" in the namespace \"default\""),
        ("u", &line("GET", "?fieldSelector=metadata.name=x"), none.clone(), 403, "widgets.example.io \"x\" is forbidden: User \"u\" cannot list resource \"widgets\" in API group \"example.io\" in the namespace \"default\""),
        ("u", &line("DELETE", ""), none.clone(), 403, "widgets.example.io is forbidden: User \"u\" cannot deletecollection resource \"widgets\" in API group \"example.io\" in the namespace \"default\""),
        ("u", &line("PATCH+merge", "/x/status"), json!({}), 403, "widgets.example.io \"x\" is forbidden: User \"u\" cannot patch resource \"widgets/status\" in API group \"example.io\" in the namespace \"default\""),
        ("u", "GET /api/v1/namespaces/default", none.clone(), 403, "namespaces \"default\" is forbidden: User \"u\" cannot get resource \"namespaces\" in API group \"\" in the namespace \"default\""),
        ("u", "GET /api/v1/namespaces", none.clone(), 403, "namespaces is forbidden: User \"u\" cannot list resource \"namespaces\" in API group \"\" at the cluster scope"),
        ("u", "GET /apis/no.such/v1/things", none.clone(), 403, "things.no.such is forbidden: User \"u\" cannot list resource \"things\" in API group \"no.such\" at the cluster scope"),
        ("u", "GET /metrics", none.clone(), 403, "forbidden: User \"u\" cannot get path \"/metrics\""),
        ("u", "GET /apis", none.clone(), 200, ""),
        ("u", "GET /readyz", none.clone(), 200, ""),
        ("lost", &line("GET", "/x"), none.clone(), 403, "widgets.example.io \"x\" is forbidden: User \"lost\" cannot get resource \"widgets\" in API group \"example.io\" in the namespace \"default\": RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found"),
        ("viewer", &line("GET", "/x"), none.clone(), 200, ""),
        ("viewer", "GET /api/v1/namespaces/default", none.clone(), 200, ""),
        ("viewer", "GET /api/v1/namespaces/default/secrets", none.clone(), 403, "secrets is forbidden: User \"viewer\" cannot list resource \"secrets\" in API group \"\" in the namespace \"default\""),
        ("viewer", &line("POST", ""), widget("y"), 403, "widgets.example.io is forbidden: User \"viewer\" cannot create resource \"widgets\" in API group \"example.io\" in the namespace \"default\""),
        ("viewer", "GET /apis/example.io/v1/namespaces/kube-system/widgets", none.clone(), 403, "widgets.example.io is forbidden: User \"viewer\" cannot list resource \"widgets\" in API group \"example.io\" in the namespace \"kube-system\""),
        ("editor", &line("POST", ""), widget("y"), 201, ""),
        ("editor", &line("PATCH+merge", "/y/status"), json!({}), 403, "widgets.example.io \"y\" is forbidden: User \"editor\" cannot patch resource \"widgets/status\" in API group \"example.io\" in the namespace \"default\""),
        // An apply that would create needs the right to create.
        ("patcher", &line("PATCH+apply", "/x?fieldManager=m&force=true"), widget("x"), 200, ""),
        ("patcher", &line("PATCH+apply", "/new?fieldManager=m"), applied.clone(), 403, "widgets.example.io \"new\" is forbidden: User \"patcher\" cannot create resource \"widgets\" in API group \"example.io\" in the namespace \"default\""),
        ("editor", &line("PATCH+apply", "/new?fieldManager=m"), applied, 201, ""),
    ]).await;
    let (_, answer) = call_as(&server, &user("u", &[]), "GET /metrics", None).await;
    assert_eq!(answer["details"], json!({}));
}

#[tokio::test]
async fn nobody_gives_away_what_they_do_not_hold() {
    let server = common::server().await;
    give(&server, "default", "ClusterRole/admin", "admin").await;
    let secrets =
        |verbs: &[&str]| json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": verbs}]);
    let binders = json!([
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterrolebindings", "clusterroles"], "verbs": ["create", "update"]},
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "resourceNames": ["view"], "verbs": ["bind"]},
    ]);
    ok(
        &server,
        &format!("POST {RBAC}/clusterroles"),
        Some(&role("binder", binders)),
    )
    .await;
    give(&server, "", "ClusterRole/binder", "binder").await;
    let roles = format!("POST {RBAC}/namespaces/default/roles");
    let bindings = format!("POST {RBAC}/namespaces/default/rolebindings");
    let everywhere = format!("POST {RBAC}/clusterrolebindings");
    let not_held = |kind: &str, name: &str, user: &str, lines: &str| {
        format!(
            "{kind}.rbac.authorization.k8s.io \"{name}\" is forbidden: user \"{user}\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not currently held:\n{lines}"
        )
    };
    let impersonate = not_held(
        "roles",
        "r2",
        "admin",
        "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"impersonate\"]}",
    );
    let all = not_held(
        "rolebindings",
        "b2",
        "admin",
        "{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}\n{NonResourceURLs:[\"*\"], Verbs:[\"*\"]}",
    );
    let reader = not_held(
        "clusterroles",
        "more",
        "binder",
        "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}",
    );
    let mut gathering = role("gathering", json!([]));
    gathering["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]});
    check(&server, &[
        ("admin", &roles, role("r1", secrets(&["get", "list"])), 201, ""),
        ("admin", &roles, role("r2", secrets(&["get", "impersonate"])), 403, &impersonate),
        ("admin", &bindings, binding("b1", "ClusterRole/view", "friend"), 201, ""),
        ("admin", &bindings, binding("b2", "ClusterRole/cluster-admin", "friend"), 403, &all),
        ("admin", &bindings, binding("b3", "Role/none", "friend"), 404, "rolebindings.rbac.authorization.k8s.io \"none\" not found"),
        ("binder", &everywhere, binding("b4", "ClusterRole/view", "friend"), 201, ""),
        ("binder", &format!("POST {RBAC}/clusterroles"), role("more", secrets(&["get"])), 403, &reader),
        ("binder", &format!("POST {RBAC}/clusterroles"), gathering, 403, "clusterroles.rbac.authorization.k8s.io \"gathering\" is forbidden: must have cluster-admin privileges to use the aggregationRule"),
        ("friend", "GET /api/v1/namespaces/kube-system/configmaps", Value::Null, 200, ""),
    ]).await;
    // An update is held to the same, and nobody changes the role of a binding.
    let wider = json!({"rules": secrets(&["*"])});
    let r1 = not_held(
        "roles",
        "r1",
        "admin",
        "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"*\"]}",
    );
    check(&server, &[
        ("admin", &format!("PATCH+merge {RBAC}/namespaces/default/roles/r1"), wider, 403, &r1),
        ("admin", &format!("PATCH+merge {RBAC}/namespaces/default/rolebindings/b1"), json!({"roleRef": {"name": "edit"}}), 422,
         "RoleBinding.rbac.authorization.k8s.io \"b1\" is invalid: roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"ClusterRole\",\"Name\":\"edit\"}: cannot change roleRef"),
    ]).await;
}

#[tokio::test]
async fn roles_and_bindings_are_validated() {
    let server = common::server().await;
    let urls = json!([{"verbs": ["get"], "nonResourceURLs": ["/x", "/y"], "resources": ["a"]}, {}]);
    let wrong = json!({
        "metadata": {"name": "b2"},
        "roleRef": {"kind": "Role", "name": "", "apiGroup": "x"},
        "subjects": [{"kind": "X", "name": ""}, {"kind": "ServiceAccount", "name": "a", "apiGroup": "q"}, {"kind": "User", "apiGroup": "z", "name": "n"}],
    });
    let answers = [
        (
            format!("POST {RBAC}/namespaces/default/roles"),
            role("r1", urls),
            "Role.rbac.authorization.k8s.io \"r1\" is invalid: [rules[0].nonResourceURLs: Invalid value: [\"/x\",\"/y\"]: namespaced rules cannot apply to non-resource URLs, rules[0].nonResourceURLs: Invalid value: [\"/x\",\"/y\"]: rules cannot apply to both regular resources and non-resource URLs, rules[1].verbs: Required value: verbs must contain at least one value, rules[1].apiGroups: Required value: resource rules must supply at least one api group, rules[1].resources: Required value: resource rules must supply at least one resource]",
        ),
        (
            format!("POST {RBAC}/clusterrolebindings"),
            wrong,
            "ClusterRoleBinding.rbac.authorization.k8s.io \"b2\" is invalid: [roleRef.apiGroup: Unsupported value: \"x\": supported values: \"rbac.authorization.k8s.io\", roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\", roleRef.name: Required value, subjects[0].name: Required value, subjects[0].kind: Unsupported value: \"X\": supported values: \"ServiceAccount\", \"User\", \"Group\", subjects[1].apiGroup: Unsupported value: \"q\": supported values: \"\", subjects[1].namespace: Required value, subjects[2].apiGroup: Unsupported value: \"z\": supported values: \"rbac.authorization.k8s.io\"]",
        ),
        (
            format!("POST {RBAC}/clusterroles"),
            json!({"metadata": {"name": "a/b"}, "rules": [], "aggregationRule": {}}),
            "ClusterRole.rbac.authorization.k8s.io \"a/b\" is invalid: [metadata.name: Invalid value: \"a/b\": may not contain '/', aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil]",
        ),
    ];
    for (line, body, message) in &answers {
        let (code, answer) = common::call(&server, line, Some(body)).await;
        assert_eq!(
            (code, answer["message"].as_str().unwrap()),
            (422, *message),
            "{line}"
        );
    }
}

#[tokio::test]
async fn roles_made_of_others_follow_them() {
    let server = common::server().await;
    give(&server, "", "ClusterRole/view", "viewer").await;
    let things = "GET /apis/things.io/v1/things";
    let mut more = role(
        "things",
        json!([{"apiGroups": ["things.io"], "resources": ["things"], "verbs": ["list"]}]),
    );
    more["metadata"]["labels"] = json!({"rbac.authorization.k8s.io/aggregate-to-view": "true"});
    check(&server, &[("viewer", things, Value::Null, 403, "things.things.io is forbidden: User \"viewer\" cannot list resource \"things\" in API group \"things.io\" at the cluster scope")]).await;
    ok(&server, &format!("POST {RBAC}/clusterroles"), Some(&more)).await;
    // By way of `view` and `edit`, also in `admin`.
    let gathered = |_, role: &Value| role["rules"].to_string().contains("things.io");
    common::eventually(&server, &format!("GET {RBAC}/clusterroles/admin"), gathered).await;
    // There is no such kind, but the request was let through.
    let (code, _) = call_as(&server, &user("viewer", &[]), things, None).await;
    assert_eq!(code, 404);
    ok(&server, &format!("DELETE {RBAC}/clusterroles/things"), None).await;
    common::eventually(
        &server,
        &format!("GET {RBAC}/clusterroles/admin"),
        |_, role| !gathered(200, role),
    )
    .await;
}

#[tokio::test]
async fn a_restart_repairs_the_policy_and_writes_nothing_when_it_is_whole() {
    let store = machinist_apiserver::Store::memory();
    let server = common::server_on(store.clone()).await;
    let first = store.revision();
    server.stop();
    let server = common::server_on(store.clone()).await;
    assert_eq!(store.revision(), first);
    ok(&server, &format!("DELETE {RBAC}/clusterroles/edit"), None).await;
    let mine = json!({"metadata": {"annotations": {"rbac.authorization.kubernetes.io/autoupdate": "false"}}, "rules": []});
    ok(
        &server,
        &format!("PATCH+merge {RBAC}/clusterroles/system:discovery"),
        Some(&mine),
    )
    .await;
    server.stop();
    let server = common::server_on(store.clone()).await;
    let edit = ok(&server, &format!("GET {RBAC}/clusterroles/edit"), None).await;
    assert!(edit["rules"].to_string().contains("example.io"), "{edit}");
    let kept = ok(
        &server,
        &format!("GET {RBAC}/clusterroles/system:discovery"),
        None,
    )
    .await;
    assert_eq!(kept["rules"], json!([]));
}
