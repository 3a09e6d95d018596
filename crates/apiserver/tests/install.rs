//! Definitions that come with the program: written without being judged, and only then.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{WIDGETS, call, check, ok, widget, widget_definition};
use machinist_apiserver::{ApiServer, Embedded, Options, StartError, Store};
use serde_json::{Value, json};

const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io";

async fn start(store: &Store, options: Options) -> Result<ApiServer, StartError> {
    ApiServer::new(store.clone(), options).await
}

fn embedding(definition: &Value) -> Options {
    Options {
        embedded: vec![Embedded::of(definition)],
        ..Options::default()
    }
}

/// The widgets with a rule that cannot be read, which nobody may create.
fn unreadable() -> Value {
    let mut definition = widget_definition();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["x-kubernetes-validations"] =
        json!([{"rule": "self.("}]);
    definition
}

/// Blanks what differs between two servers: identities, times and revisions.
fn masked(mut object: Value) -> Value {
    for pointer in [
        "/metadata/uid",
        "/metadata/creationTimestamp",
        "/metadata/resourceVersion",
    ] {
        assert!(object.pointer(pointer).is_some(), "{pointer} in {object}");
        *object.pointer_mut(pointer).unwrap() = Value::Null;
    }
    let managers = &mut object["metadata"]["managedFields"];
    managers[0]["time"] = Value::Null;
    // The versions of an embedded definition are nobody's.
    let owned = managers[0]["fieldsV1"]["f:spec"].as_object_mut().unwrap();
    owned.remove("f:versions");
    for condition in object["status"]["conditions"].as_array_mut().unwrap() {
        condition["lastTransitionTime"] = Value::Null;
    }
    object
}

#[tokio::test]
async fn an_embedded_definition_is_what_an_applied_one_is() {
    let applied = Options {
        crds: vec![widget_definition()],
        ..Options::default()
    };
    let applied = start(&Store::memory(), applied).await.unwrap();
    let store = Store::memory();
    let embedded = start(&store, embedding(&widget_definition()))
        .await
        .unwrap();
    let get = format!("GET {DEFINITION}");
    let (one, two) = (
        ok(&applied, &get, None).await,
        ok(&embedded, &get, None).await,
    );
    assert_eq!(masked(one), masked(two));
    for path in [
        "GET /openapi/v3/apis/example.io/v1",
        "GET /apis/example.io/v1",
        "GET /apis/rbac.authorization.k8s.io/v1/clusterroles/example.io:aggregate-to-view?pretty=0",
    ] {
        let (mut one, mut two) = (
            ok(&applied, path, None).await,
            ok(&embedded, path, None).await,
        );
        one["metadata"] = Value::Null;
        two["metadata"] = Value::Null;
        assert_eq!(one, two, "{path}");
    }
    // Nothing of the schema was used so far; the first object meets all of it.
    let mut bad = widget("bad");
    bad["spec"]["color"] = json!(3);
    check(
        &embedded,
        &[
            (
                &format!("POST {WIDGETS}"),
                bad,
                422,
                json!({"reason": "Invalid", "message": "~spec.color"}),
            ),
            (&format!("POST {WIDGETS}"), widget("good"), 201, json!({})),
        ],
    )
    .await;
}

#[tokio::test]
async fn whoever_applies_an_embedded_definition_may_change_its_versions() {
    let server = start(&Store::memory(), embedding(&widget_definition()))
        .await
        .unwrap();
    let mut other = widget_definition();
    other["spec"]["versions"][0]["additionalPrinterColumns"] = json!([]);
    let apply = format!("PATCH+apply {DEFINITION}?fieldManager=helm");
    let applied = ok(&server, &apply, Some(&other)).await;
    let columns = &applied["spec"]["versions"][0]["additionalPrinterColumns"];
    assert_eq!(columns.as_array().map_or(0, Vec::len), 0, "{applied}");
    // What the definition is called is the program's.
    other["spec"]["names"]["shortNames"] = json!(["other"]);
    let (code, answer) = call(&server, &apply, Some(&other)).await;
    assert_eq!(code, 409, "{answer}");
}

#[tokio::test]
async fn an_unchanged_definition_is_left_alone_and_still_judges() {
    let store = Store::memory();
    let first = start(&store, embedding(&widget_definition()))
        .await
        .unwrap();
    let get = format!("GET {DEFINITION}");
    let before = ok(&first, &get, None).await;
    let second = start(&store, embedding(&widget_definition()))
        .await
        .unwrap();
    assert_eq!(before, ok(&second, &get, None).await);
    let mut bad = widget("bad");
    bad["spec"]["color"] = json!(3);
    let (code, answer) = call(&second, &format!("POST {WIDGETS}"), Some(&bad)).await;
    assert_eq!(code, 422, "{answer}");
}

#[tokio::test]
async fn whatever_differs_is_judged() {
    // The rule shows who judges: written as it is, it would be taken.
    let store = Store::memory();
    start(&store, embedding(&widget_definition()))
        .await
        .unwrap();
    let refused = start(&store, embedding(&unreadable())).await;
    let Err(StartError::Prepare { source, .. }) = refused else {
        panic!("a rule that cannot be read was taken");
    };
    assert_eq!(source.reason, "Invalid");
    // What somebody changed is changed back, as applying does it.
    let server = start(&store, embedding(&widget_definition()))
        .await
        .unwrap();
    let patch = json!({"spec": {"names": {"shortNames": ["other"]}}});
    ok(&server, &format!("PATCH+merge {DEFINITION}"), Some(&patch)).await;
    let server = start(&store, embedding(&widget_definition()))
        .await
        .unwrap();
    let found = ok(&server, &format!("GET {DEFINITION}"), None).await;
    assert_eq!(
        found["spec"]["names"]["shortNames"],
        widget_definition()["spec"]["names"]["shortNames"]
    );
}

#[tokio::test]
async fn names_that_are_taken_are_not_taken_twice() {
    let store = Store::memory();
    let mut other = widget_definition();
    other["metadata"]["name"] = json!("gadgets.example.io");
    other["spec"]["names"] = json!({"plural": "gadgets", "kind": "Widget"});
    let server = start(
        &store,
        Options {
            crds: vec![other],
            ..Options::default()
        },
    )
    .await;
    drop(server.unwrap());
    let server = start(&store, embedding(&widget_definition()))
        .await
        .unwrap();
    let found = ok(&server, &format!("GET {DEFINITION}"), None).await;
    let conditions = found["status"]["conditions"].as_array().unwrap();
    let says = |name: &str, status: &str| {
        conditions
            .iter()
            .any(|c| c["type"] == name && c["status"] == status)
    };
    assert!(
        says("NamesAccepted", "False") && says("Established", "False"),
        "{found}"
    );
}
