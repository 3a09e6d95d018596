//! The policy that every server starts with: the default roles and bindings of Kubernetes for what
//! is served here, and the kinds that the server was started with, given to `view`, `edit` and
//! `admin`. What an administrator took from it is given back at the next start, what they added
//! stays; an object with the annotation `rbac.authorization.kubernetes.io/autoupdate: "false"` is
//! left alone.

use serde_json::{Value, json};

use super::aggregate::aggregated_rules;
use super::rule::Rule;
use crate::core::Core;
use crate::meta;
use crate::registry::Kind;
use crate::resource::{Address, DeleteOptions, Part, WriteOptions};
use crate::status::ApiError;

const DATA: &str = include_str!("policy.json");
const MANAGER: &str = "machinist";
const GROUP: &str = "rbac.authorization.k8s.io";
const AUTO_UPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";
const BOOTSTRAPPING: &str = "kubernetes.io/bootstrapping";
const READ: [&str; 3] = ["get", "list", "watch"];
const WRITE: [&str; 5] = ["create", "delete", "deletecollection", "patch", "update"];

/// What has to be done about one object of the policy.
#[derive(Debug, PartialEq)]
enum Step {
    Nothing,
    Create,
    Update(Value),
    /// A binding's role cannot be changed, so the binding is made anew.
    Replace,
}

/// Makes sure of the policy; `definitions` are those that the server was started with.
pub(crate) async fn ensure_policy(core: &Core, definitions: &[Value]) -> Result<(), ApiError> {
    let wanted = wanted(definitions);
    // Together, so that they share one commit of the store.
    let steps = wanted.iter().map(|object| ensure(core, object));
    futures::future::try_join_all(steps).await.map(|_| ())
}

async fn ensure(core: &Core, wanted: &Value) -> Result<(), ApiError> {
    let plural = match wanted["kind"].as_str() {
        Some("ClusterRole") => "clusterroles",
        _ => "clusterrolebindings",
    };
    let kind = core.registry.snapshot().find(GROUP, "v1", plural);
    let at = Address {
        kind: kind.ok_or_else(ApiError::no_such_path)?,
        namespace: String::new(),
        name: meta::name(wanted).to_owned(),
    };
    let options = WriteOptions::internal(MANAGER);
    let live = match core.get(&at).await {
        Ok(live) => Some(live),
        Err(error) if error.reason == "NotFound" => None,
        Err(error) => return Err(error),
    };
    match step(wanted, live.as_ref()) {
        Step::Nothing => Ok(()),
        Step::Create => create(core, &at.kind, wanted, &options).await,
        Step::Update(object) => core
            .update(&at, Part::Main, object, &options)
            .await
            .map(|_| ()),
        Step::Replace => {
            core.delete(&at, &DeleteOptions::internal()).await?;
            create(core, &at.kind, wanted, &options).await
        }
    }
}

async fn create(
    core: &Core,
    kind: &std::sync::Arc<Kind>,
    wanted: &Value,
    options: &WriteOptions,
) -> Result<(), ApiError> {
    core.create(kind, "", wanted.clone(), options)
        .await
        .map(|_| ())
}

/// All objects of the policy.
fn wanted(definitions: &[Value]) -> Vec<Value> {
    let mut objects: Vec<Value> = serde_json::from_str(DATA).unwrap_or_default();
    objects.extend(own_roles(definitions));
    for object in &mut objects {
        let annotations = json!({AUTO_UPDATE: "true"});
        meta::metadata_mut(object).insert("annotations".into(), annotations);
        meta::as_map(object).insert("apiVersion".into(), format!("{GROUP}/v1").into());
    }
    // The roles that are made of others are born complete. `view` goes into `edit`, and that into
    // `admin`: a chain of this length needs as many rounds.
    for _ in 0..3 {
        let before = objects.clone();
        let all: Vec<&Value> = before.iter().collect();
        for object in &mut objects {
            if let Some(rules) = aggregated_rules(object, &all) {
                meta::as_map(object).insert("rules".into(), rules.into());
            }
        }
    }
    objects
}

/// For each group of the definitions, a role to see its kinds and one to change them.
fn own_roles(definitions: &[Value]) -> Vec<Value> {
    let text = |definition: &Value, at: &str| {
        definition
            .pointer(at)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut groups: Vec<String> = definitions
        .iter()
        .map(|definition| text(definition, "/spec/group"))
        .collect();
    groups.sort();
    groups.dedup();
    let mut roles = Vec::new();
    for group in groups {
        let (mut seen, mut changed) = (Vec::new(), Vec::new());
        let of_group = definitions
            .iter()
            .filter(|d| text(d, "/spec/group") == group);
        for definition in of_group {
            let plural = text(definition, "/spec/names/plural");
            let has = |part: &str| {
                let versions = definition["spec"]["versions"]
                    .as_array()
                    .into_iter()
                    .flatten();
                versions
                    .into_iter()
                    .any(|v| v["subresources"][part].is_object())
            };
            seen.push(plural.clone());
            changed.push(plural.clone());
            if has("status") {
                seen.push(format!("{plural}/status"));
            }
            if has("scale") {
                seen.push(format!("{plural}/scale"));
                changed.push(format!("{plural}/scale"));
            }
        }
        for (to, mut resources, verbs) in [
            ("view", seen, READ.as_slice()),
            ("edit", changed, WRITE.as_slice()),
        ] {
            resources.sort();
            roles.push(json!({
                "kind": "ClusterRole",
                "metadata": {
                    "name": format!("{group}:aggregate-to-{to}"),
                    "labels": {
                        BOOTSTRAPPING: "rbac-defaults",
                        format!("{GROUP}/aggregate-to-{to}"): "true",
                    },
                },
                "rules": [{"apiGroups": [group], "resources": resources, "verbs": verbs}],
            }));
        }
    }
    roles
}

fn step(wanted: &Value, live: Option<&Value>) -> Step {
    let Some(live) = live else {
        return Step::Create;
    };
    if live["metadata"]["annotations"][AUTO_UPDATE] == "false" {
        return Step::Nothing;
    }
    if wanted["roleRef"] != live["roleRef"] {
        return Step::Replace;
    }
    let mut object = live.clone();
    for field in ["labels", "annotations"] {
        let kept = meta::metadata_mut(&mut object)
            .entry(field)
            .or_insert_with(|| json!({}));
        for (key, value) in wanted["metadata"][field].as_object().into_iter().flatten() {
            meta::as_map(kept)
                .entry(key)
                .or_insert_with(|| value.clone());
        }
    }
    // What a role gathers from others is the business of the aggregation.
    if wanted["aggregationRule"].is_null() {
        let held = Rule::list(live);
        let is_held = |rule: &Value| {
            let atoms = Rule::list(&json!({"rules": [rule]}));
            let mut atoms = atoms.iter().flat_map(Rule::atoms);
            atoms.all(|atom| held.iter().any(|rule| rule.covers(&atom)))
        };
        add(&mut object, "rules", wanted, is_held);
    } else {
        meta::copy_field(&mut object, wanted, "aggregationRule");
    }
    let subjects = live["subjects"].as_array().cloned().unwrap_or_default();
    add(&mut object, "subjects", wanted, |subject| {
        subjects.contains(subject)
    });
    if object == *live {
        Step::Nothing
    } else {
        Step::Update(object)
    }
}

/// Adds to a list what is wanted there and not yet there.
fn add(object: &mut Value, field: &str, wanted: &Value, is_there: impl Fn(&Value) -> bool) {
    let list = wanted[field].as_array().into_iter().flatten();
    let missing: Vec<Value> = list.filter(|item| !is_there(item)).cloned().collect();
    if missing.is_empty() {
        return;
    }
    let place = meta::as_map(object)
        .entry(field)
        .or_insert_with(|| json!([]));
    if !place.is_array() {
        *place = json!([]);
    }
    if let Value::Array(list) = place {
        list.extend(missing);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_is_sound_and_its_aggregation_complete() {
        let definition = json!({"spec": {
            "group": "example.io",
            "names": {"plural": "widgets"},
            "versions": [{"subresources": {"status": {}, "scale": {"specReplicasPath": ".x"}}}],
        }});
        let all = wanted(&[definition]);
        let rules = |name: &str| {
            let role = all
                .iter()
                .find(|o| meta::name(o) == name && o["kind"] == "ClusterRole");
            role.unwrap()["rules"].to_string()
        };
        for (role, part, expected) in [
            ("view", "widgets/status", true),
            ("view", "secrets", false),
            ("edit", "widgets/scale", true),
            ("edit", "secrets", true),
            ("edit", "rolebindings", false),
            ("admin", "widgets/status", true),
            ("admin", "rolebindings", true),
            ("cluster-admin", "*", true),
        ] {
            assert_eq!(
                rules(role).contains(&format!("\"{part}\"")),
                expected,
                "{role} {part}"
            );
        }
    }

    #[test]
    fn what_was_taken_comes_back_and_what_was_added_stays() {
        let all = wanted(&[]);
        let find = |name: &str, kind: &str| {
            all.iter()
                .find(|o| meta::name(o) == name && o["kind"] == kind)
                .unwrap()
        };
        let role = find("system:basic-user", "ClusterRole");
        assert_eq!(step(role, None), Step::Create);
        assert_eq!(step(role, Some(role)), Step::Nothing);
        let mut live = role.clone();
        live["rules"] = json!([{"apiGroups": ["x"], "resources": ["y"], "verbs": ["z"]}]);
        let Step::Update(updated) = step(role, Some(&live)) else {
            panic!("an update");
        };
        assert_eq!(updated["rules"].as_array().unwrap().len(), 3);
        live["metadata"]["annotations"][AUTO_UPDATE] = "false".into();
        assert_eq!(step(role, Some(&live)), Step::Nothing);
        let mut wider = role.clone();
        wider["rules"] = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
        assert_eq!(step(role, Some(&wider)), Step::Nothing);
        let binding = find("system:basic-user", "ClusterRoleBinding");
        let mut other = binding.clone();
        other["roleRef"]["name"] = "view".into();
        assert_eq!(step(binding, Some(&other)), Step::Replace);
        let mut fewer = binding.clone();
        fewer["subjects"] = json!([]);
        assert_eq!(step(binding, Some(&fewer)), Step::Update(binding.clone()));
    }
}
