//! CustomResourceDefinitions: their status, and what makes one acceptable.

use serde_json::{Value, json};

use super::super::Part;
use crate::conversion::{self, Conversion};
use crate::core::Core;
use crate::meta;
use crate::registry::{DefinitionError, Names, Shapes, Spec, is_established, try_schemas};
use crate::schema::cel;
use crate::status::Cause;

/// Keeps a definition until its objects are gone.
pub(crate) const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Completes the names, and says in the status whether the kind is served.
pub(super) fn prepare(core: &Core, object: &mut Value, live: Option<&Value>, part: Part) {
    if part != Part::Main {
        return;
    }
    if let Some(spec) = object.get_mut("spec").filter(|s| s.is_object()) {
        let names: Option<Names> = spec
            .get("names")
            .and_then(|n| serde_json::from_value(n.clone()).ok());
        if let Some(mut names) = names {
            names.complete();
            meta::as_map(spec).insert("names".into(), names.to_value());
        }
        let conversion = meta::as_map(spec)
            .entry("conversion")
            .or_insert_with(|| json!({}));
        meta::as_map(conversion)
            .entry("strategy")
            .or_insert_with(|| "None".into());
        let service = conversion.pointer_mut("/webhook/clientConfig/service");
        if let Some(service) = service.and_then(Value::as_object_mut) {
            service.entry("port").or_insert_with(|| 443.into());
        }
    }
    let Ok(spec) = Spec::of_user(&object["spec"]) else {
        return;
    };
    let status = status(core, object, &spec, live);
    meta::as_map(object).insert("status".into(), status);
}

fn status(core: &Core, object: &Value, spec: &Spec, live: Option<&Value>) -> Value {
    let clash = clashing_name(core, spec);
    let accepted = clash.is_none();
    let mut stored: Vec<String> = live
        .map(|l| meta::strings(l.pointer("/status/storedVersions")))
        .unwrap_or_default()
        .into_iter()
        .map(str::to_owned)
        .collect();
    for version in spec.versions.iter().filter(|v| v.storage) {
        if !stored.contains(&version.name) {
            stored.push(version.name.clone());
        }
    }
    let (names_reason, names_message) = match &clash {
        None => ("NoConflicts", "no conflicts found".to_owned()),
        Some(name) => ("NameConflict", format!("\"{name}\" is already in use")),
    };
    let (established_reason, established_message) = if accepted {
        (
            "InitialNamesAccepted",
            "the initial names have been accepted",
        )
    } else {
        ("NotAccepted", "not all names are accepted")
    };
    let before = live
        .and_then(|l| l.pointer("/status/conditions"))
        .and_then(Value::as_array);
    let mut conditions = vec![
        condition(
            before,
            "NamesAccepted",
            accepted,
            names_reason,
            &names_message,
        ),
        condition(
            before,
            "Established",
            accepted,
            established_reason,
            established_message,
        ),
    ];
    if meta::is_deleting(object) {
        let message = "CustomResource deletion is in progress";
        conditions.push(condition(
            before,
            "Terminating",
            true,
            "InstanceDeletionInProgress",
            message,
        ));
    }
    let names = if accepted {
        spec.names.to_value()
    } else {
        json!({"plural": "", "kind": ""})
    };
    json!({"conditions": conditions, "acceptedNames": names, "storedVersions": stored})
}

fn condition(
    before: Option<&Vec<Value>>,
    name: &str,
    holds: bool,
    reason: &str,
    message: &str,
) -> Value {
    let status = if holds { "True" } else { "False" };
    let since = before
        .into_iter()
        .flatten()
        .find(|c| c["type"] == name && c["status"] == status)
        .and_then(|c| c["lastTransitionTime"].as_str())
        .map_or_else(meta::now, str::to_owned);
    json!({"type": name, "status": status, "reason": reason, "message": message, "lastTransitionTime": since})
}

/// The first name of the definition that another kind of its group has.
fn clashing_name(core: &Core, spec: &Spec) -> Option<String> {
    let snapshot = core.registry.snapshot();
    let others: Vec<_> = snapshot
        .kinds()
        .iter()
        .filter(|k| k.group == spec.group && k.plural != spec.names.plural)
        .collect();
    let resource_names = |names: &Names| {
        let mut all = vec![names.plural.clone(), names.singular.clone()];
        all.extend(names.short_names.iter().cloned());
        all
    };
    for other in others {
        let mut taken = vec![&other.plural, &other.singular];
        taken.extend(other.short_names.iter());
        if let Some(name) = resource_names(&spec.names)
            .into_iter()
            .find(|n| taken.contains(&n))
        {
            return Some(name);
        }
        for name in [&spec.names.kind, &spec.names.list_kind] {
            if *name == other.kind || *name == other.list_kind {
                return Some(name.clone());
            }
        }
    }
    None
}

/// Shows in the conditions that the definition is on its way out.
pub(super) fn mark_deleting(object: &mut Value) {
    let message =
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    let terminating = condition(
        None,
        "Terminating",
        true,
        "InstanceDeletionPending",
        message,
    );
    let status = meta::child_mut(object, "status");
    if let Value::Array(list) = status.entry("conditions").or_insert_with(|| json!([])) {
        list.retain(|c| c["type"] != "Terminating");
        list.push(terminating);
    }
}

/// What is wrong with a definition beyond its schema.
pub(super) fn validate(_core: &Core, object: &Value, live: Option<&Value>) -> Vec<Cause> {
    // What was accepted once is not judged again because something else changes.
    if live.is_some_and(|live| live["spec"] == object["spec"]) {
        return Vec::new();
    }
    let mut causes = crate::definition::validate(object);
    if let Some(live) = live {
        // The name was judged when the definition came.
        causes.retain(|cause| cause.field != "metadata.name");
        let fixed: &[&str] = if is_established(live) {
            &["scope", "names/kind", "group", "names/plural"]
        } else {
            &["group", "names/plural"]
        };
        for field in fixed {
            let value = |of: &Value| of.pointer(&format!("/spec/{field}")).cloned();
            let (before, after) = (value(live), value(object));
            if before != after {
                let path = format!("spec.{}", field.replace('/', "."));
                let shown = after.unwrap_or_default().to_string();
                causes.push(Cause::invalid(&path, &shown, "field is immutable"));
            }
        }
    }
    if causes.is_empty()
        && let Err(error) = try_kinds(&object["spec"])
    {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let why = format!("{error}: {}", source.unwrap_or_default());
        causes.push(Cause::invalid("spec", "\"\"", &why));
    }
    causes.extend(conversion::validate_stored(object));
    // The rules were read more than once, and will not be again until somebody uses the kind.
    cel::forget();
    causes
}

/// Makes of a definition what would be served, so that whatever cannot be is refused now.
fn try_kinds(spec: &Value) -> Result<(), DefinitionError> {
    try_schemas(spec)?;
    Spec::of_user(spec)?
        .kinds(false, false, &Shapes::new(), Conversion::default())
        .map(|_| ())
}
