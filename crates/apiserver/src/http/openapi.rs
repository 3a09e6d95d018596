//! Serving the OpenAPI documents: rendered once for each state of the registry, with tags.

use std::sync::Arc;

use axum::body::Body;
use http::header::ACCEPT;
use http::{HeaderMap, Response};

use super::accept::media_types;
use super::respond;
use crate::openapi::{self, OpenApiKind};
use crate::registry::{Document, Kind, Snapshot};
use crate::schema::Schema;
use crate::status::ApiError;

/// Answers everything below `/openapi`.
pub(crate) fn answer(
    snapshot: &Snapshot,
    parts: &[&str],
    headers: &HeaderMap,
) -> Result<Response<Body>, ApiError> {
    let json = "application/json";
    let protobuf = parts == ["v2"] && prefers_protobuf(headers);
    if !protobuf && !accepts_json(headers) {
        return Err(ApiError::not_acceptable());
    }
    match parts {
        ["v3"] => {
            let index = snapshot.document("openapi/v3", || {
                let documents: Vec<(String, String)> = snapshot
                    .api_versions()
                    .into_iter()
                    .map(|(group, version)| {
                        let hash = of_version(snapshot, &group, &version).hash;
                        (openapi::group_version_path(&group, &version), hash)
                    })
                    .collect();
                openapi::v3_index(
                    documents
                        .iter()
                        .map(|(path, hash)| (path.as_str(), hash.as_str())),
                )
            });
            Ok(respond::document(headers, &index, json, false))
        }
        ["v3", "api", version] => versioned(snapshot, "", version, headers),
        ["v3", "apis", group, version] => versioned(snapshot, group, version, headers),
        ["v2"] => {
            let whole = || {
                let kinds = snapshot.kinds().iter().map(|k| (k, k.shape.glance()));
                let kinds: Vec<_> = kinds.collect();
                let asked = asked(snapshot);
                let kinds = kinds.iter().map(of_kind).chain(asked.iter().map(of_review));
                openapi::v2_document(&kinds.collect::<Vec<_>>())
            };
            if protobuf {
                let encoded = || openapi::v2_protobuf(&whole());
                let document = snapshot.bytes("openapi/v2.pb", encoded);
                let content_type = openapi::V2_PROTOBUF[0];
                return Ok(respond::document(headers, &document, content_type, false));
            }
            let document = snapshot.document("openapi/v2", whole);
            Ok(respond::document(headers, &document, json, false))
        }
        _ => Err(ApiError::no_such_path()),
    }
}

/// Whether the first form that the client names and that there is, is protobuf.
fn prefers_protobuf(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|h| h.to_str().ok());
    let types = media_types(accept.unwrap_or_default());
    let known = types.iter().map(|m| m.name).find(|name| {
        openapi::V2_PROTOBUF.contains(name) || matches!(*name, "application/json" | "*/*")
    });
    known.is_some_and(|name| openapi::V2_PROTOBUF.contains(&name))
}

fn accepts_json(headers: &HeaderMap) -> bool {
    let Some(accept) = headers.get(ACCEPT).and_then(|h| h.to_str().ok()) else {
        return true;
    };
    let types = media_types(accept);
    types.is_empty()
        || types
            .iter()
            .any(|m| matches!(m.name, "application/json" | "*/*" | "application/*"))
}

fn versioned(
    snapshot: &Snapshot,
    group: &str,
    version: &str,
    headers: &HeaderMap,
) -> Result<Response<Body>, ApiError> {
    let known = snapshot.api_versions();
    if !known.iter().any(|(g, v)| g == group && v == version) {
        return Err(ApiError::no_such_path());
    }
    Ok(respond::document(
        headers,
        &of_version(snapshot, group, version),
        "application/json",
        true,
    ))
}

fn of_version(snapshot: &Snapshot, group: &str, version: &str) -> Document {
    let name = format!("openapi/v3/{}", openapi::group_version_path(group, version));
    snapshot.document(&name, || {
        let kinds = snapshot.in_version(group, version);
        let kinds: Vec<_> = kinds.iter().map(|k| (k, k.shape.glance())).collect();
        let mut asked = asked(snapshot);
        asked.retain(|(k, _)| k.group == group && k.version == version);
        let kinds = kinds.iter().map(of_kind).chain(asked.iter().map(of_review));
        openapi::v3_document(&kinds.collect::<Vec<_>>())
    })
}

/// A kind with its schema, which is kept no longer than a document is made.
type Described<'a> = (&'a Arc<Kind>, Arc<Schema>);

/// The questions to the server.
fn asked(snapshot: &Snapshot) -> Vec<Described<'_>> {
    let top = snapshot
        .reviews()
        .iter()
        .filter(|k| !k.plural.contains('/'));
    top.map(|k| (k, k.shape.glance())).collect()
}

/// A question can only be asked.
fn of_review<'a>(described: &'a Described<'_>) -> OpenApiKind<'a> {
    OpenApiKind {
        verbs: &["create"],
        ..of_kind(described)
    }
}

fn of_kind<'a>((kind, schema): &'a Described<'_>) -> OpenApiKind<'a> {
    OpenApiKind {
        group: &kind.group,
        version: &kind.version,
        kind: &kind.kind,
        plural: &kind.plural,
        singular: &kind.singular,
        namespaced: kind.namespaced,
        schema,
        status: kind.status,
        scale: kind.scale.is_some(),
        verbs: kind.verbs(),
    }
}
