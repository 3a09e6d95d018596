//! The rules of a webhook: which operations on which resources it is asked about.

use serde::Deserialize;

use super::Operation;
use crate::registry::Kind;

/// One rule; a request that meets any rule of a webhook is its business.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Rule {
    operations: Vec<String>,
    api_groups: Vec<String>,
    api_versions: Vec<String>,
    resources: Vec<String>,
    scope: Option<String>,
}

impl Rule {
    /// Whether the rule is about this operation on this resource.
    pub(super) fn matches(&self, kind: &Kind, subresource: &str, operation: Operation) -> bool {
        let one_of =
            |items: &[String], wanted: &str| items.iter().any(|item| item == "*" || item == wanted);
        let resource = |pattern: &String| {
            let (name, sub) = pattern.split_once('/').unwrap_or((pattern, ""));
            (name == "*" || name == kind.plural) && (sub == "*" || sub == subresource)
        };
        let scope = match self.scope.as_deref() {
            None | Some("*") => true,
            Some("Namespaced") => kind.namespaced,
            Some("Cluster") => !kind.namespaced,
            Some(_) => false,
        };
        scope
            && one_of(&self.operations, operation.name())
            && one_of(&self.api_groups, &kind.group)
            && one_of(&self.api_versions, &kind.version)
            && self.resources.iter().any(resource)
    }
}
