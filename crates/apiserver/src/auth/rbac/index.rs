//! Roles and bindings, found by name and by subject.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;

use super::rule::Rule;
use crate::auth::Identity;
use crate::meta;
use crate::schema::go_quote;

/// Where roles and bindings lie in the store.
pub(crate) const PREFIX: &str = "/rbac.authorization.k8s.io/";

/// All roles and bindings, as the store has them at one moment.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The rules of each role by namespace and name; ClusterRoles have no namespace.
    roles: HashMap<String, HashMap<String, Arc<[Rule]>>>,
    /// The bindings of each namespace; ClusterRoleBindings have none.
    bindings: HashMap<String, Bindings>,
}

/// The bindings of one namespace, or of the cluster.
#[derive(Debug, Default)]
struct Bindings {
    by_name: BTreeMap<String, Binding>,
    /// The names of the bindings that name a user, and a group.
    by_user: HashMap<String, BTreeSet<String>>,
    by_group: HashMap<String, BTreeSet<String>>,
}

/// Who gets which role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) role: RoleRef,
    subjects: Vec<Subject>,
}

/// The role of a binding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RoleRef {
    pub(crate) group: String,
    pub(crate) kind: String,
    pub(crate) name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Subject {
    kind: String,
    name: String,
    namespace: String,
}

impl RoleRef {
    /// The role that a binding refers to.
    pub(crate) fn of(binding: &Value) -> Self {
        let text = |field: &str| {
            binding["roleRef"][field]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        Self {
            group: text("apiGroup"),
            kind: text("kind"),
            name: text("name"),
        }
    }
}

impl Subject {
    /// The name of the user that is meant, if it is one.
    fn user(&self) -> Option<String> {
        match self.kind.as_str() {
            "User" => Some(self.name.clone()),
            "ServiceAccount" if !self.namespace.is_empty() => Some(format!(
                "system:serviceaccount:{}:{}",
                self.namespace, self.name
            )),
            _ => None,
        }
    }

    fn is(&self, user: &Identity) -> bool {
        match self.kind.as_str() {
            "Group" => user.groups.contains(&self.name),
            _ => self.user().is_some_and(|name| name == user.user),
        }
    }

    fn describe(&self) -> String {
        let name = match self.kind.as_str() {
            "ServiceAccount" => format!("{}/{}", self.name, self.namespace),
            _ => self.name.clone(),
        };
        format!("{} {}", self.kind, go_quote(&name))
    }
}

impl Binding {
    fn new(object: &Value) -> Self {
        let namespace = meta::namespace(object).to_owned();
        let subjects = object["subjects"].as_array().into_iter().flatten();
        let subjects = subjects.map(|subject| {
            let text = |field: &str| subject[field].as_str().unwrap_or_default().to_owned();
            let mut subject = Subject {
                kind: text("kind"),
                name: text("name"),
                namespace: text("namespace"),
            };
            // Accounts of a binding's own namespace need not be qualified.
            if subject.namespace.is_empty() {
                subject.namespace.clone_from(&namespace);
            }
            subject
        });
        Self {
            subjects: subjects.collect(),
            name: meta::name(object).to_owned(),
            role: RoleRef::of(object),
            namespace,
        }
    }

    /// The binding as the reason of a decision about a user names it.
    pub(crate) fn describe(&self, user: &Identity) -> String {
        let subject = self.subjects.iter().find(|subject| subject.is(user));
        let (kind, name) = match self.namespace.as_str() {
            "" => ("ClusterRoleBinding", self.name.clone()),
            namespace => ("RoleBinding", format!("{}/{namespace}", self.name)),
        };
        format!(
            "{kind} {} of {} {} to {}",
            go_quote(&name),
            self.role.kind,
            go_quote(&self.role.name),
            subject.map(Subject::describe).unwrap_or_default(),
        )
    }
}

impl Bindings {
    fn put(&mut self, binding: Binding) {
        self.remove(&binding.name);
        for subject in &binding.subjects {
            let names = match (subject.kind.as_str(), subject.user()) {
                ("Group", _) => self.by_group.entry(subject.name.clone()).or_default(),
                (_, Some(user)) => self.by_user.entry(user).or_default(),
                _ => continue,
            };
            names.insert(binding.name.clone());
        }
        self.by_name.insert(binding.name.clone(), binding);
    }

    fn remove(&mut self, name: &str) {
        let Some(binding) = self.by_name.remove(name) else {
            return;
        };
        for subject in &binding.subjects {
            let (map, key) = match (subject.kind.as_str(), subject.user()) {
                ("Group", _) => (&mut self.by_group, subject.name.clone()),
                (_, Some(user)) => (&mut self.by_user, user),
                _ => continue,
            };
            if let Some(names) = map.get_mut(&key) {
                names.remove(name);
                if names.is_empty() {
                    map.remove(&key);
                }
            }
        }
    }

    fn of<'a>(&'a self, user: &'a Identity) -> impl Iterator<Item = &'a Binding> {
        let groups = user
            .groups
            .iter()
            .filter_map(|group| self.by_group.get(group));
        let names: BTreeSet<&String> = self
            .by_user
            .get(&user.user)
            .into_iter()
            .chain(groups)
            .flatten()
            .collect();
        names.into_iter().filter_map(|name| self.by_name.get(name))
    }
}

impl Index {
    /// Takes note of what lies under a key now.
    pub(crate) fn put(&mut self, key: &str, object: &Value) {
        let Some((plural, namespace, name)) = parts(key) else {
            return;
        };
        let namespace = namespace.to_owned();
        if plural.ends_with("bindings") {
            self.bindings
                .entry(namespace)
                .or_default()
                .put(Binding::new(object));
        } else {
            let roles = self.roles.entry(namespace).or_default();
            roles.insert(name.to_owned(), Rule::list(object).into());
        }
    }

    /// Forgets what lay under a key.
    pub(crate) fn remove(&mut self, key: &str) {
        let Some((plural, namespace, name)) = parts(key) else {
            return;
        };
        if plural.ends_with("bindings") {
            if let Some(bindings) = self.bindings.get_mut(namespace) {
                bindings.remove(name);
            }
        } else if let Some(roles) = self.roles.get_mut(namespace) {
            roles.remove(name);
        }
    }

    /// The bindings that give a user anything in a namespace, those of the cluster first.
    pub(crate) fn bindings<'a>(
        &'a self,
        user: &'a Identity,
        namespace: &str,
    ) -> impl Iterator<Item = &'a Binding> {
        let local = (!namespace.is_empty()).then(|| self.bindings.get(namespace));
        let scopes = [self.bindings.get(""), local.flatten()];
        scopes
            .into_iter()
            .flatten()
            .flat_map(|bindings| bindings.of(user))
    }

    /// The rules of a role, seen from a namespace; nothing when there is no such role.
    pub(crate) fn rules(&self, role: &RoleRef, namespace: &str) -> Option<&Arc<[Rule]>> {
        let namespace = if role.kind == "Role" { namespace } else { "" };
        self.roles.get(namespace)?.get(&role.name)
    }
}

/// Plural, namespace and name of what lies under a key.
fn parts(key: &str) -> Option<(&str, &str, &str)> {
    let (plural, rest) = key.strip_prefix(PREFIX)?.split_once('/')?;
    match plural {
        "clusterroles" | "clusterrolebindings" => Some((plural, "", rest)),
        "roles" | "rolebindings" => {
            let (namespace, name) = rest.split_once('/')?;
            Some((plural, namespace, name))
        }
        _ => None,
    }
}
