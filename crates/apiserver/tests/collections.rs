//! Lists: selectors, pages, resource versions, tables, metadata, collection deletes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{WIDGETS, assert_contains, call, call_accepting, check, ok, server, widget};
use machinist_apiserver::ApiServer;
use serde_json::{Value, json};

async fn widgets(server: &ApiServer, count: usize) {
    let colors = ["red", "green", "blue"];
    for n in 0..count {
        let mut body = widget(&format!("w{n:02}"));
        body["spec"]["color"] = colors[n % 3].into();
        body["metadata"]["labels"] = json!({"n": n.to_string(), "even": (n % 2 == 0).to_string()});
        ok(server, &format!("POST {WIDGETS}"), Some(&body)).await;
    }
}

fn names(list: &Value) -> Vec<&str> {
    list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["metadata"]["name"].as_str().unwrap())
        .collect()
}

fn first_cells(row: &Value) -> &[Value] {
    &row["cells"].as_array().unwrap()[..3]
}

#[tokio::test]
async fn selectors() {
    let server = server().await;
    widgets(&server, 6).await;
    for (query, expected) in [
        ("labelSelector=even%3Dtrue", vec!["w00", "w02", "w04"]),
        ("labelSelector=n%20in%20(1,2)", vec!["w01", "w02"]),
        ("labelSelector=even!%3Dtrue,n%3E2", vec!["w03", "w05"]),
        ("labelSelector=!n", vec![]),
        ("fieldSelector=metadata.name%3Dw03", vec!["w03"]),
        ("fieldSelector=spec.color%3Dgreen", vec!["w01", "w04"]),
        (
            "fieldSelector=spec.color!%3Dgreen&labelSelector=even%3Dtrue",
            vec!["w00", "w02"],
        ),
        (
            "fieldSelector=metadata.namespace%3Ddefault,metadata.name%3Dw01",
            vec!["w01"],
        ),
    ] {
        let list = ok(&server, &format!("GET {WIDGETS}?{query}"), None).await;
        assert_eq!(names(&list), expected, "{query}");
    }
    let all = ok(&server, "GET /apis/example.io/v1/widgets", None).await;
    assert_eq!(names(&all).len(), 6);
    check(
        &server,
        &[
            (
                &format!("GET {WIDGETS}?fieldSelector=spec.note%3Dx"),
                Value::Null,
                400,
                json!({"message": "field label not supported: spec.note"}),
            ),
            (
                &format!("GET {WIDGETS}?labelSelector=a%3D%3D%3Db"),
                Value::Null,
                400,
                json!({"reason": "BadRequest"}),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn pages_show_one_moment() {
    let server = server().await;
    widgets(&server, 5).await;
    let first = ok(&server, &format!("GET {WIDGETS}?limit=2"), None).await;
    assert_eq!(names(&first), ["w00", "w01"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    // What happens between two pages is not seen by the second one.
    ok(&server, &format!("DELETE {WIDGETS}/w03"), None).await;
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("w02a"))).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    let second = ok(
        &server,
        &format!("GET {WIDGETS}?limit=2&continue={token}"),
        None,
    )
    .await;
    assert_eq!(names(&second), ["w02", "w03"]);
    assert_eq!(
        second["metadata"]["resourceVersion"],
        first["metadata"]["resourceVersion"]
    );
    let token = second["metadata"]["continue"].as_str().unwrap();
    let third = ok(
        &server,
        &format!("GET {WIDGETS}?limit=2&continue={token}"),
        None,
    )
    .await;
    assert_eq!(names(&third), ["w04"]);
    assert_eq!(third["metadata"]["continue"], "");
    // A selector makes pages of what it selects.
    let page = ok(
        &server,
        &format!("GET {WIDGETS}?limit=2&labelSelector=even%3Dtrue"),
        None,
    )
    .await;
    assert_eq!(names(&page), ["w00", "w02"]);
    assert_eq!(page["metadata"].get("remainingItemCount"), None);
    let token = page["metadata"]["continue"].as_str().unwrap();
    let path = format!("GET {WIDGETS}?limit=2&labelSelector=even%3Dtrue&continue={token}");
    let page = ok(&server, &path, None).await;
    assert_eq!(names(&page), ["w04"]);
    assert_eq!(page["metadata"]["continue"], "");
    check(
        &server,
        &[
            (
                &format!("GET {WIDGETS}?continue=nonsense"),
                Value::Null,
                400,
                json!({"message": "~continue key is not valid"}),
            ),
            (
                &format!("GET {WIDGETS}?continue={token}&resourceVersion=3"),
                Value::Null,
                400,
                json!({}),
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_selector_finds_what_lies_far_behind() {
    let server = server().await;
    // More than the server looks at in one go.
    widgets(&server, 700).await;
    for name in ["w650a", "w98a"] {
        let mut body = widget(name);
        body["metadata"]["labels"] = json!({"marked": "yes"});
        ok(&server, &format!("POST {WIDGETS}"), Some(&body)).await;
    }
    let path = format!("GET {WIDGETS}?limit=1&labelSelector=marked%3Dyes");
    let first = ok(&server, &path, None).await;
    assert_eq!(names(&first), ["w650a"]);
    let token = first["metadata"]["continue"].as_str().unwrap();
    let second = ok(&server, &format!("{path}&continue={token}"), None).await;
    assert_eq!(names(&second), ["w98a"]);
    // Something follows, of which nothing is selected: only the next page can tell.
    let token = second["metadata"]["continue"].as_str().unwrap();
    let last = ok(&server, &format!("{path}&continue={token}"), None).await;
    assert_eq!(names(&last), [""; 0]);
    assert_eq!(last["metadata"]["continue"], "");
}

#[tokio::test]
async fn a_page_of_a_forgotten_moment_can_be_continued_inconsistently() {
    let server = server().await;
    widgets(&server, 4).await;
    let first = ok(&server, &format!("GET {WIDGETS}?limit=2"), None).await;
    let token = first["metadata"]["continue"].as_str().unwrap();
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("w99"))).await;
    server
        .store()
        .compact(server.store().revision())
        .await
        .unwrap();
    let (code, gone) = call(
        &server,
        &format!("GET {WIDGETS}?limit=2&continue={token}"),
        None,
    )
    .await;
    assert_eq!(code, 410);
    assert_eq!(gone["reason"], "Expired");
    let token = gone["metadata"]["continue"].as_str().unwrap();
    let rest = ok(
        &server,
        &format!("GET {WIDGETS}?limit=9&continue={token}"),
        None,
    )
    .await;
    assert_eq!(names(&rest), ["w02", "w03", "w99"]);
}

#[tokio::test]
async fn resource_versions_of_lists() {
    let server = server().await;
    widgets(&server, 1).await;
    let before = ok(&server, &format!("GET {WIDGETS}"), None).await;
    let version = before["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .to_owned();
    ok(&server, &format!("POST {WIDGETS}"), Some(&widget("later"))).await;
    for (query, expected) in [
        (
            format!("resourceVersion={version}&resourceVersionMatch=Exact"),
            vec!["w00"],
        ),
        (
            format!("resourceVersion={version}&resourceVersionMatch=NotOlderThan"),
            vec!["later", "w00"],
        ),
        ("resourceVersion=0".to_owned(), vec!["later", "w00"]),
    ] {
        let list = ok(&server, &format!("GET {WIDGETS}?{query}"), None).await;
        assert_eq!(names(&list), expected, "{query}");
    }
    check(
        &server,
        &[
            (&format!("GET {WIDGETS}?resourceVersion=999999"), Value::Null, 504, json!({
                "reason": "Timeout", "details": {"causes": [{"reason": "ResourceVersionTooLarge"}], "retryAfterSeconds": 1},
            })),
            (&format!("GET {WIDGETS}?resourceVersion=abc"), Value::Null, 400, json!({})),
            (&format!("GET {WIDGETS}?resourceVersionMatch=Exact"), Value::Null, 422, json!({})),
        ],
    )
    .await;
}

#[tokio::test]
async fn tables_and_metadata() {
    let server = server().await;
    widgets(&server, 2).await;
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    let (code, list) = call_accepting(&server, &format!("GET {WIDGETS}"), table).await;
    assert_eq!(code, 200);
    let headers: Vec<_> = list["columnDefinitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["name"].clone())
        .collect();
    assert_eq!(
        headers,
        ["Name", "Color", "Replicas", "Ready", "Note", "Age"]
    );
    assert_contains(
        &list,
        &json!({"kind": "Table", "apiVersion": "meta.k8s.io/v1", "rows": [
            {"object": {"kind": "PartialObjectMetadata", "metadata": {"name": "w00"}}},
            {"object": {"kind": "PartialObjectMetadata"}},
        ]}),
        "table",
    );
    assert_eq!(
        first_cells(&list["rows"][1]),
        [json!("w01"), json!("green"), json!(1)]
    );
    let (_, one) = call_accepting(
        &server,
        &format!("GET {WIDGETS}/w00?includeObject=Object"),
        table,
    )
    .await;
    assert_eq!(one["rows"][0]["object"]["spec"]["color"], "red");
    let metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let (_, list) = call_accepting(&server, &format!("GET {WIDGETS}"), metadata).await;
    assert_contains(
        &list,
        &json!({"kind": "PartialObjectMetadataList", "items": [
            {"kind": "PartialObjectMetadata", "spec": null, "metadata": {"name": "w00"}}, {},
        ]}),
        "metadata",
    );
    let secrets = "/api/v1/namespaces/default/secrets";
    let body = json!({"metadata": {"name": "s"}, "stringData": {"a": "1", "b": "2"}});
    ok(&server, &format!("POST {secrets}"), Some(&body)).await;
    let (_, list) = call_accepting(
        &server,
        &format!("GET {secrets}?includeObject=Object"),
        table,
    )
    .await;
    assert_eq!(
        first_cells(&list["rows"][0]),
        [json!("s"), json!("Opaque"), json!(2)]
    );
    assert_eq!(list["rows"][0]["object"].get("computed"), None);
}

#[tokio::test]
async fn collections_can_be_deleted() {
    let server = server().await;
    widgets(&server, 4).await;
    let deleted = ok(
        &server,
        &format!("DELETE {WIDGETS}?labelSelector=even%3Dtrue"),
        None,
    )
    .await;
    assert_eq!(names(&deleted), ["w00", "w02"]);
    let left = ok(&server, &format!("GET {WIDGETS}"), None).await;
    assert_eq!(names(&left), ["w01", "w03"]);
}
