//! Patch: JSON patch, merge patch, strategic merge patch, and server-side apply.

use http::StatusCode;
use serde_json::Value;

use super::update::{Proposal, chain, check_preconditions};
use super::{Address, FieldValidation, Part, WriteOptions, Written, admit, unowned};
use crate::apply::{self, ApplyError, Manager};
use crate::core::Core;
use crate::meta;
use crate::patch::{self, PatchError};
use crate::registry::Kind;
use crate::status::ApiError;

/// What the body of a patch request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatchKind {
    /// One of the patches that say what to change.
    Change(patch::PatchKind),
    /// Server-side apply: the body says what is wanted.
    Apply,
}

impl Core {
    /// Patches an object, or one part of it.
    pub(crate) async fn patch(
        &self,
        at: &Address,
        part: Part,
        patch: PatchKind,
        body: &Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        match patch {
            PatchKind::Apply => self.apply(at, part, body, options).await,
            PatchKind::Change(how) => self.patch_by(at, part, how, body, options).await,
        }
    }

    async fn patch_by(
        &self,
        at: &Address,
        part: Part,
        how: patch::PatchKind,
        body: &Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        self.modify(at, part, options, |live| {
            let patched = patch::apply_patch(how, live, body)
                .map_err(|e| patch_error(&at.kind, &at.name, &e))?;
            check_patched(&at.kind, &at.name, &patched, live)?;
            Ok(Proposal::Object(patched))
        })
        .await
    }

    async fn apply(
        &self,
        at: &Address,
        part: Part,
        body: &Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        let mut applied = body.clone();
        admit::check_envelope(&at.kind, &mut applied, &at.namespace, Some(&at.name))?;
        admit::check_declared(at, &mut applied)?;
        let ignore = unowned(&at.kind, part);
        let api_version = at.kind.api_version();
        let merge = |live: Option<&Value>| {
            let now = meta::now();
            let manager = Manager {
                name: &options.manager,
                api_version: &api_version,
                subresource: part.name(),
                now: &now,
            };
            let mut stated = applied.clone();
            if let Some(live) = live {
                let uid_or_version_given = !meta::uid(&stated).is_empty()
                    || !meta::text(&stated, "resourceVersion").is_empty();
                if uid_or_version_given {
                    check_preconditions(&at.kind, &at.name, &stated, live, false)?;
                }
            }
            let metadata = meta::metadata_mut(&mut stated);
            for field in ["resourceVersion", "uid", "creationTimestamp", "generation"] {
                metadata.remove(field);
            }
            apply::apply(
                &at.kind.schema,
                live,
                &stated,
                &manager,
                options.force,
                &ignore,
            )
            .map_err(|e| apply_error(at, e))
        };
        let mut written = loop {
            if self.store.get(&at.key()).is_some() {
                let changed = self
                    .modify(at, part, options, |live| {
                        merge(Some(live)).map(Proposal::Applied)
                    })
                    .await;
                match changed {
                    // Deleted since we looked: create it, as an apply to nothing does.
                    Err(error) if error.reason == "NotFound" && part == Part::Main => continue,
                    other => break other?,
                }
            }
            if part != Part::Main {
                return Err(at.not_found());
            }
            if !meta::uid(&applied).is_empty()
                || !meta::text(&applied, "resourceVersion").is_empty()
            {
                return Err(ApiError::modified(&at.kind, &at.name));
            }
            let object = merge(None)?;
            match self
                .create_tracked(&at.kind, &at.namespace, object, options, false)
                .await
            {
                Err(error) if error.reason == "AlreadyExists" => {}
                other => break other?,
            }
        };
        written.warnings = match options.validation {
            FieldValidation::Warn => options.duplicates.clone(),
            FieldValidation::Ignore | FieldValidation::Strict => Vec::new(),
        };
        Ok(written)
    }
}

/// A patch may carry a resource version and a UID, and then they count.
fn check_patched(kind: &Kind, name: &str, patched: &Value, live: &Value) -> Result<(), ApiError> {
    if !patched.is_object() {
        return Err(ApiError::bad_request(
            "the patched object is not a JSON object",
        ));
    }
    let mut patched = patched.clone();
    admit::check_envelope(kind, &mut patched, meta::namespace(live), None)?;
    if meta::name(&patched) != name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({}) does not match the name on the URL ({name})",
            meta::name(&patched)
        )));
    }
    check_preconditions(kind, name, &patched, live, false)
}

fn patch_error(kind: &Kind, name: &str, error: &PatchError) -> ApiError {
    let message = chain(error);
    match error.status() {
        StatusCode::UNPROCESSABLE_ENTITY => {
            let message = format!("{} \"{name}\" is invalid: {message}", kind.qualified_kind());
            ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
                .on_resource(kind, name)
        }
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            message,
        ),
        _ => ApiError::bad_request(message),
    }
}

fn apply_error(at: &Address, error: ApplyError) -> ApiError {
    match error {
        ApplyError::Conflicts(conflicts) => {
            let message = ApplyError::Conflicts(conflicts.clone()).to_string();
            let causes = conflicts
                .iter()
                .map(|c| {
                    serde_json::json!({
                        "reason": "FieldManagerConflict",
                        "message": c.cause_message(),
                        "field": c.path,
                    })
                })
                .collect();
            ApiError::apply_conflict(message, causes)
        }
        ApplyError::Invalid { path, reason, .. } => admit::misfit(at, &[(path, reason)]),
        ApplyError::NotAnObject(_)
        | ApplyError::ManagedFieldsInApplied
        | ApplyError::WrongType { .. }
        | ApplyError::ManagedFields(_)
        | ApplyError::Now { .. } => ApiError::bad_request(error.to_string()),
    }
}
