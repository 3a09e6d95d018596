//! The verbs, generic over kinds: what a request means for the objects in the store.
//!
//! Everything here speaks JSON values and [`ApiError`]s; bytes, headers and streams are left to
//! `http` and `watch`. Each verb is one file; the rules that writes share are in `admit`,
//! `metadata` and `hook`.

mod admit;
mod counted;
mod create;
mod delete;
mod embedded;
mod hook;
mod install;
mod metadata;
pub(crate) mod names;
mod patch;
mod read;
mod review;
mod scale;
mod scale_body;
mod shape;
mod typed;
mod update;
mod versions;

use std::sync::Arc;

use machinist_store::Entry;
use serde_json::{Value, json};

pub(crate) use delete::{DeleteOptions, Deleted, FOREGROUND, ORPHAN, Propagation};
pub(crate) use hook::DEFINITION_FINALIZER;
pub use install::Embedded;
pub(crate) use patch::PatchKind;
pub(crate) use read::{ListOptions, Listed, VersionMatch};

use crate::admission::{Notes, Operation};
use crate::apply::{self, Manager, Set};
use crate::auth::attributes::Resource;
use crate::auth::{Action, Identity};
use crate::core::Core;
use crate::meta;
use crate::registry::{Hook, Kind};
use crate::status::ApiError;

/// One object of one kind.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    pub(crate) kind: Arc<Kind>,
    /// Empty for a cluster-scoped kind.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Address {
    /// The key in the store.
    pub(crate) fn key(&self) -> String {
        self.kind.key(&self.namespace, &self.name)
    }

    /// The namespace that webhooks are told of: a namespace lies in itself.
    fn told_namespace(&self) -> &str {
        if self.kind.hook == Hook::Namespace {
            &self.name
        } else {
            &self.namespace
        }
    }

    /// The answer when there is no such object.
    pub(crate) fn not_found(&self) -> ApiError {
        ApiError::not_found(&self.kind, &self.name)
    }
}

/// Something that a caller may want to do to an object.
fn action(kind: &Kind, namespace: &str, name: &str, verb: &str) -> Action {
    let resource = Resource {
        group: kind.group.clone(),
        version: kind.version.clone(),
        resource: kind.plural.clone(),
        subresource: String::new(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    Action::on(verb, resource)
}

/// Which part of an object a write is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything but the status, where that is apart.
    Main,
    /// The status alone.
    Status,
    /// The number of replicas, for the scale subresource.
    Scale,
    /// What must be done before a namespace may go.
    Finalize,
}

impl Part {
    /// The name that managed fields have for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Main => "",
            Self::Status => "status",
            Self::Scale => "scale",
            Self::Finalize => "finalize",
        }
    }
}

/// What to do about fields that the schema does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// Drop them in silence.
    Ignore,
    /// Drop them and say so.
    Warn,
    /// Refuse them.
    Strict,
}

/// How a write is to be made.
#[derive(Debug, Clone)]
pub(crate) struct WriteOptions {
    /// Go through everything and store nothing.
    pub(crate) dry_run: bool,
    /// Who is recorded as the owner of what changes.
    pub(crate) manager: String,
    /// What to do about unknown and duplicate fields.
    pub(crate) validation: FieldValidation,
    /// Take fields from other appliers.
    pub(crate) force: bool,
    /// Complaints about duplicate fields from when the body was read.
    pub(crate) complaints: Vec<String>,
    /// Who asks for it.
    pub(crate) caller: Identity,
    /// What the request itself said of these, for those who are told of it.
    pub(crate) given: Given,
    /// Where webhooks leave what they say beside their verdict.
    pub(crate) notes: Notes,
    /// Whether the server asks itself, so that nobody else is asked.
    pub(crate) internal: bool,
}

/// The options of a write as they were sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub(crate) field_manager: String,
    pub(crate) field_validation: String,
}

impl WriteOptions {
    /// For writes that the server makes itself.
    pub(crate) fn internal(manager: &str) -> Self {
        Self {
            dry_run: false,
            manager: manager.into(),
            validation: FieldValidation::Ignore,
            force: true,
            complaints: Vec::new(),
            caller: Identity::admin(),
            given: Given::default(),
            notes: Notes::default(),
            internal: true,
        }
    }

    /// The options as an object, for a request of this operation.
    fn to_value(&self, operation: Operation) -> Value {
        let kind = match operation {
            Operation::Create => "CreateOptions",
            Operation::Update | Operation::Delete => "UpdateOptions",
        };
        let mut options = json!({"kind": kind, "apiVersion": "meta.k8s.io/v1"});
        if self.dry_run {
            options["dryRun"] = json!(["All"]);
        }
        let Given {
            field_manager,
            field_validation,
        } = &self.given;
        for (name, value) in [
            ("fieldManager", field_manager),
            ("fieldValidation", field_validation),
        ] {
            if !value.is_empty() {
                options[name] = value.clone().into();
            }
        }
        options
    }
}

/// What came of a write.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) object: Value,
    pub(crate) created: bool,
    pub(crate) warnings: Vec<String>,
    /// How it lies in the store now, where that is how it is shown.
    pub(crate) entry: Option<Entry>,
}

/// The fields that a write to this part does not own.
fn unowned(kind: &Kind, part: Part) -> Set {
    match part {
        // The finalizers of a namespace's spec are the server's own.
        Part::Main if kind.hook == Hook::Namespace => {
            Set::of_fields([["status"].as_slice(), &["spec"], &["spec", "finalizers"]])
        }
        Part::Main | Part::Finalize if kind.status => Set::of_fields([["status"].as_slice()]),
        Part::Status => {
            let fields: Vec<[&str; 1]> = kind
                .schema()
                .properties
                .keys()
                .map(String::as_str)
                .filter(|f| !matches!(*f, "status" | "apiVersion" | "kind" | "metadata"))
                .chain((!hook::status_covers_metadata(kind)).then_some("metadata"))
                .map(|f| [f])
                .collect();
            Set::of_fields(fields.iter().map(|f| f.as_slice()))
        }
        Part::Main | Part::Scale | Part::Finalize => Set::new(),
    }
}

impl Core {
    /// Records the writer of everything that differs from `live` in the managed fields.
    async fn track(
        &self,
        kind: &Kind,
        part: Part,
        live: Option<&Value>,
        new: Value,
        options: &WriteOptions,
    ) -> Result<Value, ApiError> {
        let api_version = kind.api_version();
        let now = meta::now();
        let manager = Manager {
            name: &options.manager,
            api_version: &api_version,
            subresource: part.name(),
            now: &now,
        };
        let kept = live.map(|l| l.pointer("/metadata/managedFields").cloned());
        // What every object of a typed kind has from the start, nobody came to own by creating
        // one.
        let blank = (kind.builtin && live.is_none()).then(|| hook::blank(kind));
        let live = live.or(blank.as_ref());
        let ignore = unowned(kind, part);
        let tracked = self
            .with_versions(kind, |versions| {
                apply::track_update(versions, live, new.clone(), &manager, &ignore)
            })
            .await?;
        Ok(tracked.unwrap_or_else(|error| {
            // An old object that no longer fits its schema can still be updated; who owned what
            // is then kept as it was.
            tracing::debug!(%error, "managed fields are not tracked for this write");
            let mut fallback = new;
            let metadata = meta::metadata_mut(&mut fallback);
            match kept.flatten() {
                Some(fields) => metadata.insert("managedFields".into(), fields),
                None => metadata.remove("managedFields"),
            };
            fallback
        }))
    }
}
