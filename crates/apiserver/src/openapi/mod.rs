//! OpenAPI documents for kinds that are known only by description: v3 by group and version,
//! as kubectl reads them for `explain`, validation and apply, and one v2 document for
//! clients that know nothing newer.
//!
//! Serving them, with their entity tags and content types, is the HTTP side's part.

mod definitions;
mod parameters;
mod paths;
mod v2;
mod v2_protobuf;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::schema::Schema;
pub use v2::v2_document;
pub(crate) use v2_protobuf::{MEDIA_TYPES as V2_PROTOBUF, encode as v2_protobuf};

/// What the documents need to know of a kind in one version.
#[derive(Debug, Clone, Copy)]
pub struct OpenApiKind<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The version, as `v1alpha1`.
    pub version: &'a str,
    /// The kind, as `Machine`.
    pub kind: &'a str,
    /// The resource, as `machines`.
    pub plural: &'a str,
    /// One of the resource, as `machine`.
    pub singular: &'a str,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// What objects look like.
    pub schema: &'a Schema,
    /// Whether there is a status subresource.
    pub status: bool,
    /// Whether there is a scale subresource.
    pub scale: bool,
    /// What clients may do: `get`, `list`, `create`, `update`, `patch`, `delete`, …
    pub verbs: &'a [&'a str],
}

impl OpenApiKind<'_> {
    /// The name of the kind's schema, as `io.vitistack.v1alpha1.Machine`.
    pub fn definition_name(&self) -> String {
        let group = match self.group {
            "" => "io.k8s.api.core".to_string(),
            group => group.rsplit('.').collect::<Vec<_>>().join("."),
        };
        format!("{group}.{}.{}", self.version, self.kind)
    }

    fn list_definition_name(&self) -> String {
        format!("{}List", self.definition_name())
    }

    fn gvk(&self, kind: &str) -> Value {
        json!({ "group": self.group, "version": self.version, "kind": kind })
    }

    fn may(&self, verb: &str) -> bool {
        self.verbs.contains(&verb)
    }
}

/// Where a group and version is found, both in the index and below `/openapi/v3/`.
pub fn group_version_path(group: &str, version: &str) -> String {
    if group.is_empty() {
        format!("api/{version}")
    } else {
        format!("apis/{group}/{version}")
    }
}

/// The index of the v3 documents, from their paths and hashes.
///
/// The hash is part of each address, so that a client may keep a document for good.
pub fn v3_index<'a>(documents: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let paths: Map<String, Value> = documents
        .into_iter()
        .map(|(path, hash)| {
            let url = format!("/openapi/v3/{path}?hash={hash}");
            (path.to_string(), json!({ "serverRelativeURL": url }))
        })
        .collect();
    json!({ "paths": paths })
}

/// The hash of a document, the same for the same content.
pub fn document_hash(document: &Value) -> String {
    Sha256::digest(crate::schema::json_text(document).as_bytes())
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect()
}

/// The v3 document of the kinds of one group and version.
pub fn v3_document(kinds: &[OpenApiKind<'_>]) -> Value {
    let mut all_paths = Map::new();
    for kind in kinds {
        all_paths.extend(paths::of_kind(kind));
    }
    json!({
        "openapi": "3.0.0",
        "info": info(),
        "paths": all_paths,
        "components": { "schemas": definitions::of_kinds(kinds) },
    })
}

fn info() -> Value {
    json!({ "title": "Machinist", "version": env!("CARGO_PKG_VERSION") })
}

#[cfg(test)]
mod tests;
