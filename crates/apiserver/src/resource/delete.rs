//! Delete: at once, or, where finalizers stand in the way, as a mark that waits for them.

use machinist_store::{Expect, WriteError};
use serde_json::Value;

use super::update::{ATTEMPTS, store_error};
use super::{Address, ListOptions, hook};
use crate::admission::{Notes, Operation, Request};
use crate::auth::Identity;
use crate::core::Core;
use crate::registry::Kind;
use crate::selector::Selector;
use crate::status::ApiError;
use crate::{codec, meta};

/// Holds an owner until its dependents are gone.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// Holds an owner until its dependents no longer name it.
pub(crate) const ORPHAN: &str = "orphan";

/// What becomes of the objects that a deleted one owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// They are deleted after it.
    Background,
    /// They are deleted before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// How to delete.
#[derive(Debug, Clone)]
pub(crate) struct DeleteOptions {
    pub(crate) dry_run: bool,
    /// Only if the object has this UID.
    pub(crate) uid: Option<String>,
    /// Only if the object is at this resource version.
    pub(crate) resource_version: Option<String>,
    pub(crate) propagation: Option<Propagation>,
    /// Who asks for it.
    pub(crate) caller: Identity,
    /// The options as they were sent, for those who are told of the request.
    pub(crate) given: Value,
    /// Where webhooks leave what they say beside their verdict.
    pub(crate) notes: Notes,
    /// Whether the server asks itself, so that nobody else is asked.
    pub(crate) internal: bool,
    /// Whether the object is one of a collection, which webhooks are told of without a name.
    pub(crate) collection: bool,
}

impl DeleteOptions {
    /// For deletes that the server makes itself.
    pub(crate) fn internal() -> Self {
        Self {
            dry_run: false,
            uid: None,
            resource_version: None,
            propagation: None,
            caller: Identity::admin(),
            given: Value::Null,
            notes: Notes::default(),
            internal: true,
            collection: false,
        }
    }
}

/// What came of a delete.
#[derive(Debug)]
pub(crate) enum Deleted {
    /// The object is gone; this was its last state.
    Gone(Value),
    /// The object is marked and waits for its finalizers.
    Pending(Value),
}

impl Core {
    /// Deletes an object, or marks it as to be deleted.
    pub(crate) async fn delete(
        &self,
        at: &Address,
        options: &DeleteOptions,
    ) -> Result<Deleted, ApiError> {
        let key = at.key();
        hook::check_delete(&at.kind, &at.name)?;
        for _ in 0..ATTEMPTS {
            let entry = self.store.get(&key).ok_or_else(|| at.not_found())?;
            let entry = self.present_one(&at.kind, entry).await?;
            let live = codec::decode(&entry);
            check_preconditions(at, &live, options)?;
            if !options.internal {
                self.approve_delete(at, &live, options).await?;
            }
            let mut object = live.clone();
            hold_for(&mut object, options.propagation);
            hook::hold(&at.kind, &mut object);
            let expect = Expect::Revision(entry.modified);
            if hook::finalizers(&at.kind, &object).is_empty() {
                if options.dry_run {
                    return Ok(Deleted::Gone(object));
                }
                match self.store.delete(&key, expect).await {
                    Ok(last) => {
                        codec::set_resource_version(&mut object, last.modified.0);
                        hook::written(self, &at.kind);
                        return Ok(Deleted::Gone(object));
                    }
                    Err(WriteError::Conflict { .. } | WriteError::NotFound(_)) => continue,
                    Err(error) => return Err(store_error(&error)),
                }
            }
            if !meta::is_deleting(&object) {
                mark(&at.kind, &mut object);
            }
            if object == live || options.dry_run {
                return Ok(Deleted::Pending(object));
            }
            let stored = self.to_stored(&at.kind, &object).await?;
            match self.store.put(&key, stored, expect).await {
                Ok(revision) => {
                    codec::set_resource_version(&mut object, revision.0);
                    hook::written(self, &at.kind);
                    return Ok(Deleted::Pending(object));
                }
                Err(WriteError::Conflict { .. } | WriteError::NotFound(_)) => {}
                Err(error) => return Err(store_error(&error)),
            }
        }
        Err(ApiError::modified(&at.kind, &at.name))
    }

    /// Shows an object that is about to be deleted to the webhooks of both kinds.
    async fn approve_delete(
        &self,
        at: &Address,
        live: &Value,
        options: &DeleteOptions,
    ) -> Result<(), ApiError> {
        let request = Request {
            kind: &at.kind,
            subresource: "",
            namespace: at.told_namespace(),
            name: if options.collection { "" } else { &at.name },
            operation: Operation::Delete,
            dry_run: options.dry_run,
            caller: &options.caller,
            options: &options.given,
            notes: &options.notes,
        };
        self.mutate(&request, None, Some(live)).await?;
        self.approve(&request, None, Some(live)).await
    }

    /// Deletes every selected object; gives them as they were.
    pub(crate) async fn delete_collection(
        &self,
        kind: &std::sync::Arc<Kind>,
        namespace: Option<&str>,
        selector: &Selector,
        options: &DeleteOptions,
    ) -> Result<Vec<Value>, ApiError> {
        let listed = self
            .list(kind, namespace, selector, &ListOptions::default())
            .await?;
        let options = &DeleteOptions {
            collection: true,
            ..options.clone()
        };
        let mut deleted = Vec::new();
        for object in listed.into_objects() {
            let at = Address {
                kind: kind.clone(),
                namespace: meta::namespace(&object).to_owned(),
                name: meta::name(&object).to_owned(),
            };
            match self.delete(&at, options).await {
                Ok(Deleted::Gone(_)) => deleted.push(object),
                Ok(Deleted::Pending(object)) => deleted.push(object),
                Err(error) if error.reason == "NotFound" => {}
                Err(error) => return Err(error),
            }
        }
        Ok(deleted)
    }
}

fn check_preconditions(
    at: &Address,
    live: &Value,
    options: &DeleteOptions,
) -> Result<(), ApiError> {
    let uid = meta::uid(live);
    if let Some(wanted) = options.uid.as_deref().filter(|wanted| *wanted != uid) {
        let why = format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might have been deleted and then recreated"
        );
        return Err(mismatch(at, &why));
    }
    let version = meta::text(live, "resourceVersion");
    if let Some(wanted) = options
        .resource_version
        .as_deref()
        .filter(|wanted| *wanted != version)
    {
        let why = format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({version}). The object might have been modified"
        );
        return Err(mismatch(at, &why));
    }
    Ok(())
}

/// The conflict of a deletion that was meant for another object: said of the kind, where other
/// conflicts are said of the resource.
fn mismatch(at: &Address, why: &str) -> ApiError {
    let message = format!(
        "Operation cannot be fulfilled on {} \"{}\": {why}",
        at.kind.qualified_kind(),
        at.name
    );
    let error = ApiError::new(http::StatusCode::CONFLICT, "Conflict", message);
    let mut error = error.on_resource(&at.kind, &at.name);
    error
        .details
        .insert("kind".into(), at.kind.kind.clone().into());
    error
}

/// Puts the finalizers of a propagation policy in place. Without a policy they stay as they are,
/// so that a second delete does not undo the first one's choice.
fn hold_for(object: &mut Value, propagation: Option<Propagation>) {
    let (add, remove) = match propagation {
        None => return,
        Some(Propagation::Background) => (None, [FOREGROUND, ORPHAN]),
        Some(Propagation::Foreground) => (Some(FOREGROUND), [ORPHAN, ORPHAN]),
        Some(Propagation::Orphan) => (Some(ORPHAN), [FOREGROUND, FOREGROUND]),
    };
    for finalizer in remove {
        meta::remove_finalizer(object, finalizer);
    }
    if let Some(finalizer) = add {
        meta::add_finalizer(object, finalizer);
    }
}

fn mark(kind: &Kind, object: &mut Value) {
    let generation = meta::generation(object);
    let metadata = meta::metadata_mut(object);
    metadata.insert("deletionTimestamp".into(), meta::now().into());
    metadata.insert("deletionGracePeriodSeconds".into(), 0.into());
    if generation > 0 {
        metadata.insert("generation".into(), (generation + 1).into());
    }
    hook::mark_deleting(kind, object);
}
