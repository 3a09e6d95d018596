//! Patch: JSON patch, merge patch, strategic merge patch, and server-side apply.

use http::StatusCode;
use serde_json::{Value, json};

use super::update::{Proposal, check_uid, check_version};
use super::{Address, FieldValidation, Part, WriteOptions, Written, admit, shape, unowned};
use crate::apply::{self, ApplyError, Manager};
use crate::core::Core;
use crate::meta;
use crate::patch::{self, Lists, PatchError};
use crate::status::{ApiError, Cause};

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
        body: Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        match patch {
            PatchKind::Apply => self.apply(at, part, body, options).await,
            PatchKind::Change(how) => self.patch_by(at, part, how, &body, options).await,
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
            let lists = Lists::of(&at.kind);
            let patched =
                patch::apply_patch(how, lists, live, body).map_err(|e| patch_error(&e))?;
            check_patched(at, how, body, patched, live, options).map(Proposal::Object)
        })
        .await
    }

    async fn apply(
        &self,
        at: &Address,
        part: Part,
        mut applied: Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        check_applied_type(&at.kind.api_version(), &at.kind.kind, &applied)?;
        let says_where = !meta::namespace(&applied).is_empty();
        // The path says the name; a body may leave it out.
        if meta::name(&applied).is_empty() {
            meta::metadata_mut(&mut applied).insert("name".into(), at.name.clone().into());
        }
        if !applied["metadata"]["managedFields"].is_null() {
            let error = ApplyError::ManagedFieldsInApplied;
            return Err(apply_error(at, says_where, error));
        }
        admit::check_declared(at, &mut applied)?;
        admit::check_address(&at.kind, &mut applied, &at.namespace, Some(&at.name))?;
        let mut of_new = Stated {
            object: applied,
            says_where,
        };
        let metadata = meta::metadata_mut(&mut of_new.object);
        let fields = ["resourceVersion", "uid", "creationTimestamp", "generation"];
        let conditions = fields.map(|field| (field.to_owned(), metadata.remove(field)));
        let conditions = conditions.into_iter();
        let conditions = conditions.filter_map(|(field, value)| Some((field, value?)));
        // What the body says of the object that it is meant for.
        let meant = json!({ "metadata": Value::Object(conditions.collect()) });
        // What is there says itself where it is.
        let of_live = (!says_where).then(|| {
            let mut object = of_new.object.clone();
            meta::metadata_mut(&mut object).remove("namespace");
            Stated { object, says_where }
        });
        let of_live = of_live.as_ref().unwrap_or(&of_new);
        let warned = |mut written: Written| {
            if options.validation == FieldValidation::Warn {
                written.warnings = options.complaints.clone();
            }
            written
        };
        loop {
            if self.store.get(&at.key()).is_some() {
                let changed = self
                    .modify(at, part, options, |live| {
                        check_uid(at, &meant, live)?;
                        check_version(&at.kind, &at.name, &meant, live, false)?;
                        Ok(Proposal::Stated(of_live))
                    })
                    .await;
                match changed {
                    // Deleted since we looked: create it, as an apply to nothing does.
                    Err(error) if error.reason == "NotFound" && part == Part::Main => continue,
                    other => return other.map(warned),
                }
            }
            if part != Part::Main {
                return Err(at.not_found());
            }
            if !meta::uid(&meant).is_empty() {
                return Err(ApiError::modified(&at.kind, &at.name));
            }
            let object = self.merge(at, part, None, &of_new, options).await?;
            match self
                .create_tracked(&at.kind, &at.namespace, object, options, false)
                .await
            {
                Err(error) if error.reason == "AlreadyExists" => {}
                other => return other.map(warned),
            }
        }
    }

    /// Merges what an applier states into the live object, if there is one.
    pub(super) async fn merge(
        &self,
        at: &Address,
        part: Part,
        live: Option<&Value>,
        stated: &Stated,
        options: &WriteOptions,
    ) -> Result<Value, ApiError> {
        let (now, api_version) = (meta::now(), at.kind.api_version());
        let ignore = unowned(&at.kind, part);
        let manager = Manager {
            name: &options.manager,
            api_version: &api_version,
            subresource: part.name(),
            now: &now,
        };
        self.with_versions(&at.kind, |versions| {
            let force = options.force;
            apply::apply(versions, live, &stated.object, &manager, force, &ignore)
        })
        .await?
        .map_err(|error| apply_error(at, stated.says_where, error))
    }
}

/// What an applier states of an object.
pub(super) struct Stated {
    object: Value,
    /// Whether it names its namespace itself.
    says_where: bool,
}

/// Makes of a patched object one that can be judged, or says why it is none. A patch may carry a
/// resource version, and then it counts.
fn check_patched(
    at: &Address,
    how: patch::PatchKind,
    body: &Value,
    mut patched: Value,
    live: &Value,
    options: &WriteOptions,
) -> Result<Value, ApiError> {
    let kind = &at.kind;
    if !patched.is_object() {
        return Err(ApiError::bad_request(
            "the patched object is not a JSON object",
        ));
    }
    if kind.builtin {
        if patched["apiVersion"].is_null() {
            patched["apiVersion"] = kind.api_version().into();
        }
        if patched["kind"].is_null() {
            patched["kind"] = kind.kind.clone().into();
        }
        if let Some(why) = admit::another_kind(kind, &patched) {
            return Err(unreadable(how, body, &patched, &why));
        }
    }
    if let Some(why) = admit::misread(kind, &patched) {
        return Err(unreadable(how, body, &patched, &why));
    }
    let strict = options.validation == FieldValidation::Strict;
    if strict && let Some(why) = shape::strict_complaint(kind, &patched, options) {
        return Err(unreadable(how, body, &patched, &why));
    }
    admit::check_address(kind, &mut patched, meta::namespace(live), Some(&at.name))?;
    check_version(kind, &at.name, &patched, live, false)?;
    Ok(patched)
}

/// The answer to a patch that makes what cannot be read.
pub(super) fn unreadable(
    how: patch::PatchKind,
    body: &Value,
    patched: &Value,
    why: &str,
) -> ApiError {
    // A strategic patch is shown itself, in Go's form; of the others, what came of them.
    let shown = match how {
        patch::PatchKind::Strategic => patch::go_text(body),
        _ => patched.to_string(),
    };
    let shown = serde_json::Value::from(shown).to_string();
    let cause = Cause::invalid("patch", &shown, why);
    ApiError::invalid_named("", "", "", &[cause])
}

/// An apply says itself of what version and kind it is.
pub(super) fn check_applied_type(
    api_version: &str,
    kind: &str,
    applied: &Value,
) -> Result<(), ApiError> {
    let text = |field: &str| applied[field].as_str().unwrap_or_default();
    let (version, name) = (text("apiVersion"), text("kind"));
    if !applied.is_object() {
        let found = meta::json_type(applied);
        return Err(ApiError::bad_request(format!(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
        )));
    }
    if version == api_version && name == kind {
        return Ok(());
    }
    let shown = if version.contains('/') {
        version.to_owned()
    } else {
        format!("/{version}")
    };
    Err(ApiError::bad_request(format!(
        "invalid object type: {shown}, Kind={name}"
    )))
}

pub(super) fn patch_error(error: &PatchError) -> ApiError {
    match error {
        PatchError::Operation { .. } | PatchError::NoOperation => {
            let message = "the server rejected our request due to an error in our request";
            let mut refused = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message);
            refused.bare = true;
            refused
        }
        PatchError::TooManyOperations { .. } | PatchError::TooMuchCopied { .. } => ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            error.to_string(),
        ),
        PatchError::TooDeep { .. } => {
            let code = StatusCode::UNPROCESSABLE_ENTITY;
            ApiError::new(code, "Invalid", error.to_string())
        }
        PatchError::Malformed { .. } => ApiError::bad_request(error.to_string()),
        PatchError::Unfit { .. } => ApiError::unexplained(error.to_string()),
    }
}

pub(super) fn apply_error(at: &Address, says_where: bool, error: ApplyError) -> ApiError {
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
        ApplyError::Conversion(_) | ApplyError::Unconverted { .. } => {
            let code = StatusCode::INTERNAL_SERVER_ERROR;
            ApiError::new(code, "", error.to_string())
        }
        ApplyError::Invalid { path, reason, .. } => {
            admit::misfit(at, says_where, &[(path, reason)])
        }
        ApplyError::NotAnObject(_)
        | ApplyError::ManagedFieldsInApplied
        | ApplyError::WrongType { .. }
        | ApplyError::NoVersion(_)
        | ApplyError::ManagedFields(_)
        | ApplyError::Now { .. } => ApiError::bad_request(error.to_string()),
    }
}
