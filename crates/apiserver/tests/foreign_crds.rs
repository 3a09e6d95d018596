//! Definitions that others wrote: they load, are described, validated and shown as tables.
//!
//! `MACHINIST_KUBEVIRT_CRDS` may name a directory with other definitions, as YAML or JSON files.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::{assert_contains, call, call_accepting, ok, server};
use serde_json::{Value, json};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

fn definitions() -> Vec<Value> {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/kubevirt");
    let dir = std::env::var("MACHINIST_KUBEVIRT_CRDS").unwrap_or_else(|_| own.into());
    let files = std::fs::read_dir(dir)
        .unwrap()
        .map(|file| file.unwrap().path());
    let definitions = files.filter(|path| path.extension().is_some_and(|e| e != "md"));
    definitions
        .map(|path| serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
        .collect()
}

#[tokio::test]
async fn kubevirts_definitions_are_served() {
    let definitions = definitions();
    assert!(definitions.len() >= 3);
    let server = server().await;
    for definition in &definitions {
        let created = ok(
            &server,
            "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict",
            Some(definition),
        )
        .await;
        let conditions = json!({"status": {"conditions": [
            {"type": "NamesAccepted", "status": "True"}, {"type": "Established", "status": "True"},
        ]}});
        assert_contains(&created, &conditions, "a new definition");
        let spec = &created["spec"];
        let (group, plural) = (
            spec["group"].as_str().unwrap(),
            spec["names"]["plural"].as_str().unwrap(),
        );
        for version in spec["versions"].as_array().unwrap() {
            let version = version["name"].as_str().unwrap();
            let document = ok(
                &server,
                &format!("GET /openapi/v3/apis/{group}/{version}"),
                None,
            )
            .await;
            let kinds = document["components"]["schemas"].as_object().unwrap();
            let kind = spec["names"]["kind"].as_str().unwrap();
            assert!(
                kinds
                    .keys()
                    .any(|k| k.ends_with(&format!(".{version}.{kind}"))),
                "{kinds:?}"
            );
            let line = format!("GET /apis/{group}/{version}/{plural}");
            let (code, table) = call_accepting(&server, &line, TABLE).await;
            assert_eq!((code, &table["kind"]), (200, &json!("Table")), "{line}");
            assert!(!table["columnDefinitions"].as_array().unwrap().is_empty());
        }
    }
    let machines = "/apis/kubevirt.io/v1/namespaces/default/virtualmachines";
    let mut machine = json!({
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "vm"},
        "spec": {"runStrategy": "Always", "template": {"spec": {"domain": {"devices": {
            "disks": [{"name": "root", "disk": {"bus": "virtio"}}]}}}}},
    });
    ok(
        &server,
        &format!("POST {machines}?fieldValidation=Strict"),
        Some(&machine),
    )
    .await;
    machine["spec"].as_object_mut().unwrap().remove("template");
    machine["metadata"]["name"] = "bad".into();
    let (code, status) = call(&server, &format!("POST {machines}"), Some(&machine)).await;
    assert_eq!(code, 422, "{status}");
    assert_contains(
        &status,
        &json!({"message": "~spec.template: Required value"}),
        "no template",
    );
    let (_, table) = call_accepting(&server, &format!("GET {machines}"), TABLE).await;
    assert_eq!(table["rows"][0]["cells"][0], "vm", "{table}");
}

#[tokio::test]
async fn the_swagger_document_comes_in_protobuf_too() {
    let server = server().await;
    let served = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    for accept in [
        served,
        "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    ] {
        let mut request = common::request("GET /openapi/v2", None);
        request
            .headers_mut()
            .insert("accept", accept.parse().unwrap());
        let response = common::send(&server, request).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], served);
        assert!(response.headers().contains_key("etag"));
        let bytes = http_body_util::BodyExt::collect(response.into_body()).await;
        let bytes = bytes.unwrap().to_bytes();
        // The first field is the version of the format; the definitions are named in it.
        assert!(bytes.starts_with(b"\x0a\x032.0"), "{:?}", &bytes[..8]);
        let name = b"io.example.v1.Widget";
        assert!(bytes.windows(name.len()).any(|part| part == name));
    }
}
