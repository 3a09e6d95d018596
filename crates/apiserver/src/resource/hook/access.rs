//! Roles and bindings: their defaults, what makes one invalid, and that nobody gives away rights
//! that they do not hold themselves.

use serde_json::{Value, json};

use crate::auth::rbac::{self, Decision, Rule};
use crate::auth::{Attributes, Identity};
use crate::core::Core;
use crate::meta;
use crate::registry::{Hook, Kind};
use crate::resource::names;
use crate::schema::go_quote;
use crate::status::{ApiError, Cause};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Fills in the groups that a binding may leave out.
pub(super) fn prepare_binding(object: &mut Value) {
    let role = meta::child_mut(object, "roleRef");
    if is_empty(role.get("apiGroup")) {
        role.insert("apiGroup".into(), GROUP.into());
    }
    let subjects = object.get_mut("subjects").and_then(Value::as_array_mut);
    for subject in subjects.into_iter().flatten() {
        let named = subject["kind"] == "User" || subject["kind"] == "Group";
        if named && is_empty(subject.get("apiGroup")) {
            meta::as_map(subject).insert("apiGroup".into(), GROUP.into());
        }
    }
}

fn is_empty(text: Option<&Value>) -> bool {
    text.and_then(Value::as_str).unwrap_or_default().is_empty()
}

/// What is wrong with a role.
pub(super) fn validate_role(kind: &Kind, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (at, rule) in object["rules"].as_array().into_iter().flatten().enumerate() {
        let path = |field: &str| format!("rules[{at}].{field}");
        let has = |field: &str| rule[field].as_array().is_some_and(|list| !list.is_empty());
        if !has("verbs") {
            let why = "verbs must contain at least one value";
            causes.push(Cause::required(&path("verbs"), why));
        }
        if has("nonResourceURLs") {
            let shown = rule["nonResourceURLs"].to_string();
            let mut wrong = |why| {
                causes.push(Cause::invalid(&path("nonResourceURLs"), &shown, why));
            };
            if kind.namespaced {
                wrong("namespaced rules cannot apply to non-resource URLs");
            }
            if has("apiGroups") || has("resources") || has("resourceNames") {
                wrong("rules cannot apply to both regular resources and non-resource URLs");
            }
            continue;
        }
        if !has("apiGroups") {
            let why = "resource rules must supply at least one api group";
            causes.push(Cause::required(&path("apiGroups"), why));
        }
        if !has("resources") {
            let why = "resource rules must supply at least one resource";
            causes.push(Cause::required(&path("resources"), why));
        }
    }
    if object["aggregationRule"].is_object() && !gathers(object) {
        let why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
        causes.push(Cause::required("aggregationRule.clusterRoleSelectors", why));
    }
    causes
}

/// What is wrong with a binding.
pub(super) fn validate_binding(kind: &Kind, object: &Value, live: Option<&Value>) -> Vec<Cause> {
    let text = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().to_owned();
    let mut causes = Vec::new();
    let role = &object["roleRef"];
    let group = text(role, "apiGroup");
    if group != GROUP {
        causes.push(unsupported("roleRef.apiGroup", &group, &[GROUP]));
    }
    let kinds: &[&str] = if kind.namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    let of_kind = text(role, "kind");
    if !kinds.contains(&of_kind.as_str()) {
        causes.push(unsupported("roleRef.kind", &of_kind, kinds));
    }
    let name = text(role, "name");
    if name.is_empty() {
        causes.push(Cause::required("roleRef.name", ""));
    }
    for why in names::path_segment(&name) {
        causes.push(Cause::invalid("roleRef.name", &go_quote(&name), &why));
    }
    for (at, subject) in object["subjects"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let path = |field: &str| format!("subjects[{at}].{field}");
        let [of_kind, name, group] = ["kind", "name", "apiGroup"].map(|f| text(subject, f));
        if name.is_empty() {
            causes.push(Cause::required(&path("name"), ""));
        }
        match of_kind.as_str() {
            "ServiceAccount" => {
                if !name.is_empty() {
                    for why in names::dns_subdomain(&name) {
                        causes.push(Cause::invalid(&path("name"), &go_quote(&name), &why));
                    }
                }
                if !group.is_empty() {
                    causes.push(unsupported(&path("apiGroup"), &group, &[""]));
                }
                if !kind.namespaced && text(subject, "namespace").is_empty() {
                    causes.push(Cause::required(&path("namespace"), ""));
                }
            }
            "User" | "Group" if group != GROUP => {
                causes.push(unsupported(&path("apiGroup"), &group, &[GROUP]));
            }
            "User" | "Group" => {}
            _ => {
                let kinds = ["ServiceAccount", "User", "Group"];
                causes.push(unsupported(&path("kind"), &of_kind, &kinds));
            }
        }
    }
    if live.is_some_and(|live| live["roleRef"] != *role) {
        let shown = json!({"APIGroup": group, "Kind": of_kind, "Name": name}).to_string();
        causes.push(Cause::invalid("roleRef", &shown, "cannot change roleRef"));
    }
    causes
}

fn unsupported(field: &str, value: &str, supported: &[&str]) -> Cause {
    let supported: Vec<String> = supported.iter().map(|s| go_quote(s)).collect();
    let message = format!(
        "Unsupported value: {}: supported values: {}",
        go_quote(value),
        supported.join(", ")
    );
    Cause::new("FieldValueNotSupported", field, message)
}

fn gathers(role: &Value) -> bool {
    let selectors = role.pointer("/aggregationRule/clusterRoleSelectors");
    selectors
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty())
}

/// Refuses to give away rights that the caller does not hold.
pub(super) fn check_grant(
    core: &Core,
    kind: &Kind,
    object: &Value,
    live: Option<&Value>,
    caller: &Identity,
) -> Result<(), ApiError> {
    if rbac::is_privileged(caller) || live.is_some_and(|live| only_collected(object, live)) {
        return Ok(());
    }
    let namespace = if kind.namespaced {
        meta::namespace(object)
    } else {
        ""
    };
    let refused = |why: String| ApiError::forbidden(kind, meta::name(object), &why);
    core.rbac.with(&core.store, |index| {
        let may = |action| {
            let attributes = Attributes {
                user: caller,
                action: &action,
            };
            matches!(rbac::allowed(index, &attributes), Decision::Allowed(_))
        };
        let held =
            |rules: &[Rule]| rbac::escalation(index, caller, namespace, rules).map_err(refused);
        if kind.hook == Hook::Role {
            // The name of a role that is about to be created is not part of its request.
            let name = live.map_or("", meta::name);
            if may(rbac::role_action("escalate", &kind.plural, namespace, name)) {
                return Ok(());
            }
            held(&Rule::list(object))?;
            if (gathers(object) || live.is_some_and(gathers))
                && rbac::escalation(index, caller, namespace, &Rule::full_authority()).is_err()
            {
                let why = "must have cluster-admin privileges to use the aggregationRule";
                return Err(refused(why.into()));
            }
            return Ok(());
        }
        let role = rbac::RoleRef::of(object);
        let resource = if role.kind == "Role" {
            "roles"
        } else {
            "clusterroles"
        };
        if may(rbac::role_action("bind", resource, namespace, &role.name)) {
            return Ok(());
        }
        match index.rules(&role, namespace) {
            Some(rules) => held(rules),
            // In the name of the binding, as upstream says it.
            None => Err(ApiError::not_found(kind, &role.name)),
        }
    })
}

/// Whether a write changes nothing but what the garbage collection looks at.
fn only_collected(object: &Value, live: &Value) -> bool {
    let [mut new, mut old] = [object.clone(), live.clone()];
    for one in [&mut new, &mut old] {
        let metadata = meta::metadata_mut(one);
        for field in [
            "ownerReferences",
            "finalizers",
            "managedFields",
            "resourceVersion",
        ] {
            metadata.remove(field);
        }
    }
    new == old
}
