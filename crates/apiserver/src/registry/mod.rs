//! The one registry of kinds: built-ins and custom kinds alike, as descriptors.
//!
//! Readers take a [`Snapshot`] and keep it for the length of a request. A write to a definition
//! makes a new snapshot from what lies in the store, so the registry is never ahead of it or
//! behind it for longer than that write. What is done with a kind is left to `resource` and `http`.

mod builtin;
mod definition;
mod kind;
mod shape;
mod snapshot;
mod strategic;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use machinist_store::{Entry, Revision, Store};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;

pub use definition::DefinitionError;
pub(crate) use definition::{Names, Shapes, Spec, try_schemas};
pub use kind::{Hook, Kind, Scale};
pub(crate) use kind::{SCHEME, api_version};
pub use shape::Shape;
pub(crate) use snapshot::{Document, Snapshot};
pub use strategic::{Strategic, StrategicGroup};

use crate::conversion::{Conversion, Converters};
use crate::meta;

/// Where definitions lie in the store.
pub(crate) const DEFINITIONS: &str = "/apiextensions.k8s.io/customresourcedefinitions/";
/// Where namespaces lie in the store.
pub(crate) const NAMESPACES: &str = "/core/namespaces/";

type Compiled = HashMap<Arc<str>, (Revision, Vec<Arc<Kind>>)>;

/// All kinds that are served now.
pub(crate) struct Registry {
    builtins: Vec<Arc<Kind>>,
    reviews: Arc<[Arc<Kind>]>,
    current: RwLock<Arc<Snapshot>>,
    /// What was made of each definition, so that one change does not compile all of them again.
    compiled: Mutex<Compiled>,
    converters: Converters,
    /// The groups whose custom kinds take strategic merge patches.
    strategic: Vec<Arc<StrategicGroup>>,
    /// The groups that come before others when a name is in several.
    preferred: Arc<[String]>,
    /// Counts the changes, for those who wait for one.
    changes: watch::Sender<u64>,
}

impl Registry {
    /// The built-ins alone.
    pub(crate) fn new(
        converters: Converters,
        strategic: Vec<StrategicGroup>,
        preferred: Vec<String>,
    ) -> Result<Self, DefinitionError> {
        let builtins = builtin::kinds()?;
        let reviews: Arc<[Arc<Kind>]> = builtin::reviews()?.into();
        let preferred: Arc<[String]> = preferred.into();
        let first = Snapshot::new(builtins.clone(), reviews.clone(), preferred.clone());
        let current = RwLock::new(Arc::new(first));
        Ok(Self {
            builtins,
            reviews,
            current,
            compiled: Mutex::default(),
            converters,
            strategic: strategic.into_iter().map(Arc::new).collect(),
            preferred,
            changes: watch::Sender::new(0),
        })
    }

    /// The kinds as they are now.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Makes the registry agree with the definitions in the store.
    pub(crate) fn reload(&self, store: &Store) {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let entries = store.list(DEFINITIONS, None, None).entries;
        let mut kinds = self.builtins.clone();
        let mut next = Compiled::new();
        for entry in entries {
            let served = match compiled.remove(&entry.key) {
                Some((revision, served)) if revision == entry.modified => served,
                Some((_, before)) => compile(&entry, &before, self),
                None => compile(&entry, &[], self),
            };
            kinds.extend(served.iter().cloned());
            next.insert(entry.key, (entry.modified, served));
        }
        *compiled = next;
        let next = Snapshot::new(kinds, self.reviews.clone(), self.preferred.clone());
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        self.changes.send_modify(|count| *count += 1);
    }

    /// Makes those who wait for changes look around, though nothing has changed here.
    pub(crate) fn nudge(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Sees every change of the registry from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

/// A stored definition, without its schemas.
#[derive(Deserialize)]
struct Stored {
    metadata: Value,
    spec: Spec,
    #[serde(default)]
    status: Value,
}

/// The kinds of a definition; `before` are those of the definition as it was.
fn compile(entry: &Entry, before: &[Arc<Kind>], registry: &Registry) -> Vec<Arc<Kind>> {
    match kinds_of(entry, before, registry) {
        Ok(kinds) => kinds.into_iter().map(Arc::new).collect(),
        Err(error) => {
            // Admission refuses such a definition, so only an older server can have stored it.
            tracing::error!(definition = &*entry.key, %error, "a stored definition cannot be served");
            Vec::new()
        }
    }
}

fn kinds_of(
    entry: &Entry,
    before: &[Arc<Kind>],
    registry: &Registry,
) -> Result<Vec<Kind>, DefinitionError> {
    let Stored {
        metadata,
        spec,
        status,
    } = serde_json::from_slice(&entry.value)?;
    let object = serde_json::json!({ "metadata": metadata, "status": status });
    if !is_established(&object) {
        return Ok(Vec::new());
    }
    let spec = spec.into_users();
    let shapes = spec.shapes(|at| Shape::of_definition(&entry.value, at));
    let conversion = Conversion::read(
        &spec,
        &object["status"],
        shapes.clone(),
        &registry.converters,
    );
    let mut kinds = spec.kinds(false, meta::is_deleting(&object), &shapes, conversion)?;
    // The first generation has shaped everything that there is.
    let first = meta::generation(&object) <= 1;
    for kind in &mut kinds {
        let same = |k: &&Arc<Kind>| k.version == kind.version && k.shape.is_same(&kind.shape);
        let since = before.iter().find(same).map(|k| k.schema_since);
        kind.strategic = StrategicGroup::choose(&registry.strategic, &kind.group);
        kind.schema_since = since.unwrap_or(if first { 0 } else { entry.modified.0 });
    }
    Ok(kinds)
}

/// Whether the names of a definition are its own, so that its kind is served.
pub(crate) fn is_established(definition: &Value) -> bool {
    let conditions = definition
        .pointer("/status/conditions")
        .and_then(|c| c.as_array());
    conditions
        .into_iter()
        .flatten()
        .any(|c| c["type"] == "Established" && c["status"] == "True")
}
