//! Which lists of the built-in kinds merge under a strategic merge patch, and by what key.
//!
//! All other lists are replaced, and all objects merge.

/// How a list merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListStrategy {
    /// The patch takes its place.
    Replace,
    /// As a set of scalars.
    Scalars,
    /// Item by item, by this field.
    Keyed(&'static str),
}

struct Rule {
    /// The kind it is for, or `None` for every kind.
    kind: Option<&'static str>,
    path: &'static [&'static str],
    strategy: ListStrategy,
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
    Rule {
        kind: Some("ServiceAccount"),
        path: &["secrets"],
        strategy: ListStrategy::Keyed("name"),
    },
    Rule {
        kind: Some("Namespace"),
        path: &["status", "conditions"],
        strategy: ListStrategy::Keyed("type"),
    },
];

/// The strategy of the list at this path of an object of this kind.
pub(super) fn list_strategy(kind: &str, path: &[String]) -> ListStrategy {
    let fits = |rule: &&Rule| rule.kind.is_none_or(|k| k == kind) && rule.path == path;
    RULES
        .iter()
        .find(fits)
        .map_or(ListStrategy::Replace, |rule| rule.strategy)
}
