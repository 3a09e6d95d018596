//! Which lists merge under a strategic merge patch, and by what key.
//!
//! Of the built-ins a table says it, of other kinds their schema. All other lists are replaced,
//! and all objects merge.

use crate::registry::{Kind, Strategic};
use crate::schema::{ListKind, Schema};

/// How a list merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListStrategy<'a> {
    /// The patch takes its place.
    Replace,
    /// As a set of scalars.
    Scalars,
    /// Item by item, by this field.
    Keyed(&'a str),
}

/// What there is to know of the lists of one kind.
#[derive(Debug, Clone, Copy)]
pub struct Lists<'a> {
    /// The name of the kind.
    pub kind: &'a str,
    /// Who says how its lists merge.
    pub strategic: &'a Strategic,
    /// The shape of its objects.
    pub schema: &'a Schema,
}

struct Rule {
    /// The kind it is for, or `None` for every kind.
    kind: Option<&'static str>,
    path: &'static [&'static str],
    strategy: ListStrategy<'static>,
}

const fn merged(kind: &'static str, path: &'static [&'static str], key: &'static str) -> Rule {
    Rule {
        kind: Some(kind),
        path,
        strategy: ListStrategy::Keyed(key),
    }
}

/// The `patchStrategy` and `patchMergeKey` tags of the Go types.
const RULES: &[Rule] = &[
    Rule {
        kind: None,
        path: &["metadata", "finalizers"],
        strategy: ListStrategy::Scalars,
    },
    Rule {
        kind: None,
        path: &["metadata", "ownerReferences"],
        strategy: ListStrategy::Keyed("uid"),
    },
    merged("ServiceAccount", &["secrets"], "name"),
    merged("Namespace", &["status", "conditions"], "type"),
    merged("Service", &["spec", "ports"], "port"),
    merged("Service", &["status", "conditions"], "type"),
    merged("ValidatingWebhookConfiguration", &["webhooks"], "name"),
    merged("ValidatingWebhookConfiguration", CONDITIONS, "name"),
    merged("MutatingWebhookConfiguration", &["webhooks"], "name"),
    merged("MutatingWebhookConfiguration", CONDITIONS, "name"),
];

/// The conditions of each webhook of a configuration.
const CONDITIONS: &[&str] = &["webhooks", "matchConditions"];

impl<'a> Lists<'a> {
    /// The lists of a kind.
    pub(crate) fn of(kind: &'a Kind) -> Self {
        Self {
            kind: &kind.kind,
            strategic: &kind.strategic,
            schema: kind.schema(),
        }
    }

    /// The strategy of the list at this path; the items of lists on the way are not counted.
    pub(super) fn strategy(&self, path: &[String]) -> ListStrategy<'a> {
        let named = |rule: &&Rule| match (rule.kind, self.strategic) {
            (None, _) => true,
            (Some(kind), Strategic::ByTable) => kind == self.kind,
            (Some(_), _) => false,
        };
        let mut rules = RULES.iter().filter(named);
        if let Some(rule) = rules.find(|rule| rule.path == path) {
            return rule.strategy;
        }
        match self.strategic {
            Strategic::Refused | Strategic::ByTable => ListStrategy::Replace,
            Strategic::BySchema(group) if group.replaces(path) => ListStrategy::Replace,
            Strategic::BySchema(_) => by_schema(self.schema, path),
        }
    }
}

/// A strategic merge patch knows one key only: a list whose items are told apart by several is
/// replaced, because merging by one of them would make one item of two.
fn by_schema<'a>(schema: &'a Schema, path: &[String]) -> ListStrategy<'a> {
    let mut node = schema;
    for field in path {
        while let Some(items) = node.element() {
            node = items;
        }
        let Some(child) = node.child(field) else {
            return ListStrategy::Replace;
        };
        node = child;
    }
    match node.list_kind() {
        ListKind::Map([key]) => ListStrategy::Keyed(key),
        ListKind::Set => ListStrategy::Scalars,
        ListKind::Map(_) | ListKind::Atomic => ListStrategy::Replace,
    }
}
