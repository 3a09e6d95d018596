//! What every write goes through before it is stored: the envelope and validation, in the order
//! and with the words of Kubernetes. Between them is [`super::shape`].

use serde_json::Value;

use super::{Address, Part, embedded, hook, metadata, scale, typed};
use crate::admission::Notes;
use crate::apply;
use crate::codec;
use crate::core::Core;
use crate::meta;
use crate::registry::{Hook, Kind, NAMESPACES, SCHEME};
use crate::schema;
use crate::status::{ApiError, Cause, chain};

/// Kinds that the decoder of the core group knows.
const CORE_KINDS: [&str; 8] = [
    "ConfigMap",
    "Event",
    "Namespace",
    "Node",
    "Pod",
    "Secret",
    "Service",
    "ServiceAccount",
];
/// The faults that keep rules from being checked.
const BLOCKING: [&str; 5] = [
    "FieldValueRequired",
    "FieldValueTooLong",
    "FieldValueNotSupported",
    "FieldValueDuplicate",
    "FieldValueTypeInvalid",
];
/// Where faults are that are not in a field.
const NOWHERE: &str = "<nil>";
const UNCHECKED: &str = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

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
    if let Some(why) = misread(kind, body) {
        return Err(unreadable(kind, &why));
    }
    if kind.builtin {
        if body["apiVersion"].is_null() || body["apiVersion"] == "" {
            body["apiVersion"] = kind.api_version().into();
        }
        if body["kind"].is_null() || body["kind"] == "" {
            body["kind"] = kind.kind.clone().into();
        }
        if let Some(why) = another_kind(kind, body) {
            let (given, version) = (meta::string(body, "kind"), meta::string(body, "apiVersion"));
            let version = version.rsplit('/').next().unwrap_or_default();
            return Err(ApiError::bad_request(format!(
                "{given} in version \"{version}\" cannot be handled as a {}: {why}",
                kind.kind
            )));
        }
    }
    check_api_version(kind, body)?;
    check_address(kind, body, namespace, name)
}

/// What a typed decoder would not read in an object, in its words.
pub(super) fn misread(kind: &Kind, object: &Value) -> Option<String> {
    metadata::misread(kind, object)
        .or_else(|| embedded::misread(kind, object))
        .or_else(|| typed::misread(kind, object))
}

/// Why an object of another kind or version is not for the address of a typed one.
pub(super) fn another_kind(kind: &Kind, object: &Value) -> Option<String> {
    let (given, version) = (
        meta::string(object, "kind"),
        meta::string(object, "apiVersion"),
    );
    if given == kind.kind && version == kind.api_version() {
        return None;
    }
    let registered = version == kind.api_version() && CORE_KINDS.contains(&given);
    Some(if registered {
        format!(
            "converting ({}.{given}) to ({}.{}): unknown conversion",
            kind.version,
            kind.go_package(),
            kind.kind
        )
    } else {
        format!("no kind {given:?} is registered for version {version:?} in scheme {SCHEME:?}")
    })
}

/// The name and namespace of an object, against those of the path.
pub(super) fn check_address(
    kind: &Kind,
    body: &mut Value,
    namespace: &str,
    name: Option<&str>,
) -> Result<(), ApiError> {
    if let Some(name) = name {
        let given = meta::name(body);
        if given.is_empty() {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({name} based on URL) was undeterminable: name must be provided"
            )));
        }
        if given != name {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({given}) does not match the name on the URL ({name})"
            )));
        }
    }
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
    Ok(())
}

/// The answer to a body that is not an object of the kind.
pub(super) fn unreadable(kind: &Kind, why: &str) -> ApiError {
    let (name, version) = (&kind.kind, &kind.version);
    ApiError::bad_request(format!(
        "{name} in version \"{version}\" cannot be handled as a {name}: {why}"
    ))
}

/// Typed decoders know the version from the path; custom kinds have to say what they are.
fn check_api_version(kind: &Kind, body: &mut Value) -> Result<(), ApiError> {
    let map = meta::as_map(body);
    let expected = kind.api_version();
    let found = map.get("apiVersion").and_then(Value::as_str);
    match found.unwrap_or_default() {
        "" if kind.builtin => {
            map.insert("apiVersion".into(), expected.into());
            Ok(())
        }
        found if found == expected => Ok(()),
        found => Err(ApiError::bad_request(format!(
            "the API version in the data ({found}) does not match the expected API version ({expected})"
        ))),
    }
}

/// Puts the managed fields of `before` back when webhooks made nonsense of them.
pub(super) fn keep_managers(object: &mut Value, before: &Value, notes: &Notes) {
    if let Err(error) = apply::check_managed_fields(object) {
        notes.warn(&format!(
            ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: {}",
            chain(&error)
        ));
        meta::copy(object, before, "managedFields");
    }
}

/// Refuses to apply what the schema does not know: nobody could own it.
pub(super) fn check_declared(at: &Address, applied: &mut Value) -> Result<(), ApiError> {
    let mut unknown = metadata::prune(applied);
    unknown.extend(schema::prune(at.kind.schema(), applied));
    unknown.sort();
    if unknown.is_empty() {
        return Ok(());
    }
    let why = "field not declared in schema".to_owned();
    let faults = unknown.iter().map(|path| (format!(".{path}"), why.clone()));
    let says_where = !meta::namespace(applied).is_empty();
    Err(misfit(at, says_where, &faults.collect::<Vec<_>>()))
}

/// What a client is told when what it applies does not fit the schema: the words of the Go
/// implementation, with its code and without a reason.
pub(super) fn misfit(at: &Address, says_where: bool, faults: &[(String, String)]) -> ApiError {
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
        if says_where { &at.namespace } else { "" },
        at.name,
        kind.group,
        kind.version,
        kind.kind
    );
    ApiError::new(http::StatusCode::INTERNAL_SERVER_ERROR, "", message)
}

/// Judges an object that is about to be stored.
pub(super) fn validate(
    core: &Core,
    kind: &Kind,
    object: &Value,
    live: Option<&Value>,
    part: Part,
) -> Result<(), ApiError> {
    let mut causes = metadata::validate(kind, object, live);
    let blocked = causes
        .iter()
        .any(|cause| BLOCKING.contains(&&*cause.reason));
    if !kind.builtin {
        causes.extend(another_type(kind, object));
    }
    let found = hook::validate(core, kind, object, live);
    let errors = kind.validator().validate(object, live);
    // What a hook found is not said again when the schema says the same.
    let mut errors: Vec<Cause> = errors
        .iter()
        .map(|e| Cause::new(e.reason(), &e.path, e.message()))
        .filter(|cause| !found.contains(cause))
        .collect();
    causes.extend(found);
    if part == Part::Status && !kind.builtin {
        errors.iter_mut().for_each(judge_status_alone);
    }
    if let Some(paths) = &kind.scale {
        // What was not checked is said last.
        let last = errors.iter().position(|e| e.message.ends_with(UNCHECKED));
        let last = last.unwrap_or(errors.len());
        errors.splice(last..last, scale::faults(paths, object));
    }
    if blocked && kind.validator().has_rules() && !errors.iter().any(|e| e.field == NOWHERE) {
        let why = format!("Invalid value: null: {UNCHECKED}");
        errors.push(Cause::new("FieldValueInvalid", NOWHERE, why));
    }
    causes.extend(errors);
    if causes.is_empty() {
        return Ok(());
    }
    let of_kind = object["kind"].as_str().unwrap_or(&kind.kind);
    Err(ApiError::invalid_named(
        &kind.group,
        of_kind,
        meta::name(object),
        &causes,
    ))
}

/// A status that is written by itself is judged by itself, so what is said of it leaves out where
/// it lies.
fn judge_status_alone(cause: &mut Cause) {
    if let Some(rest) = cause.field.strip_prefix("status.") {
        let (whole, alone) = (
            format!("{} in body", cause.field),
            format!("{rest} in body"),
        );
        cause.message = cause.message.replace(&whole, &alone);
    }
}

/// An object of a custom kind says itself what it is, and may be wrong about it.
fn another_type(kind: &Kind, object: &Value) -> Vec<Cause> {
    let wanted = [
        ("apiVersion", kind.api_version()),
        ("kind", kind.kind.clone()),
    ];
    let wrong = wanted
        .into_iter()
        .filter(|(field, wanted)| object[*field] != **wanted);
    wrong
        .map(|(field, wanted)| {
            let why = format!("must be {wanted}");
            Cause::invalid(field, &object[field].to_string(), &why)
        })
        .collect()
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
    // Events about the end of a namespace's content are still welcome for as long as they fit.
    if kind.hook == Hook::Event || !codec::mentions(&entry.value, "deletionTimestamp") {
        return Ok(());
    }
    if meta::is_deleting(&codec::decode_value(&entry.value)) {
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
