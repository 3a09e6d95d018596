//! Namespaces, owners, definitions, built-ins, restarts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{
    WIDGETS, assert_contains, call, check, eventually, ok, server, server_on, widget,
    widget_definition,
};
use machinist_apiserver::{ApiServer, Options, Store};
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

#[tokio::test]
async fn a_namespace_ends_when_it_is_empty() {
    let server = server().await;
    let mut held = widget("held");
    held["metadata"]["finalizers"] = json!(["example.io/hold"]);
    let map = json!({"metadata": {"name": "m"}, "data": {"a": "b"}});
    check(
        &server,
        &[
            ("POST /api/v1/namespaces", json!({"metadata": {"name": "work"}}), 201, json!({
                "kind": "Namespace", "status": {"phase": "Active"}, "spec": {"finalizers": ["kubernetes"]},
                "metadata": {"labels": {"kubernetes.io/metadata.name": "work"}},
            })),
            ("POST /api/v1/namespaces/work/configmaps", map.clone(), 201, json!({})),
            ("POST /apis/example.io/v1/namespaces/work/widgets", held, 201, json!({})),
            ("DELETE /api/v1/namespaces/work", Value::Null, 200, json!({"kind": "Namespace", "status": {"phase": "Terminating"}})),
            ("POST /api/v1/namespaces/work/configmaps", map, 403, json!({
                "reason": "Forbidden",
                "message": "~unable to create new content in namespace work because it is being terminated",
                "details": {"causes": [{"reason": "NamespaceTerminating"}]},
            })),
        ],
    )
    .await;
    eventually(
        &server,
        "GET /api/v1/namespaces/work/configmaps/m",
        |code, _| code == 404,
    )
    .await;
    let held = "GET /apis/example.io/v1/namespaces/work/widgets/held";
    eventually(&server, held, |_, object| {
        object["metadata"]["deletionTimestamp"].is_string()
    })
    .await;
    ok(&server, "GET /api/v1/namespaces/work", None).await;
    let free = json!({"metadata": {"finalizers": null}});
    ok(
        &server,
        "PATCH+merge /apis/example.io/v1/namespaces/work/widgets/held",
        Some(&free),
    )
    .await;
    eventually(&server, "GET /api/v1/namespaces/work", |code, _| {
        code == 404
    })
    .await;
}

fn owned(name: &str, owner: &Value, block: bool) -> Value {
    let mut body = widget(name);
    body["metadata"]["ownerReferences"] = json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "blockOwnerDeletion": block,
    }]);
    body
}

async fn family(server: &ApiServer) -> Value {
    let owner = ok(server, &format!("POST {WIDGETS}"), Some(&widget("owner"))).await;
    ok(
        server,
        &format!("POST {WIDGETS}"),
        Some(&owned("child", &owner, true)),
    )
    .await;
    owner
}

#[tokio::test]
async fn what_is_owned_follows_its_owner() {
    let server = server().await;
    family(&server).await;
    ok(&server, &format!("DELETE {WIDGETS}/owner"), None).await;
    eventually(&server, &format!("GET {WIDGETS}/child"), |code, _| {
        code == 404
    })
    .await;
}

#[tokio::test]
async fn what_names_an_owner_that_never_was_is_collected() {
    let server = server().await;
    let ghost = json!({"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "ghost", "uid": "u"}});
    ok(
        &server,
        &format!("POST {WIDGETS}"),
        Some(&owned("child", &ghost, false)),
    )
    .await;
    eventually(&server, &format!("GET {WIDGETS}/child"), |code, _| {
        code == 404
    })
    .await;
}

#[tokio::test]
async fn in_the_foreground_the_owner_goes_last() {
    let server = server().await;
    let owner = family(&server).await;
    let mut held = owned("held", &owner, true);
    held["metadata"]["finalizers"] = json!(["example.io/hold"]);
    ok(&server, &format!("POST {WIDGETS}"), Some(&held)).await;
    let foreground = json!({"propagationPolicy": "Foreground"});
    let pending = ok(
        &server,
        &format!("DELETE {WIDGETS}/owner"),
        Some(&foreground),
    )
    .await;
    assert_eq!(
        pending["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
    eventually(&server, &format!("GET {WIDGETS}/child"), |code, _| {
        code == 404
    })
    .await;
    let waiting = format!("GET {WIDGETS}/held");
    eventually(&server, &waiting, |_, object| {
        object["metadata"]["deletionTimestamp"].is_string()
    })
    .await;
    ok(&server, &format!("GET {WIDGETS}/owner"), None).await;
    let free = json!({"metadata": {"finalizers": null}});
    ok(&server, &format!("PATCH+merge {WIDGETS}/held"), Some(&free)).await;
    eventually(&server, &format!("GET {WIDGETS}/owner"), |code, _| {
        code == 404
    })
    .await;
}

#[tokio::test]
async fn orphans_stay() {
    let server = server().await;
    family(&server).await;
    ok(
        &server,
        &format!("DELETE {WIDGETS}/owner?propagationPolicy=Orphan"),
        None,
    )
    .await;
    eventually(&server, &format!("GET {WIDGETS}/owner"), |code, _| {
        code == 404
    })
    .await;
    let child = ok(&server, &format!("GET {WIDGETS}/child"), None).await;
    assert_eq!(child["metadata"].get("ownerReferences"), None);
}

#[tokio::test]
async fn a_definition_is_served_at_once_and_until_it_is_gone() {
    let server = ApiServer::new(Store::memory(), Options::default())
        .await
        .unwrap();
    check(
        &server,
        &[
            (&format!("GET {WIDGETS}"), Value::Null, 404, json!("~page not found")),
            (&format!("POST {DEFINITIONS}"), widget_definition(), 201, json!({
                "spec": {"names": {"listKind": "WidgetList"}, "conversion": {"strategy": "None"}},
                "status": {
                    "conditions": [{"type": "NamesAccepted", "status": "True"}, {"type": "Established", "status": "True"}],
                    "storedVersions": ["v1"], "acceptedNames": {"kind": "Widget", "plural": "widgets"},
                },
            })),
            (&format!("POST {WIDGETS}"), widget("one"), 201, json!({})),
            (&format!("PATCH+json {DEFINITIONS}/widgets.example.io"), json!([{
                "op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size", "value": {"type": "integer"},
            }]), 200, json!({"metadata": {"generation": 2}})),
            (&format!("PATCH+merge {WIDGETS}/one?fieldValidation=Strict"), json!({"spec": {"size": 3}}), 200, json!({"spec": {"size": 3}})),
            (&format!("DELETE {DEFINITIONS}/widgets.example.io"), Value::Null, 200, json!({})),
        ],
    )
    .await;
    eventually(
        &server,
        &format!("GET {DEFINITIONS}/widgets.example.io"),
        |code, _| code == 404,
    )
    .await;
    // The kind goes just after its definition, as in Kubernetes.
    eventually(&server, &format!("GET {WIDGETS}"), |code, _| code == 404).await;
    assert!(
        server
            .store()
            .list("/example.io/", None, None)
            .entries
            .is_empty()
    );
}

#[tokio::test]
async fn definitions_that_cannot_be_served_are_refused() {
    let server = server().await;
    let create = format!("POST {DEFINITIONS}");
    let with = |name: &str, plural: &str, path: &str, value: Value| {
        let mut body = widget_definition();
        body["metadata"]["name"] = name.into();
        body["spec"]["names"] = json!({"plural": plural, "kind": "Gadget"});
        *body.pointer_mut(path).unwrap() = value;
        body
    };
    let schema = "/spec/versions/0/schema/openAPIV3Schema";
    check(
        &server,
        &[
            (&create, with("gadgets.example.org", "gadgets", "/kind", json!("CustomResourceDefinition")), 422, json!({"message": "~must be spec.names.plural+\".\"+spec.group"})),
            (&create, with("gadgets.example.io", "gadgets", schema, json!({"type": "string"})), 422, json!({"message": "~must be object at the root"})),
            (&create, with("gadgets.example.io", "gadgets", schema, json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}})), 422, json!({"message": "~pattern"})),
            (&create, with("gadgets.example.io", "gadgets", "/spec/versions/0/storage", json!(false)), 422, json!({"message": "~exactly one version marked as storage version"})),
            (&create, with("gadgets.example.io", "gadgets", "/spec/scope", json!("Galaxy")), 422, json!({"message": "~spec.scope: Unsupported value"})),
        ],
    )
    .await;
    // A name that is taken is accepted but not served.
    let mut clash = with(
        "gadgets.example.io",
        "gadgets",
        "/spec/names/kind",
        json!("Widget"),
    );
    clash["spec"]["names"]["kind"] = "Widget".into();
    let stored = ok(&server, &create, Some(&clash)).await;
    assert_contains(
        &stored["status"],
        &json!({"conditions": [{"type": "NamesAccepted", "status": "False"}, {"type": "Established", "status": "False"}]}),
        "status",
    );
    let (code, _) = call(&server, "GET /apis/example.io/v1/gadgets", None).await;
    assert_eq!(code, 404);
}

#[tokio::test]
async fn a_restart_finds_everything() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Store::open(directory.path(), Default::default()).unwrap();
    let before = {
        let server = server_on(open()).await;
        let created = ok(&server, &format!("POST {WIDGETS}"), Some(&widget("one"))).await;
        let store = server.store().clone();
        server.stop();
        drop(server);
        store.close().await;
        created
    };
    // Without being told of the definition again, the server knows it from the store.
    let server = ApiServer::new(open(), Options::default()).await.unwrap();
    let after = ok(&server, &format!("GET {WIDGETS}/one"), None).await;
    assert_eq!(after, before);
    server.stop();
    let store = server.store().clone();
    drop(server);
    store.close().await;
    // Being told again changes nothing.
    let server = server_on(open()).await;
    let definition = ok(
        &server,
        &format!("GET {DEFINITIONS}/widgets.example.io"),
        None,
    )
    .await;
    assert_eq!(definition["metadata"]["generation"], 1);
}

#[tokio::test]
async fn secrets_and_config_maps() {
    let server = server().await;
    let secrets = "/api/v1/namespaces/default/secrets";
    let maps = "/api/v1/namespaces/default/configmaps";
    check(
        &server,
        &[
            (&format!("POST {secrets}"), json!({"metadata": {"name": "s"}, "data": {"a": "eA=="}, "stringData": {"b": "y"}}), 201, json!({
                "kind": "Secret", "apiVersion": "v1", "type": "Opaque", "data": {"a": "eA==", "b": "eQ=="}, "stringData": null,
                "metadata": {"generation": null},
            })),
            (&format!("PATCH+strategic {secrets}/s"), json!({"stringData": {"a": "z"}}), 200, json!({"data": {"a": "eg==", "b": "eQ=="}})),
            (&format!("POST {maps}"), json!({"metadata": {"name": "m"}, "data": {"a": "b"}, "immutable": true}), 201, json!({})),
            (&format!("PATCH+merge {maps}/m"), json!({"data": {"a": "c"}}), 422, json!({"message": "~field is immutable when `immutable` is set"})),
            (&format!("PUT {secrets}/s"), json!({"metadata": {"name": "s"}, "data": {"a": "eA=="}}), 200, json!({"data": {"b": null}})),
        ],
    )
    .await;
}

#[tokio::test]
async fn one_event_has_two_faces() {
    let server = server().await;
    let event = json!({
        "metadata": {"name": "e", "namespace": "default"}, "reason": "Why", "message": "what", "type": "Normal",
        "involvedObject": {"kind": "Widget", "name": "one", "namespace": "default", "uid": "u"},
        "reportingComponent": "tests",
    });
    ok(
        &server,
        "POST /api/v1/namespaces/default/events",
        Some(&event),
    )
    .await;
    let new = "/apis/events.k8s.io/v1/namespaces/default/events";
    check(
        &server,
        &[
            (&format!("GET {new}/e"), Value::Null, 200, json!({
                "apiVersion": "events.k8s.io/v1", "note": "what", "message": null, "regarding": {"name": "one"}, "reportingController": "tests",
            })),
            (&format!("PATCH+merge {new}/e"), json!({"note": "more"}), 200, json!({"note": "more"})),
            ("GET /api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Done,involvedObject.uid%3Du", Value::Null, 200, json!({"items": [{"message": "more", "apiVersion": null}]})),
            (&format!("GET {new}?fieldSelector=regarding.name%3Dtwo"), Value::Null, 200, json!({"items": []})),
        ],
    )
    .await;
}
