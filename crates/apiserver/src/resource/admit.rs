//! What every write goes through before it is stored: the envelope, pruning, defaults,
//! validation; in the order and with the words of Kubernetes.

use serde_json::Value;

use super::{Address, FieldValidation, WriteOptions, hook, metadata};
use crate::codec;
use crate::core::Core;
use crate::meta;
use crate::registry::{Hook, Kind, NAMESPACES};
use crate::schema;
use crate::status::{ApiError, Cause};

/// Makes the body agree with the address, or says why it does not.
pub(super) fn check_envelope(
    kind: &Kind,
    body: &mut Value,
    namespace: &str,
    name: Option<&str>,
) -> Result<(), ApiError> {
    if !body.is_object() {
        return Err(ApiError::bad_request(
            "the object provided is not a JSON object",
        ));
    }
    metadata::check_types(body)?;
    check_type(kind, body, "apiVersion", &kind.api_version())?;
    check_type(kind, body, "kind", &kind.kind)?;
    let metadata = meta::metadata_mut(body);
    let given = metadata
        .get("namespace")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if kind.namespaced {
        if !given.is_empty() && given != namespace {
            return Err(ApiError::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
        metadata.insert("namespace".into(), namespace.into());
    } else {
        metadata.remove("namespace");
    }
    if let Some(name) = name {
        let given = meta::name(body);
        if !given.is_empty() && given != name {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({given}) does not match the name on the URL ({name})"
            )));
        }
        meta::metadata_mut(body).insert("name".into(), name.into());
    }
    Ok(())
}

fn check_type(kind: &Kind, body: &mut Value, field: &str, expected: &str) -> Result<(), ApiError> {
    let map = meta::as_map(body);
    match map.get(field).and_then(Value::as_str).unwrap_or_default() {
        // Typed decoders know the kind from the path; custom kinds have to say what they are.
        "" if kind.builtin => {
            map.insert(field.into(), expected.into());
            Ok(())
        }
        "" => {
            let go_name = if field == "kind" {
                "Kind"
            } else {
                "apiVersion"
            };
            Err(ApiError::bad_request(format!(
                "Object '{go_name}' is missing in the provided object"
            )))
        }
        found if found == expected => Ok(()),
        found if field == "kind" => Err(ApiError::bad_request(format!(
            "{} in version \"{}\" cannot be handled as a {}: converting ({}) to ({}): unknown conversion",
            found, kind.version, kind.kind, found, kind.kind
        ))),
        found => Err(ApiError::bad_request(format!(
            "the API version in the data ({found}) does not match the expected API version ({expected})"
        ))),
    }
}

/// Drops what the schema does not know and fills in its defaults; gives the warnings.
pub(super) fn shape(
    kind: &Kind,
    object: &mut Value,
    options: &WriteOptions,
) -> Result<Vec<String>, ApiError> {
    let warnings = prune(kind, object, options)?;
    schema::default(&kind.schema, object);
    Ok(warnings)
}

/// Drops what the schema does not know; gives the warnings, or in strict mode the refusal.
pub(super) fn prune(
    kind: &Kind,
    object: &mut Value,
    options: &WriteOptions,
) -> Result<Vec<String>, ApiError> {
    let mut complaints = options.duplicates.clone();
    let mut unknown = metadata::prune(object);
    unknown.extend(schema::prune(&kind.schema, object));
    unknown.sort();
    complaints.extend(
        unknown
            .iter()
            .map(|path| format!("unknown field \"{path}\"")),
    );
    match options.validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Warn => Ok(complaints),
        FieldValidation::Strict if complaints.is_empty() => Ok(complaints),
        FieldValidation::Strict => Err(ApiError::bad_request(format!(
            "{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}",
            kind.kind,
            kind.version,
            kind.kind,
            complaints.join(", ")
        ))),
    }
}

/// Refuses to apply what the schema does not know: nobody could own it.
pub(super) fn check_declared(at: &Address, applied: &mut Value) -> Result<(), ApiError> {
    let mut unknown = metadata::prune(applied);
    unknown.extend(schema::prune(&at.kind.schema, applied));
    unknown.sort();
    if unknown.is_empty() {
        return Ok(());
    }
    let why = "field not declared in schema".to_owned();
    let faults = unknown.iter().map(|path| (format!(".{path}"), why.clone()));
    Err(misfit(at, &faults.collect::<Vec<_>>()))
}

/// What a client is told when what it applies does not fit the schema: the words of the Go
/// implementation, with its code and without a reason.
pub(super) fn misfit(at: &Address, faults: &[(String, String)]) -> ApiError {
    let kind = &at.kind;
    let lines: Vec<String> = faults
        .iter()
        .map(|(path, why)| format!("{path}: {why}"))
        .collect();
    let lines = match lines.as_slice() {
        [only] => only.clone(),
        many => format!("errors:\n  {}", many.join("\n  ")),
    };
    let message = format!(
        "failed to create typed patch object ({}/{}; {}/{}, Kind={}): {lines}",
        at.namespace, at.name, kind.group, kind.version, kind.kind
    );
    ApiError::new(http::StatusCode::INTERNAL_SERVER_ERROR, "", message)
}

/// Judges an object that is about to be stored.
pub(super) fn validate(
    core: &Core,
    kind: &Kind,
    object: &Value,
    live: Option<&Value>,
) -> Result<(), ApiError> {
    let mut causes = metadata::validate(kind, object, live);
    causes.extend(hook::validate(core, kind, object, live));
    let errors = kind.validator.validate(object, live);
    causes.extend(
        errors
            .iter()
            .map(|e| Cause::new(e.reason(), &e.path, e.message())),
    );
    if causes.is_empty() {
        return Ok(());
    }
    let name = match meta::name(object) {
        "" => meta::text(object, "generateName"),
        name => name,
    };
    Err(ApiError::invalid(kind, name, &causes))
}

/// Refuses to create in a namespace that is not there or on its way out.
pub(super) fn check_namespace(
    core: &Core,
    kind: &Kind,
    namespace: &str,
    name: &str,
) -> Result<(), ApiError> {
    if !kind.namespaced {
        return Ok(());
    }
    let Some(entry) = core.store.get(&format!("{NAMESPACES}{namespace}")) else {
        let snapshot = core.registry.snapshot();
        let namespaces = snapshot.find("", "v1", "namespaces");
        return Err(namespaces.map_or_else(ApiError::no_such_path, |n| {
            ApiError::not_found(&n, namespace)
        }));
    };
    let object = codec::decode_value(&entry.value);
    // Events about the end of a namespace's content are still welcome for as long as they fit.
    if meta::is_deleting(&object) && kind.hook != Hook::Event {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let cause = serde_json::json!({
            "reason": "NamespaceTerminating",
            "message": format!("namespace {namespace} is being terminated"),
            "field": "metadata.namespace",
        });
        return Err(ApiError::forbidden(kind, name, &why).with_cause(cause));
    }
    Ok(())
}
