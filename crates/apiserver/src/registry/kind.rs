//! What the server knows of a kind: everything that the generic paths ask for, and nothing else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;

use bytes::Bytes;
use machinist_store::{Entry, Revision};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::shape::Shape;
use super::strategic::Strategic;
use crate::conversion::Conversion;
use crate::meta;
use crate::schema::{self, Schema, Validator};
use crate::table::Columns;

/// One version of one kind that is served.
#[derive(Debug)]
pub struct Kind {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version that is served.
    pub version: String,
    /// The name of the kind, such as `Machine`.
    pub kind: String,
    /// The name of its list, such as `MachineList`.
    pub list_kind: String,
    /// The name in paths, such as `machines`.
    pub plural: String,
    /// The name for people, such as `machine`.
    pub singular: String,
    /// What else `kubectl get` calls it.
    pub short_names: Vec<String>,
    /// The groups of kinds it belongs to, such as `all`.
    pub categories: Vec<String>,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// The shape of its objects.
    pub shape: Arc<Shape>,
    /// Whether `status` is written apart from the rest.
    pub status: bool,
    /// Where the replicas are, if the kind scales.
    pub scale: Option<Scale>,
    /// The columns of its tables after the name.
    pub columns: Columns,
    /// The paths that field selectors may name, beside name and namespace.
    pub selectable: Vec<String>,
    /// Where its objects lie in the store; ends with `/`.
    pub prefix: String,
    /// The `apiVersion` that objects have in the store.
    pub stored_api_version: String,
    /// Fields that are called otherwise in the store than in this version: (stored, served).
    pub renames: Vec<(String, String)>,
    /// How objects of its versions become each other.
    pub(crate) conversion: Arc<Conversion>,
    /// Whether `metadata.generation` counts the changes of what is wanted.
    pub generation: bool,
    /// Whether an update may leave out the resource version.
    pub unconditional_update: bool,
    /// Whether only the server itself writes its objects.
    pub read_only: bool,
    /// Whether a deletion is answered with the object, as a few typed kinds do.
    pub returns_deleted: bool,
    /// Whether it takes strategic merge patches, and who says how its lists merge.
    pub strategic: Strategic,
    /// What happens around its writes beyond the generic rules.
    pub hook: Hook,
    /// What to warn clients of that use this version.
    pub deprecation: Option<String>,
    /// Whether the kind is part of the server and not of a definition.
    pub builtin: bool,
    /// The revision of the store at which the schema became what it is; what is older was
    /// written under another one.
    pub schema_since: u64,
    /// Whether its definition is being deleted, so that nothing new may be created.
    pub terminating: bool,
}

/// Where a kind keeps what the `scale` subresource shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// The path of the wanted number.
    pub spec_replicas: String,
    /// The path of the observed number.
    pub status_replicas: String,
    /// The path of the selector in text form, if there is one.
    pub label_selector: Option<String>,
}

/// The few kinds whose writes mean more than storing an object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
pub enum Hook {
    /// Nothing beyond the generic rules.
    #[default]
    None,
    /// `stringData` is folded into `data`; an immutable object stays as it is.
    Immutable,
    /// A namespace ends only when it is empty.
    Namespace,
    /// A definition makes its kind served.
    Definition,
    /// Events expire.
    Event,
    /// A configuration says which webhooks are asked about writes.
    Webhooks,
    /// Accounts have tokens.
    Account,
    /// Roles hold rules, which nobody may write who does not hold them.
    Role,
    /// Bindings give roles away.
    Binding,
}

impl Kind {
    /// `machines.vitistack.io`, or `secrets` in the core group.
    pub fn qualified(&self) -> String {
        qualify(&self.plural, &self.group)
    }

    /// `Machine.vitistack.io`, or `Secret` in the core group.
    pub fn qualified_kind(&self) -> String {
        qualify(&self.kind, &self.group)
    }

    /// `vitistack.io/v1alpha1`, or `v1`.
    pub fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// What its objects look like.
    pub fn schema(&self) -> &Schema {
        self.shape.schema()
    }

    /// What judges its objects.
    pub fn validator(&self) -> &Validator {
        self.shape.validator()
    }

    /// What discovery says of the stored version, so that clients see when it changes: the first
    /// eight bytes of a digest of its name.
    pub(crate) fn storage_version_hash(&self) -> String {
        let (group, version) = self
            .stored_api_version
            .split_once('/')
            .unwrap_or(("", &self.stored_api_version));
        let digest = Sha256::digest(format!("{group}/{version}/{}", self.kind));
        STANDARD.encode(&digest[..8])
    }

    /// The key of an object in the store.
    pub fn key(&self, namespace: &str, name: &str) -> String {
        if self.namespaced {
            format!("{}{namespace}/{name}", self.prefix)
        } else {
            format!("{}{name}", self.prefix)
        }
    }

    /// The prefix of the keys in a namespace, or of all.
    pub fn keys_in(&self, namespace: Option<&str>) -> String {
        match namespace {
            Some(namespace) if self.namespaced => format!("{}{namespace}/", self.prefix),
            _ => self.prefix.clone(),
        }
    }

    /// Whether an object that was last written at this revision has the form of the schema.
    pub(crate) fn is_current(&self, modified: u64) -> bool {
        modified >= self.schema_since
    }

    /// Gives an object that was written under an older schema the form of this one.
    pub(crate) fn reshape(&self, object: &mut Value) {
        schema::prune(self.schema(), object);
        schema::default(self.schema(), object);
    }

    /// Whether this is the version that is stored, under the same names.
    pub(crate) fn is_stored_form(&self) -> bool {
        // Asked for every event of every watch, so nothing is put together for it.
        let (group, version) = match self.stored_api_version.split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", self.stored_api_version.as_str()),
        };
        self.renames.is_empty() && self.group == group && self.version == version
    }

    /// Whether whatever lies in the store is what this version serves, byte for byte.
    pub(crate) fn serves_what_is_stored(&self) -> bool {
        self.conversion.uniform && self.schema_since == 0 && self.is_stored_form()
    }

    /// Whether this entry is what this version serves, byte for byte.
    pub(crate) fn serves_entry(&self, entry: &Entry) -> bool {
        self.conversion.uniform && self.is_current(entry.modified.0) && self.is_stored_form()
    }

    /// What was just written under this version as it lies in the store, if it is shown like that.
    pub(crate) fn stored_entry(&self, value: &Bytes, modified: Revision) -> Option<Entry> {
        self.is_stored_form().then(|| Entry {
            key: "".into(),
            value: value.clone(),
            created: modified,
            modified,
        })
    }

    /// Gives the fields of a stored object the names that they have in this version.
    pub(crate) fn rename_to_served(&self, object: &mut Value) {
        self.rename(object, |(stored, served)| (stored, served));
    }

    /// Gives the fields of an object of this version the names that they have in the store.
    pub(crate) fn rename_to_stored(&self, object: &mut Value) {
        self.rename(object, |(stored, served)| (served, stored));
    }

    fn rename<'a>(
        &'a self,
        object: &mut Value,
        direction: impl Fn(&'a (String, String)) -> (&'a String, &'a String),
    ) {
        if self.renames.is_empty() {
            return;
        }
        let map = meta::as_map(object);
        let mut moved = Map::new();
        for rename in &self.renames {
            let (from, to) = direction(rename);
            if let Some(value) = map.remove(from) {
                moved.insert(to.clone(), value);
            }
        }
        map.extend(moved);
    }

    /// The Go package of the type behind a built-in, which shows in words about it.
    pub(crate) fn go_package(&self) -> &str {
        match self.group.split('.').next().unwrap_or_default() {
            "" | "events" => "core",
            first => first,
        }
    }

    /// The verbs that discovery names.
    pub fn verbs(&self) -> &'static [&'static str] {
        if self.read_only { READING } else { VERBS }
    }
}

/// What can be done with a kind that only the server writes.
const READING: &[&str] = &["get", "list", "watch"];

/// What can be done with every other kind.
const VERBS: &[&str] = &[
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];

/// Where Kubernetes says that its kinds are registered.
pub(crate) const SCHEME: &str = "pkg/runtime/scheme.go:111";

fn qualify(name: &str, group: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}

/// `group/version`, or the version alone in the core group.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}
