//! The decisions: whether a user may do something, what all they may do, and what of a role they
//! may not hand on. Pure functions over an [`Index`].

use std::collections::BTreeSet;

use super::index::{Index, RoleRef};
use super::rule::{Rule, go_list};
use crate::auth::attributes::{Action, Attributes};
use crate::auth::{Identity, MASTERS};
use crate::schema::go_quote;

/// What is said to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Yes, and what allows it.
    Allowed(String),
    /// No rule allows it, and what may explain that.
    NoOpinion(String),
}

/// Whether a user may do something.
pub(crate) fn allowed(index: &Index, attributes: &Attributes<'_>) -> Decision {
    let Attributes { user, action } = *attributes;
    if is_privileged(user) {
        return Decision::Allowed(String::new());
    }
    let namespace = action.namespace();
    let mut missing = Vec::new();
    for binding in index.bindings(user, namespace) {
        match index.rules(&binding.role, namespace) {
            Some(rules) if rules.iter().any(|rule| rule.allows(action)) => {
                let reason = format!("RBAC: allowed by {}", binding.describe(user));
                return Decision::Allowed(reason);
            }
            Some(_) => {}
            None => missing.push(no_role(&binding.role)),
        }
    }
    let missing = together(missing);
    Decision::NoOpinion(missing.map_or_else(String::new, |why| format!("RBAC: {why}")))
}

/// Whether nothing is refused to a user.
pub(crate) fn is_privileged(user: &Identity) -> bool {
    user.groups.iter().any(|group| group == MASTERS)
}

/// All rules for a user in a namespace, and what is missing.
pub(crate) fn rules_for(
    index: &Index,
    user: &Identity,
    namespace: &str,
) -> (Vec<Rule>, Option<String>) {
    let (mut rules, mut missing) = (Vec::new(), Vec::new());
    for binding in index.bindings(user, namespace) {
        match index.rules(&binding.role, namespace) {
            Some(found) => rules.extend(found.iter().cloned()),
            None => missing.push(no_role(&binding.role)),
        }
    }
    (rules, together(missing))
}

/// Why a user may not hand on some rules: they do not hold them.
pub(crate) fn escalation(
    index: &Index,
    user: &Identity,
    namespace: &str,
    wanted: &[Rule],
) -> Result<(), String> {
    let (held, missing) = rules_for(index, user, namespace);
    let atoms = wanted.iter().flat_map(Rule::atoms);
    let uncovered = atoms.filter(|atom| !held.iter().any(|rule| rule.covers(atom)));
    let uncovered = compacted(uncovered.collect());
    if uncovered.is_empty() {
        return Ok(());
    }
    let lines: BTreeSet<String> = uncovered.iter().map(Rule::compact).collect();
    let lines: Vec<String> = lines.into_iter().collect();
    let mut why = format!(
        "user {} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        go_quote(&user.user),
        go_list(&user.groups),
        lines.join("\n")
    );
    if let Some(missing) = missing {
        why.push_str(&format!("; resolution errors: [{missing}]"));
    }
    Err(why)
}

/// Joins atoms that differ in their verbs alone.
fn compacted(atoms: Vec<Rule>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for atom in atoms {
        let same = |rule: &&mut Rule| {
            atom.urls.is_empty()
                && rule.urls.is_empty()
                && rule.api_groups == atom.api_groups
                && rule.resources == atom.resources
                && rule.resource_names == atom.resource_names
        };
        match rules.iter_mut().find(same) {
            Some(rule) => rule.verbs.extend(atom.verbs),
            None => rules.push(atom),
        }
    }
    rules
}

/// What is said of a role that a binding names and that is not there.
fn no_role(role: &RoleRef) -> String {
    format!(
        "{}.rbac.authorization.k8s.io {} not found",
        role.kind.to_lowercase(),
        go_quote(&role.name)
    )
}

/// Several complaints as one, each said once.
fn together(complaints: Vec<String>) -> Option<String> {
    let mut seen = BTreeSet::new();
    let mut once: Vec<String> = complaints
        .into_iter()
        .filter(|text| seen.insert(text.clone()))
        .collect();
    match once.len() {
        0 => None,
        1 => once.pop(),
        _ => Some(format!("[{}]", once.join(", "))),
    }
}

/// An action on roles themselves, such as `bind` and `escalate`.
pub(crate) fn role_action(verb: &str, resource: &str, namespace: &str, name: &str) -> Action {
    Action::on(
        verb,
        crate::auth::attributes::Resource {
            group: "rbac.authorization.k8s.io".into(),
            version: "*".into(),
            resource: resource.into(),
            namespace: namespace.into(),
            name: name.into(),
            ..Default::default()
        },
    )
}
