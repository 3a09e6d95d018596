//! Which custom kinds take strategic merge patches.
//!
//! Kubernetes refuses them for every custom resource, and so do we, but for the groups that the
//! embedder names: those whose own clients were written for an API server that takes them.

use std::sync::Arc;

/// Whether a kind takes strategic merge patches, and who says how its lists merge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Strategic {
    /// It takes none.
    #[default]
    Refused,
    /// A table, for the built-ins.
    ByTable,
    /// The schema: lists with one key merge by it, sets by value.
    BySchema(Arc<StrategicGroup>),
}

/// Groups whose custom kinds take strategic merge patches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StrategicGroup {
    /// The name of the group, or what follows a dot in it.
    pub suffix: String,
    /// The lists that are replaced although the schema gives their items a key, as paths such as
    /// `status.conditions`.
    pub replaced: Vec<String>,
}

impl StrategicGroup {
    /// The strategy of the kinds of a group: that of the first of these which it belongs to.
    pub(super) fn choose(groups: &[Arc<Self>], group: &str) -> Strategic {
        let found = groups.iter().find(|candidate| candidate.holds(group));
        found.map_or(Strategic::Refused, |found| {
            Strategic::BySchema(found.clone())
        })
    }

    fn holds(&self, group: &str) -> bool {
        let rest = group.strip_suffix(self.suffix.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }

    /// Whether the list at this path is replaced whatever its schema says.
    pub(crate) fn replaces(&self, path: &[String]) -> bool {
        let mut replaced = self.replaced.iter();
        replaced.any(|one| one.split('.').eq(path.iter().map(String::as_str)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_ends_at_a_dot() {
        let groups = [Arc::new(StrategicGroup {
            suffix: "ironcore.dev".into(),
            replaced: vec!["status.conditions".into()],
        })];
        for (group, taken) in [
            ("compute.ironcore.dev", true),
            ("ironcore.dev", true),
            ("notironcore.dev", false),
            ("ironcore.dev.example", false),
            ("", false),
        ] {
            let chosen = StrategicGroup::choose(&groups, group);
            assert_eq!(chosen != Strategic::Refused, taken, "{group}");
        }
        let path = |fields: &[&str]| fields.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>();
        assert!(groups[0].replaces(&path(&["status", "conditions"])));
        assert!(!groups[0].replaces(&path(&["status", "peerings"])));
    }
}
