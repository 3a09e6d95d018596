//! Update: read, change, check, write, and again when someone else was faster.

use machinist_store::{Expect, WriteError};
use serde_json::Value;

use super::patch::Stated;
use super::{Address, FieldValidation, Part, WriteOptions, Written, admit, hook, scale};
use crate::admission::{Operation, Request};
use crate::core::Core;
use crate::registry::Kind;
use crate::status::{ApiError, Cause, chain};
use crate::{apply, codec, meta};

/// How often a write is tried again when the object changed under it.
pub(super) const ATTEMPTS: usize = 100;

/// What a request wants to become of an object.
pub(super) enum Proposal<'a> {
    /// This object; the writer is yet to be recorded.
    Object(Value),
    /// What this states, merged into what is there.
    Stated(&'a Stated),
    /// This object, in which the writer is recorded.
    Recorded(Value),
}

impl Core {
    /// Replaces an object, or one part of it.
    pub(crate) async fn update(
        &self,
        at: &Address,
        part: Part,
        mut body: Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        admit::check_envelope(&at.kind, &mut body, &at.namespace, Some(&at.name))?;
        self.modify(at, part, options, |live| {
            check_uid(at, &body, live)?;
            let required = !at.kind.unconditional_update;
            check_version(&at.kind, &at.name, &body, live, required)?;
            Ok(Proposal::Object(body.clone()))
        })
        .await
    }

    /// Changes an object by a function of what is there, for the server's own purposes.
    pub(crate) async fn edit(
        &self,
        at: &Address,
        part: Part,
        options: &WriteOptions,
        change: impl Fn(&Value) -> Result<Value, ApiError>,
    ) -> Result<Written, ApiError> {
        self.modify(at, part, options, |live| change(live).map(Proposal::Object))
            .await
    }

    /// Changes an object by a function of what is there, as often as it takes.
    pub(super) async fn modify<'a>(
        &self,
        at: &Address,
        part: Part,
        options: &WriteOptions,
        mut change: impl FnMut(&Value) -> Result<Proposal<'a>, ApiError>,
    ) -> Result<Written, ApiError> {
        let key = at.key();
        for _ in 0..ATTEMPTS {
            let entry = self.store.get(&key).ok_or_else(|| at.not_found())?;
            // What lies there in an older version is written again even when nothing changes.
            let migrates = !at.kind.conversion.uniform
                && codec::decode_value(&entry.value)["apiVersion"] != at.kind.stored_api_version;
            let entry = self.present_one(&at.kind, entry).await?;
            let live = codec::decode(&entry);
            let (proposed, tracked) = match change(&live)? {
                Proposal::Object(object) => (object, false),
                Proposal::Recorded(object) => (object, true),
                Proposal::Stated(stated) => {
                    let merged = self.merge(at, part, Some(&live), stated, options).await?;
                    (merged, true)
                }
            };
            let (mut object, warnings) = self.settle(&at.kind, part, proposed, &live, options)?;
            if tracked {
                apply::keep_times_if_unchanged(&live, &mut object);
            } else {
                object = self
                    .track(&at.kind, part, Some(&live), object, options)
                    .await?;
            }
            if !options.internal
                && let Some(mutated) = self.mutate_part(at, part, options, &object, &live).await?
            {
                let quiet = WriteOptions {
                    validation: FieldValidation::Ignore,
                    ..options.clone()
                };
                let (mut settled, _) = self.settle(&at.kind, part, mutated, &live, &quiet)?;
                admit::keep_managers(&mut settled, &object, &options.notes);
                apply::keep_times_if_unchanged(&live, &mut settled);
                object = settled;
            }
            self.conclude(&at.kind, &mut object, &live, part, options)?;
            if !options.internal {
                self.approve_part(at, part, options, &object, &live).await?;
            }
            codec::set_resource_version(&mut object, entry.modified.0);
            let gone = meta::is_deleting(&object) && hook::finalizers(&at.kind, &object).is_empty();
            if options.dry_run || (object == live && !gone && !migrates) {
                return Ok(Written {
                    object,
                    created: false,
                    warnings,
                    entry: None,
                });
            }
            let mut lies = None;
            let expect = Expect::Revision(entry.modified);
            let result = if gone {
                self.store.delete(&key, expect).await.map(|e| e.modified)
            } else {
                let stored = self.to_stored(&at.kind, &object).await?;
                let written = self.store.put(&key, stored.clone(), expect).await;
                if let Ok(revision) = &written {
                    lies = at.kind.stored_entry(&stored, *revision);
                    object = self.read_back(&at.kind, object, stored).await?;
                }
                written
            };
            match result {
                Ok(revision) => {
                    if !gone {
                        codec::set_resource_version(&mut object, revision.0);
                    }
                    hook::written(self, &at.kind);
                    return Ok(Written {
                        object,
                        created: false,
                        warnings,
                        entry: lies,
                    });
                }
                Err(WriteError::Conflict { .. } | WriteError::NotFound(_)) => {}
                Err(error) => return Err(store_error(&error)),
            }
        }
        Err(ApiError::modified(&at.kind, &at.name))
    }

    /// Makes of a proposal the object that may be stored: the parts that this write does not own
    /// come from the live object, and so does everything that nobody may change.
    fn settle(
        &self,
        kind: &Kind,
        part: Part,
        proposed: Value,
        live: &Value,
        options: &WriteOptions,
    ) -> Result<(Value, Vec<String>), ApiError> {
        let mut object = proposed;
        // Whoever leaves the UID out means the one that is there; another one is refused below.
        if meta::uid(&object).is_empty() {
            meta::copy(&mut object, live, "uid");
        }
        let warnings = self.shape(kind, &mut object, options)?;
        match part {
            Part::Main | Part::Scale | Part::Finalize => {
                if kind.status {
                    meta::copy_field(&mut object, live, "status");
                }
            }
            Part::Status => {
                let mut only_status = meta::clone_without_managers(live, |name| name != "status");
                if let Some(status) = object.get_mut("status").map(Value::take) {
                    meta::as_map(&mut only_status).insert("status".to_owned(), status);
                }
                let covered = match hook::status_covers_metadata(kind) {
                    true => &["managedFields", "labels", "annotations"][..],
                    false => &["managedFields"],
                };
                let metadata = meta::metadata_mut(&mut object);
                for field in covered {
                    let own = meta::metadata_mut(&mut only_status);
                    match metadata.remove(*field) {
                        Some(value) => own.insert((*field).to_owned(), value),
                        None => own.remove(*field),
                    };
                }
                object = only_status;
            }
        }
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
            if object["metadata"][field].is_null() {
                meta::copy(&mut object, live, field);
            }
        }
        for field in [
            "creationTimestamp",
            "generation",
            "selfLink",
            "generateName",
        ] {
            meta::copy(&mut object, live, field);
        }
        hook::prepare(self, kind, &mut object, Some(live), part);
        // The resource version takes no part in comparisons: both sides carry the live one.
        meta::copy(&mut object, live, "resourceVersion");
        Ok((object, warnings))
    }

    /// Counts the generation and judges the object.
    fn conclude(
        &self,
        kind: &Kind,
        object: &mut Value,
        live: &Value,
        part: Part,
        options: &WriteOptions,
    ) -> Result<(), ApiError> {
        hook::check_caller(self, kind, object, Some(live), &options.caller)?;
        if kind.generation && wants_differ(kind, object, live) {
            let next = meta::generation(live) + 1;
            meta::metadata_mut(object).insert("generation".into(), next.into());
        }
        self.judge(kind, object, Some(live), part)
    }

    /// Shows a changed object to the mutating webhooks; gives what they made of it, if anything.
    async fn mutate_part(
        &self,
        at: &Address,
        part: Part,
        options: &WriteOptions,
        object: &Value,
        live: &Value,
    ) -> Result<Option<Value>, ApiError> {
        let given = options.to_value(Operation::Update);
        let request = request(at, part, options, &given);
        match (&at.kind.scale, part) {
            (Some(paths), Part::Scale) => {
                let (new, old) = (scale::view(paths, object), scale::view(paths, live));
                match self.mutate(&request, Some(&new), Some(&old)).await? {
                    Some(mutated) => scale::with_replicas(paths, object, &mutated).map(Some),
                    None => Ok(None),
                }
            }
            _ => self.mutate(&request, Some(object), Some(live)).await,
        }
    }

    /// Shows a changed object to the validating webhooks.
    async fn approve_part(
        &self,
        at: &Address,
        part: Part,
        options: &WriteOptions,
        object: &Value,
        live: &Value,
    ) -> Result<(), ApiError> {
        let given = options.to_value(Operation::Update);
        let request = request(at, part, options, &given);
        match (&at.kind.scale, part) {
            (Some(paths), Part::Scale) => {
                let (new, old) = (scale::view(paths, object), scale::view(paths, live));
                self.approve(&request, Some(&new), Some(&old)).await
            }
            _ => self.approve(&request, Some(object), Some(live)).await,
        }
    }
}

/// An update, as webhooks are told of it.
fn request<'a>(
    at: &'a Address,
    part: Part,
    options: &'a WriteOptions,
    given: &'a Value,
) -> Request<'a> {
    Request {
        kind: &at.kind,
        subresource: part.name(),
        namespace: at.told_namespace(),
        name: &at.name,
        operation: Operation::Update,
        dry_run: options.dry_run,
        caller: &options.caller,
        options: given,
        notes: &options.notes,
    }
}

/// Whether the two differ in what is wanted: in anything but metadata and, where that is a part
/// of its own, status.
fn wants_differ(kind: &Kind, object: &Value, live: &Value) -> bool {
    let counts = |field: &str| field != "metadata" && !(kind.status && field == "status");
    let (Some(new), Some(old)) = (object.as_object(), live.as_object()) else {
        return false;
    };
    let fields = new.keys().chain(old.keys());
    fields
        .filter(|f| counts(f))
        .any(|f| new.get(f) != old.get(f))
}

/// Checks the UID that a body carries against the live object's.
pub(super) fn check_uid(at: &Address, body: &Value, live: &Value) -> Result<(), ApiError> {
    let (given, found) = (meta::uid(body), meta::uid(live));
    if given.is_empty() || given == found {
        return Ok(());
    }
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {given}, UID in object meta: {found}",
        registry_key(at)
    );
    Err(ApiError::conflict(&at.kind, &at.name, &why))
}

/// The key that Kubernetes would have for an object.
fn registry_key(at: &Address) -> String {
    let kind = &at.kind;
    let mut parts = vec!["/registry"];
    if !kind.builtin || kind.group == "apiextensions.k8s.io" {
        parts.push(&kind.group);
    }
    parts.push(&kind.plural);
    if kind.namespaced {
        parts.push(&at.namespace);
    }
    parts.push(&at.name);
    parts.join("/")
}

/// Checks the resource version that a body carries against the live object's; a body without one
/// is fine unless one is required.
pub(super) fn check_version(
    kind: &Kind,
    name: &str,
    body: &Value,
    live: &Value,
    required: bool,
) -> Result<(), ApiError> {
    match meta::text(body, "resourceVersion") {
        "" | "0" if !required => Ok(()),
        "" | "0" => {
            let why = "must be specified for an update";
            let cause = Cause::invalid("metadata.resourceVersion", "0", why);
            Err(ApiError::invalid_named(
                &kind.group,
                &kind.plural,
                name,
                &[cause],
            ))
        }
        version if version == meta::text(live, "resourceVersion") => Ok(()),
        version if version.parse::<u64>().is_err() => Err(ApiError::unexplained(format!(
            "strconv.ParseUint: parsing {version:?}: invalid syntax"
        ))),
        _ => Err(ApiError::modified(kind, name)),
    }
}

/// What a client is told when the store does not take a write.
pub(super) fn store_error(error: &WriteError) -> ApiError {
    ApiError::internal(chain(error))
}
