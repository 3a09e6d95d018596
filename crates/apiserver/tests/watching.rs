//! Watches: nothing missed, nothing twice, selections, bookmarks, initial events, 410, the end.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{
    WIDGETS, assert_contains, call, ok, revision, server, watch, watch_accepting, widget,
};
use machinist_apiserver::ApiServer;
use serde_json::{Value, json};

async fn create(server: &ApiServer, name: &str) -> Value {
    ok(server, &format!("POST {WIDGETS}"), Some(&widget(name))).await
}

#[tokio::test]
async fn a_watch_gives_what_is_there_and_then_what_happens() {
    let server = server().await;
    create(&server, "a").await;
    let mut all = watch(&server, &format!("GET {WIDGETS}?watch=true")).await;
    assert_eq!(all.next_line().await, "ADDED a");
    create(&server, "b").await;
    ok(
        &server,
        &format!("PATCH+merge {WIDGETS}/a"),
        Some(&json!({"spec": {"color": "blue"}})),
    )
    .await;
    let deleted_at = {
        ok(&server, &format!("DELETE {WIDGETS}/a"), None).await;
        revision(&server).await
    };
    assert_eq!(all.next_line().await, "ADDED b");
    assert_eq!(all.next_line().await, "MODIFIED a");
    let last = all.next().await.unwrap();
    assert_contains(
        &last,
        &json!({"type": "DELETED", "object": {"spec": {"color": "blue"}, "metadata": {"resourceVersion": deleted_at}}}),
        "delete",
    );
}

#[tokio::test]
async fn a_watch_from_a_list_misses_nothing() {
    let server = server().await;
    create(&server, "a").await;
    let from = revision(&server).await;
    for n in 0..200 {
        let body = json!({"spec": {"note": n.to_string()}});
        ok(&server, &format!("PATCH+merge {WIDGETS}/a"), Some(&body)).await;
    }
    let mut events = watch(
        &server,
        &format!("GET {WIDGETS}?watch=true&resourceVersion={from}"),
    )
    .await;
    for n in 0..200 {
        let event = events.next().await.unwrap();
        assert_eq!(event["object"]["spec"]["note"], n.to_string());
        assert_eq!(event["type"], "MODIFIED");
    }
}

#[tokio::test]
async fn objects_enter_and_leave_a_selection() {
    let server = server().await;
    create(&server, "a").await;
    let from = revision(&server).await;
    let by_label = format!("GET {WIDGETS}?watch=1&resourceVersion={from}&labelSelector=on%3Dyes");
    let by_field =
        format!("GET {WIDGETS}?watch=1&resourceVersion={from}&fieldSelector=spec.color%3Dblue");
    let mut labelled = watch(&server, &by_label).await;
    let mut blue = watch(&server, &by_field).await;
    let patch = format!("PATCH+merge {WIDGETS}/a");
    for body in [
        json!({"metadata": {"labels": {"on": "yes"}}}),
        json!({"spec": {"color": "blue"}}),
        json!({"metadata": {"labels": {"on": "no"}}}),
        json!({"spec": {"color": "red"}}),
    ] {
        ok(&server, &patch, Some(&body)).await;
    }
    for expected in ["ADDED a", "MODIFIED a"] {
        assert_eq!(labelled.next_line().await, expected);
    }
    let left = labelled.next().await.unwrap();
    assert_contains(
        &left,
        &json!({"type": "DELETED", "object": {"metadata": {"labels": {"on": "yes"}}}}),
        "left",
    );
    for expected in ["ADDED a", "MODIFIED a", "DELETED a"] {
        assert_eq!(blue.next_line().await, expected);
    }
}

#[tokio::test]
async fn initial_events_end_with_a_bookmark() {
    let server = server().await;
    create(&server, "a").await;
    create(&server, "b").await;
    let at = revision(&server).await;
    let line = format!(
        "GET {WIDGETS}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    );
    let mut events = watch(&server, &line).await;
    assert_eq!(events.next_line().await, "ADDED a");
    assert_eq!(events.next_line().await, "ADDED b");
    assert_contains(
        &events.next().await.unwrap(),
        &json!({"type": "BOOKMARK", "object": {
            "kind": "Widget", "apiVersion": "example.io/v1",
            "metadata": {"resourceVersion": at, "annotations": {"k8s.io/initial-events-end": "true"}},
        }}),
        "bookmark",
    );
    create(&server, "c").await;
    assert_eq!(events.next_line().await, "ADDED c");
    let (code, _) = call(
        &server,
        &format!("GET {WIDGETS}?watch=true&sendInitialEvents=true"),
        None,
    )
    .await;
    assert_eq!(code, 422);
    let (code, _) = call(
        &server,
        &format!("GET {WIDGETS}?watch=true&resourceVersionMatch=Exact"),
        None,
    )
    .await;
    assert_eq!(code, 422);
}

#[tokio::test]
async fn a_watch_ends_in_time_with_a_bookmark() {
    let server = server().await;
    let line = format!("GET {WIDGETS}?watch=true&timeoutSeconds=1&allowWatchBookmarks=true");
    let mut events = watch(&server, &line).await;
    // Something else moves the revision on; the bookmark takes it along.
    let map = json!({"metadata": {"name": "m"}});
    ok(
        &server,
        "POST /api/v1/namespaces/default/configmaps",
        Some(&map),
    )
    .await;
    let at = revision(&server).await;
    assert_contains(
        &events.next().await.unwrap(),
        &json!({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": at, "annotations": null}}}),
        "bookmark",
    );
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn history_that_is_gone_is_said_to_be_gone() {
    let server = server().await;
    create(&server, "a").await;
    let from = revision(&server).await;
    create(&server, "b").await;
    server
        .store()
        .compact(server.store().revision())
        .await
        .unwrap();
    for version in [from.as_str(), "999999"] {
        let mut events = watch(
            &server,
            &format!("GET {WIDGETS}?watch=true&resourceVersion={version}"),
        )
        .await;
        assert_contains(
            &events.next().await.unwrap(),
            &json!({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}}),
            version,
        );
        assert_eq!(events.next().await, None);
    }
}

#[tokio::test]
async fn watches_as_tables_and_metadata() {
    let server = server().await;
    create(&server, "a").await;
    create(&server, "b").await;
    let line = format!("GET {WIDGETS}?watch=true");
    let mut tables = watch_accepting(
        &server,
        &line,
        "application/json;as=Table;v=v1;g=meta.k8s.io",
    )
    .await;
    let first = tables.next().await.unwrap();
    assert_eq!(first["object"]["kind"], "Table");
    assert_eq!(first["object"]["rows"][0]["cells"][0], "a");
    assert!(first["object"]["columnDefinitions"].is_array());
    let second = tables.next().await.unwrap();
    assert!(second["object"]["columnDefinitions"].is_null());
    let metadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let mut events = watch_accepting(&server, &line, metadata).await;
    assert_contains(
        &events.next().await.unwrap(),
        &json!({"type": "ADDED", "object": {"kind": "PartialObjectMetadata", "metadata": {"name": "a"}, "spec": null}}),
        "metadata",
    );
}

#[tokio::test]
async fn watches_end_when_the_server_stops() {
    let server = server().await;
    let mut events = watch(
        &server,
        &format!("GET {WIDGETS}?watch=true&resourceVersion=1"),
    )
    .await;
    server.stop();
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_watch_ends_with_its_kind() {
    let server = server().await;
    create(&server, "a").await;
    let mut events = watch(&server, &format!("GET {WIDGETS}?watch=true")).await;
    let definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io";
    ok(&server, &format!("DELETE {definition}"), None).await;
    assert_eq!(events.next_line().await, "ADDED a");
    assert_eq!(events.next_line().await, "DELETED a");
    assert_eq!(events.next().await, None);
}
