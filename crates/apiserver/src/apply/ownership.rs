//! How fields change hands: the core of apply and of the bookkeeping for updates.
//!
//! Objects come in without their managed fields and fit the schema; versions of one kind are
//! taken to have the same fields, so none is converted.

use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::{Comparison, compare};
use super::error::Conflict;
use super::field_set::field_set;
use super::managed::{Entry, Identity, Managed};
use super::merge::merge;
use super::path::{PathElement, display_path};
use super::remove::{remove_items, remove_items_but_keep};
use super::set::Set;
use super::shape::Shape;
use super::value::same;

/// What both operations need to know.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    /// The shape of the objects.
    pub(super) shape: Shape<'a>,
    /// The fields that this request cannot change and so cannot own.
    pub(super) ignore: &'a Set,
}

/// A field of someone else.
#[derive(Debug, Clone)]
pub(super) struct Contested {
    pub(super) owner: Identity,
    pub(super) path: Vec<PathElement>,
}

impl From<Contested> for Conflict {
    fn from(contested: Contested) -> Self {
        Conflict {
            manager: contested.owner.describe(),
            path: display_path(&contested.path),
        }
    }
}

impl Rules<'_> {
    /// The fields that an update writes; everyone else loses them and what it removed.
    pub(super) fn take_by_update(&self, live: &Value, new: &Value, managed: &mut Managed) -> Set {
        let comparison = self.compare(live, new);
        let contested = contested_sets(&comparison, managed, None);
        hand_over(&comparison, &contested, managed, None);
        comparison.written()
    }

    /// Merges `applied` into `live` for the applier `own`; `None` when the object stays the same.
    pub(super) fn apply(
        &self,
        live: &Value,
        applied: &Value,
        mut managed: Managed,
        own: Entry,
        force: bool,
    ) -> Result<(Option<Value>, Managed), Vec<Contested>> {
        let key = own.identity.key();
        let merged = merge(self.shape, live, applied);
        let set = field_set(self.shape, applied).recursive_difference(self.ignore);
        let before = managed.0.insert(key.clone(), Entry { set, ..own });
        let time = before.as_ref().and_then(|entry| entry.time);
        if let Some(entry) = managed.0.get_mut(&key) {
            entry.time = time;
        }
        let new = match before {
            Some(last) if !last.set.is_empty() => self.prune(&merged, applied, &managed, &last),
            _ => merged,
        };

        let comparison = self.compare(live, &new);
        let contested = contested_sets(&comparison, &managed, Some(&key));
        if !force && !contested.is_empty() {
            return Err(list_contested(&contested, &managed));
        }
        hand_over(&comparison, &contested, &mut managed, Some(&key));
        let new = (!same(live, &new)).then_some(new);
        Ok((new, managed))
    }

    fn compare(&self, old: &Value, new: &Value) -> Comparison {
        compare(self.shape, old, new).without(self.ignore)
    }

    /// Removes what the applier stated last time, does not state now, and nobody else owns.
    fn prune(&self, merged: &Value, applied: &Value, managed: &Managed, last: &Entry) -> Value {
        let last_set = last.set.ensure_named_fields(self.shape);
        let merged_set = self.named_field_set(merged);
        let mut pruned = remove_items(self.shape, merged, &last_set);

        let mut owned: BTreeMap<&str, Set> = BTreeMap::new();
        for entry in managed.0.values() {
            let at_version = owned.entry(&entry.api_version).or_default();
            *at_version = at_version.union(&entry.set);
        }
        let first = owned.remove(last.api_version.as_str());
        for kept in first.into_iter().chain(owned.into_values()) {
            let kept = kept.ensure_named_fields(self.shape);
            let gone = merged_set.difference(&self.named_field_set(&pruned).union(&kept));
            pruned = remove_items(self.shape, merged, &gone);
        }

        // What the applier did not own before is not its to remove.
        let gone = merged_set
            .difference(&self.named_field_set(&pruned))
            .intersection(&last_set);
        remove_items_but_keep(self.shape, merged, &gone, applied)
    }

    fn named_field_set(&self, value: &Value) -> Set {
        field_set(self.shape, value).ensure_named_fields(self.shape)
    }
}

/// What each manager but `own` holds of the fields that were written.
fn contested_sets(
    comparison: &Comparison,
    managed: &Managed,
    own: Option<&str>,
) -> BTreeMap<String, Set> {
    let written = comparison.written();
    let others = managed
        .0
        .iter()
        .filter(|(key, _)| Some(key.as_str()) != own);
    let sets = others.map(|(key, entry)| (key.clone(), entry.set.intersection(&written)));
    sets.filter(|(_, set)| !set.is_empty()).collect()
}

fn list_contested(contested: &BTreeMap<String, Set>, managed: &Managed) -> Vec<Contested> {
    let mut out = Vec::new();
    for (key, set) in contested {
        let Some(entry) = managed.0.get(key) else {
            continue;
        };
        let paths = set.paths().into_iter();
        out.extend(paths.map(|path| Contested {
            owner: entry.identity.clone(),
            path,
        }));
    }
    out
}

/// Takes what was written and what is gone from everyone but `own`, and forgets who has nothing.
fn hand_over(
    comparison: &Comparison,
    contested: &BTreeMap<String, Set>,
    managed: &mut Managed,
    own: Option<&str>,
) {
    for (key, entry) in &mut managed.0 {
        if Some(key.as_str()) == own {
            continue;
        }
        if let Some(lost) = contested.get(key) {
            entry.set = entry.set.difference(lost);
        }
        entry.set = entry.set.difference(&comparison.removed);
    }
    managed.0.retain(|_, entry| !entry.set.is_empty());
}
