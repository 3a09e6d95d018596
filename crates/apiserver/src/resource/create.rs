//! Create: a new object under a name that is free.

use std::sync::Arc;

use machinist_store::{Expect, WriteError};
use serde_json::Value;

use super::{FieldValidation, Part, WriteOptions, Written, admit, hook, shape};
use crate::admission::{Operation, Request};
use crate::core::Core;
use crate::registry::{Hook, Kind};
use crate::schema;
use crate::status::ApiError;
use crate::{codec, meta};

/// How often a generated name is drawn again when it is taken.
const NAME_ATTEMPTS: usize = 8;

impl Core {
    /// Creates an object from a request's body.
    pub(crate) async fn create(
        &self,
        kind: &Arc<Kind>,
        namespace: &str,
        mut body: Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        admit::check_envelope(kind, &mut body, namespace, None)?;
        if !meta::text(&body, "resourceVersion").is_empty() {
            return Err(ApiError::unexplained(
                "resourceVersion should not be set on objects to be created",
            ));
        }
        self.create_tracked(kind, namespace, body, options, true)
            .await
    }

    /// Creates an object whose envelope was checked. `untracked` asks to record the writer here;
    /// an apply has done so already.
    pub(super) async fn create_tracked(
        &self,
        kind: &Arc<Kind>,
        namespace: &str,
        body: Value,
        options: &WriteOptions,
        untracked: bool,
    ) -> Result<Written, ApiError> {
        if kind.terminating {
            let message = "create not allowed while custom resource definition is terminating";
            return Err(ApiError::new(
                http::StatusCode::METHOD_NOT_ALLOWED,
                "MethodNotAllowed",
                message,
            ));
        }
        admit::check_namespace(self, kind, namespace, meta::name(&body))?;
        let (body, warnings) = self
            .propose(kind, namespace, body, options, untracked)
            .await?;
        let written = self
            .create_proposed(kind, namespace, body, options, untracked)
            .await;
        match written {
            Ok(written) => Ok(Written {
                warnings,
                ..written
            }),
            // Whoever is refused is warned all the same.
            Err(refused) => {
                warnings.iter().for_each(|one| options.notes.warn(one));
                Err(refused)
            }
        }
    }

    /// Stores what was proposed, with what the server adds to it, once it is found right.
    async fn create_proposed(
        &self,
        kind: &Arc<Kind>,
        namespace: &str,
        mut body: Value,
        options: &WriteOptions,
        untracked: bool,
    ) -> Result<Written, ApiError> {
        let mut attempt = 0;
        loop {
            // Only a name that is drawn can be drawn again.
            let mut object = match meta::name(&body).is_empty() {
                true => body.clone(),
                false => std::mem::take(&mut body),
            };
            let generated = begin(kind, &mut object);
            if kind.status {
                meta::as_map(&mut object).remove("status");
                // A status that nobody may send can still have a default: what readers see first.
                schema::default(kind.schema(), &mut object);
            }
            hook::prepare(self, kind, &mut object, None, Part::Main);
            hook::check_caller(self, kind, &object, None, &options.caller)?;
            self.judge(kind, &object, None, Part::Main)?;
            if !untracked {
                // The caller was let in to patch; that the object is new is known only now.
                let action = super::action(kind, namespace, meta::name(&object), "create");
                self.check_may(&options.caller, &action)?;
            }
            if !options.internal {
                let given = options.to_value(Operation::Create);
                let request = request(kind, namespace, meta::name(&object), options, &given);
                self.approve(&request, Some(&object), None).await?;
            }
            if options.dry_run {
                return match self.store.get(&kind.key(namespace, meta::name(&object))) {
                    Some(_) => Err(ApiError::already_exists(kind, meta::name(&object))),
                    None => Ok(Written {
                        object,
                        created: true,
                        warnings: Vec::new(),
                        entry: None,
                    }),
                };
            }
            let key = kind.key(namespace, meta::name(&object));
            let stored = self.to_stored(kind, &object).await?;
            match self.store.put(&key, stored.clone(), Expect::Absent).await {
                Ok(revision) => {
                    if let Err(gone) =
                        admit::check_namespace(self, kind, namespace, meta::name(&object))
                    {
                        // The namespace went while we wrote, and nobody would come to empty it.
                        let _ = self.store.delete(&key, Expect::Revision(revision)).await;
                        return Err(gone);
                    }
                    let entry = kind.stored_entry(&stored, revision);
                    object = self.read_back(kind, object, stored).await?;
                    codec::set_resource_version(&mut object, revision.0);
                    hook::written(self, kind);
                    return Ok(Written {
                        object,
                        created: true,
                        warnings: Vec::new(),
                        entry,
                    });
                }
                Err(WriteError::Exists(_)) if generated && attempt < NAME_ATTEMPTS => attempt += 1,
                Err(WriteError::Exists(_)) => {
                    return Err(ApiError::already_exists(kind, meta::name(&object)));
                }
                Err(error) => return Err(super::update::store_error(&error)),
            }
        }
    }

    /// Makes of a body the object that is proposed: shaped, its writer recorded, and changed as
    /// webhooks want it. What the server adds to it comes after.
    async fn propose(
        &self,
        kind: &Arc<Kind>,
        namespace: &str,
        mut body: Value,
        options: &WriteOptions,
        untracked: bool,
    ) -> Result<(Value, Vec<String>), ApiError> {
        wipe(&mut body);
        let warnings = self.shape(kind, &mut body, options)?;
        hook::prepare(self, kind, &mut body, None, Part::Main);
        if untracked {
            body = self.track(kind, Part::Main, None, body, options).await?;
        }
        if options.internal {
            return Ok((body, warnings));
        }
        let given = options.to_value(Operation::Create);
        let request = request(kind, namespace, meta::name(&body), options, &given);
        if let Some(mut mutated) = self.mutate(&request, Some(&body), None).await? {
            admit::check_envelope(kind, &mut mutated, namespace, None)?;
            admit::keep_managers(&mut mutated, &body, &options.notes);
            let quiet = WriteOptions {
                validation: FieldValidation::Ignore,
                ..options.clone()
            };
            shape::shape(kind, &mut mutated, &quiet)?;
            hook::prepare(self, kind, &mut mutated, None, Part::Main);
            body = mutated;
        }
        Ok((body, warnings))
    }
}

/// A create, as webhooks are told of it.
fn request<'a>(
    kind: &'a Arc<Kind>,
    namespace: &'a str,
    name: &'a str,
    options: &'a WriteOptions,
    given: &'a Value,
) -> Request<'a> {
    Request {
        kind,
        subresource: "",
        // A namespace lies in itself.
        namespace: if kind.hook == Hook::Namespace {
            name
        } else {
            namespace
        },
        name,
        operation: Operation::Create,
        dry_run: options.dry_run,
        caller: &options.caller,
        options: given,
        notes: &options.notes,
    }
}

/// Drops what only the server may say of an object.
fn wipe(object: &mut Value) {
    let metadata = meta::metadata_mut(object);
    for field in [
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "resourceVersion",
        "uid",
        "creationTimestamp",
    ] {
        metadata.remove(field);
    }
}

/// Gives a new object its identity; says whether its name was drawn.
pub(super) fn begin(kind: &Kind, object: &mut Value) -> bool {
    wipe(object);
    let metadata = meta::metadata_mut(object);
    metadata.insert("uid".into(), uuid::Uuid::new_v4().to_string().into());
    metadata.insert("creationTimestamp".into(), meta::now().into());
    if kind.generation {
        metadata.insert("generation".into(), 1.into());
    }
    let named = metadata
        .get("name")
        .and_then(Value::as_str)
        .is_some_and(|n| !n.is_empty());
    let base = metadata
        .get("generateName")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if named || base.is_empty() {
        return false;
    }
    // At most 58 characters are kept, so that five more fit into a DNS label.
    let kept: String = base.chars().take(58).collect();
    let name = format!("{kept}{}", random_suffix());
    metadata.insert("name".into(), name.into());
    true
}

/// Five characters without vowels, so that no word comes of it.
fn random_suffix() -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let random = uuid::Uuid::new_v4();
    random.as_bytes()[..5]
        .iter()
        .map(|b| char::from(ALPHABET[usize::from(*b) % ALPHABET.len()]))
        .collect()
}
