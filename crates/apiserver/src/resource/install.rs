//! Definitions that come with the program: their kinds are served from the first start on.
//!
//! They were judged when the program was built, by tests, and there are many of them. So one
//! that is new is written as it is, and one that is stored just so is left alone; neither reads
//! a schema. A definition that lies in the store in any other form, or whose names are taken,
//! goes the way of every definition and is judged like one.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::join_all;
use machinist_store::{Expect, WriteError};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::create::begin;
use super::update::store_error;
use super::{Address, Part, PatchKind, WriteOptions, hook, unowned};
use crate::apply::{self, Manager};
use crate::core::Core;
use crate::registry::{Kind, is_established};
use crate::status::ApiError;
use crate::{codec, meta};

/// The name under which definitions are applied.
const MANAGER: &str = "machinist";
/// What stands in a stored definition between its metadata and its spec.
const TYPE: &[u8] =
    b",\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"spec\":";

/// A CustomResourceDefinition that comes with the program, in two texts of JSON with sorted keys.
#[derive(Debug, Clone)]
pub struct Embedded {
    /// The object without `spec.versions`.
    object: Cow<'static, str>,
    /// The versions, which hold the schemas and are nearly all of it.
    versions: Cow<'static, str>,
}

/// What has to be known of a version before its schema is used.
#[derive(Serialize, Deserialize)]
struct Outline {
    name: String,
    served: bool,
    storage: bool,
    #[serde(default)]
    subresources: Value,
}

impl Embedded {
    /// A definition from its texts: the object without `spec.versions`, and the versions.
    pub const fn new(object: &'static str, versions: &'static str) -> Self {
        Self {
            object: Cow::Borrowed(object),
            versions: Cow::Borrowed(versions),
        }
    }

    /// A definition that is at hand as a value.
    pub fn of(definition: &Value) -> Self {
        let mut object = definition.clone();
        meta::as_map(&mut object).remove("status");
        let versions = meta::child_mut(&mut object, "spec").remove("versions");
        Self {
            object: object.to_string().into(),
            versions: versions.unwrap_or_else(|| json!([])).to_string().into(),
        }
    }

    /// The whole definition.
    ///
    /// # Errors
    /// When a text is not JSON.
    pub fn whole(&self) -> Result<Value, serde_json::Error> {
        self.with_versions(serde_json::from_str(&self.versions)?)
    }

    /// The definition without its schemas.
    pub(crate) fn outline(&self) -> Result<Value, ApiError> {
        let versions = serde_json::from_str::<Vec<Outline>>(&self.versions);
        versions
            .and_then(serde_json::to_value)
            .and_then(|versions| self.with_versions(versions))
            .map_err(|error| ApiError::internal(error.to_string()))
    }

    fn with_versions(&self, versions: Value) -> Result<Value, serde_json::Error> {
        let mut object: Value = serde_json::from_str(&self.object)?;
        meta::child_mut(&mut object, "spec").insert("versions".into(), versions);
        Ok(object)
    }

    /// The spec as it is stored, from one that was completed without its schemas.
    fn spec_text(&self, completed: &Value) -> String {
        let mut head = completed.clone();
        meta::as_map(&mut head).remove("versions");
        let mut text = head.to_string();
        text.pop();
        // No other field of a spec comes after this one in the order of names.
        text.push_str(",\"versions\":");
        text.push_str(&self.versions);
        text.push('}');
        text
    }
}

impl Core {
    /// Makes sure of all definitions of the program.
    pub(crate) async fn install(
        &self,
        kind: &Arc<Kind>,
        definitions: &[Embedded],
    ) -> Result<(), ApiError> {
        let mut writes = Vec::new();
        let mut others = Vec::new();
        for definition in definitions {
            let fresh = self.fresh(kind, definition)?;
            let name = meta::name(&fresh).to_owned();
            let key = kind.key("", &name);
            let spec = definition.spec_text(&fresh["spec"]);
            match self.store.get(&key) {
                Some(entry)
                    if stored_spec(&entry.value) == Some(spec.as_bytes())
                        && self.is_in_force(&fresh) => {}
                None if is_established(&fresh) => {
                    let value = stored_form(fresh, &spec);
                    writes.push(async move {
                        let written = self.store.put(&key, value, Expect::Absent).await;
                        (definition, written)
                    });
                }
                _ => others.push(definition),
            }
        }
        let written = join_all(writes).await;
        if !written.is_empty() {
            self.registry.reload(&self.store);
        }
        for (definition, result) in written {
            match result {
                Ok(_) => {}
                Err(WriteError::Exists(_)) => others.push(definition),
                Err(error) => return Err(store_error(&error)),
            }
        }
        for definition in others {
            let whole = definition.whole();
            let whole = whole.map_err(|error| ApiError::internal(error.to_string()))?;
            self.ensure_definition(kind, whole).await?;
        }
        Ok(())
    }

    /// Applies a definition, as a client would.
    pub(crate) async fn ensure_definition(
        &self,
        kind: &Arc<Kind>,
        mut definition: Value,
    ) -> Result<(), ApiError> {
        meta::as_map(&mut definition).remove("status");
        let at = Address {
            kind: kind.clone(),
            namespace: String::new(),
            name: meta::name(&definition).to_owned(),
        };
        let options = WriteOptions::internal(MANAGER);
        self.patch(&at, Part::Main, PatchKind::Apply, definition, &options)
            .await
            .map(|_| ())
    }

    /// The object that applying a definition to nothing makes, without schemas.
    fn fresh(&self, kind: &Arc<Kind>, definition: &Embedded) -> Result<Value, ApiError> {
        let now = meta::now();
        let manager = Manager {
            name: MANAGER,
            api_version: &kind.api_version(),
            subresource: "",
            now: &now,
        };
        let outline = definition.outline()?;
        let ignore = unowned(kind, Part::Main);
        let mut object = apply::apply(kind.schema(), None, &outline, &manager, true, &ignore)
            .map_err(|error| ApiError::internal(error.to_string()))?;
        // Nobody owns which versions are served: a chart that brings the same definition, as it is
        // for a cluster where nobody converts yet, may apply it.
        let owned = object.pointer_mut("/metadata/managedFields/0/fieldsV1/f:spec");
        if let Some(owned) = owned.and_then(Value::as_object_mut) {
            owned.remove("f:versions");
        }
        begin(kind, &mut object);
        hook::prepare(self, kind, &mut object, None, Part::Main);
        Ok(object)
    }

    /// Whether the versions of a definition are served, and not on their way out.
    fn is_in_force(&self, definition: &Value) -> bool {
        let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str);
        let group = text("/spec/group").unwrap_or_default();
        let plural = text("/spec/names/plural").unwrap_or_default();
        let kinds = self.registry.snapshot();
        let mut versions = definition["spec"]["versions"]
            .as_array()
            .into_iter()
            .flatten();
        versions.all(|version| {
            let found = kinds.find(group, version["name"].as_str().unwrap_or_default(), plural);
            version["served"] != true || found.is_some_and(|kind| !kind.terminating)
        })
    }
}

/// The bytes of an object with this spec in place of its own.
fn stored_form(mut object: Value, spec: &str) -> Bytes {
    let status = meta::as_map(&mut object).remove("status");
    meta::as_map(&mut object).remove("spec");
    let mut bytes = codec::encode(&object).to_vec();
    bytes.pop();
    bytes.extend_from_slice(b",\"spec\":");
    bytes.extend_from_slice(spec.as_bytes());
    bytes.extend_from_slice(b",\"status\":");
    bytes.extend_from_slice(status.unwrap_or_default().to_string().as_bytes());
    bytes.push(b'}');
    bytes.into()
}

/// The text of the spec of a stored definition.
fn stored_spec(value: &[u8]) -> Option<&[u8]> {
    let rest = value.strip_prefix(b"{\"metadata\":")?;
    let rest = rest[length_of_value(rest)?..].strip_prefix(TYPE)?;
    Some(&rest[..length_of_value(rest)?])
}

/// How long the first value of a text of JSON is.
fn length_of_value(text: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}
