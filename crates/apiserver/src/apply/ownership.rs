//! How fields change hands: the core of apply and of the bookkeeping for updates.
//!
//! Objects come in without their managed fields, in the version of the request, and fit its
//! schema. A manager's fields are those of the version at which it wrote them, so the objects are
//! converted into that version before anything is said about its fields.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::NOTHING;
use super::aside;
use super::compare::{Comparison, compare};
use super::error::{ApplyError, Conflict};
use super::field_set::field_set;
use super::managed::{Entry, Identity, Managed};
use super::merge::merge;
use super::path::{PathElement, display_path};
use super::remove::{remove_items, remove_items_but_keep};
use super::set::Set;
use super::shape::Shape;
use super::value::same;
use super::versions::{Versions, version_of};

/// What both operations need to know.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    /// The version of the request.
    pub(super) api_version: &'a str,
    /// The shape of the objects in that version.
    pub(super) shape: Shape<'a>,
    /// What the objects are in other versions.
    pub(super) versions: &'a dyn Versions,
    /// The fields that this request cannot change and so cannot own.
    pub(super) ignore: &'a Set,
    /// The same in the other versions.
    pub(super) ignore_elsewhere: &'a Set,
    /// Whether what cannot change is passed by.
    pub(super) shortcuts: bool,
}

/// Why one attempt to apply failed.
pub(super) enum Refusal {
    Contested(Vec<Contested>),
    Other(ApplyError),
}

impl From<ApplyError> for Refusal {
    fn from(err: ApplyError) -> Self {
        Self::Other(err)
    }
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

/// What a write changed, in each version that matters.
type Comparisons = BTreeMap<String, Comparison>;

impl<'a> Rules<'a> {
    /// The fields that an update writes; everyone else loses them and what it removed.
    pub(super) fn take_by_update(
        &self,
        live: &Value,
        new: &Value,
        managed: &mut Managed<'_>,
    ) -> Result<Set, ApplyError> {
        self.forget_lost_versions(managed);
        let comparisons = self.compare(live, new, managed, None)?;
        let contested = contested_sets(&comparisons, managed, None);
        hand_over(&comparisons, &contested, managed, None);
        let own = comparisons.get(self.api_version);
        Ok(own.map(Comparison::written).unwrap_or_default())
    }

    /// Merges `applied` into `live` for the applier `own`; `None` when the object stays the same.
    pub(super) fn apply(
        &self,
        live: &Value,
        applied: &Value,
        mut managed: Managed<'a>,
        own: Entry<'a>,
        force: bool,
    ) -> Result<(Option<Value>, Managed<'a>), Refusal> {
        self.forget_lost_versions(&mut managed);
        let key = own.identity.key();
        let merged = merge(self.shape, live, applied);
        let mut set = field_set(self.shape, applied);
        set.subtract_recursively(self.ignore);
        let held = set.into();
        let before = managed.0.insert(key.clone(), Entry { held, ..own });
        let time = before.as_ref().and_then(|entry| entry.time);
        if let Some(entry) = managed.0.get_mut(&key) {
            entry.time = time;
        }
        let new = match before {
            Some(last) => self.prune_dropped(merged, applied, &managed, &last, &key)?,
            None => merged,
        };

        let comparisons = self.compare(live, &new, &managed, Some(&key))?;
        let contested = contested_sets(&comparisons, &managed, Some(&key));
        if !force && !contested.is_empty() {
            return Err(Refusal::Contested(list_contested(&contested, &managed)));
        }
        hand_over(&comparisons, &contested, &mut managed, Some(&key));
        let new = (!same(live, &new)).then_some(new);
        Ok((new, managed))
    }

    /// Removes what the applier stated last time and does not state now. While nobody speaks of
    /// another version, only what is dropped is looked at: of a field all of which is stated again,
    /// everything has an owner.
    fn prune_dropped(
        &self,
        mut merged: Value,
        applied: &Value,
        managed: &Managed<'_>,
        last: &Entry<'_>,
        own: &str,
    ) -> Result<Value, ApplyError> {
        if last.held.is_empty() {
            return Ok(merged);
        }
        let is_here = |entry: &Entry<'_>| entry.api_version == self.api_version;
        let stated = managed.0.get(own);
        let stated = stated.map_or(&*NOTHING, |own| own.held.set());
        if !self.shortcuts || !is_here(last) || !managed.0.values().all(is_here) {
            return self.prune(&merged, applied, managed, last, |_| true);
        }
        let dropped = last.held.set().difference(stated);
        if dropped.is_empty() {
            return Ok(merged);
        }
        let aside = aside::take(&mut merged, self.shape, &dropped, stated);
        // Of what is left, nobody else owns anything.
        let concerned = |entry: &Entry<'_>| entry.held.may_share(&dropped);
        let mut pruned = self.prune(&merged, applied, managed, last, concerned)?;
        aside::put_back(&mut pruned, self.shape, aside);
        Ok(pruned)
    }

    /// A kind that no longer has a version cannot say what its fields were.
    fn forget_lost_versions(&self, managed: &mut Managed<'_>) {
        let has = |version: &str| self.versions.schema(version).is_some();
        managed.0.retain(|_, entry| has(&entry.api_version));
    }

    /// What a write changed, in its own version and in those of all managers but `own`.
    fn compare(
        &self,
        live: &Value,
        new: &Value,
        managed: &Managed<'_>,
        own: Option<&str>,
    ) -> Result<Comparisons, ApplyError> {
        let here = compare(self.shape, live, new).without(self.ignore);
        let mut all = BTreeMap::from([(self.api_version.to_owned(), here)]);
        for (_, entry) in others(managed, own) {
            let version = &entry.api_version;
            if all.contains_key(version) {
                continue;
            }
            let old = self.at(live, version)?;
            let new = self.at(new, version)?;
            if let (Some((shape, old)), Some((_, new))) = (old, new) {
                let there = compare(shape, &old, &new).without(self.ignore_elsewhere);
                all.insert(version.clone(), there);
            }
        }
        Ok(all)
    }

    /// An object in another version, with its shape there; `None` when there is no such version.
    fn at<'v>(
        &self,
        object: &'v Value,
        version: &str,
    ) -> Result<Option<(Shape<'a>, Cow<'v, Value>)>, ApplyError> {
        let Some(schema) = self.versions.schema(version) else {
            return Ok(None);
        };
        let shape = Shape::root(schema);
        let mut object = Cow::Borrowed(object);
        // Versions become each other by way of the version of the request.
        for next in [self.api_version, version] {
            let now = version_of(&object);
            if now != version && now != next {
                object = Cow::Owned(self.versions.convert(&object, next)?);
            }
        }
        Ok(Some((shape, object)))
    }

    /// Removes what the applier stated last time, does not state now, and nobody else owns. Of the
    /// managers only those are asked who may own any of it.
    fn prune(
        &self,
        merged: &Value,
        applied: &Value,
        managed: &Managed<'_>,
        last: &Entry<'_>,
        concerned: impl Fn(&Entry<'_>) -> bool,
    ) -> Result<Value, ApplyError> {
        let Some((shape, before)) = self.at(merged, &last.api_version)? else {
            return Ok(merged.clone());
        };
        let last_set = last.held.set().ensure_named_fields(shape);
        let pruned = remove_items(shape, &before, &last_set);
        let managers = managed.0.values().filter(|entry| concerned(entry));
        let pruned = self.add_back_owned(&before, pruned, managers, &last.api_version)?;
        let Some((_, pruned)) = self.at(&pruned, &last.api_version)? else {
            return Ok(merged.clone());
        };

        // What the applier did not own before is not its to remove.
        let gone = named_field_set(shape, &before)
            .difference(&named_field_set(shape, &pruned))
            .intersection(&last_set);
        let empty = Value::Object(serde_json::Map::new());
        let stated = if last.api_version == self.api_version {
            applied
        } else {
            &empty
        };
        let left = remove_items_but_keep(shape, &before, &gone, stated);
        let left = self.at(&left, self.api_version)?;
        Ok(left.map_or_else(|| merged.clone(), |(_, left)| left.into_owned()))
    }

    /// Gives back to a pruned object what someone owns, the applier included: version by version,
    /// that of the pruned object first, because others may not be reached without it.
    fn add_back_owned<'m>(
        &self,
        merged: &Value,
        mut pruned: Value,
        managers: impl Iterator<Item = &'m Entry<'m>>,
        pruned_version: &str,
    ) -> Result<Value, ApplyError> {
        let mut owned: BTreeMap<&str, Set> = BTreeMap::new();
        for entry in managers {
            let at_version = owned.entry(&entry.api_version).or_default();
            *at_version = at_version.union(entry.held.set());
        }
        let first = owned.remove_entry(pruned_version);
        for (version, kept) in first.into_iter().chain(owned) {
            let (merged, left) = (self.at(merged, version)?, self.at(&pruned, version)?);
            let (Some((shape, merged)), Some((_, left))) = (merged, left) else {
                continue;
            };
            let kept = named_field_set(shape, &left).union(&kept.ensure_named_fields(shape));
            let gone = named_field_set(shape, &merged).difference(&kept);
            pruned = remove_items(shape, &merged, &gone);
        }
        Ok(pruned)
    }
}

fn named_field_set(shape: Shape<'_>, value: &Value) -> Set {
    field_set(shape, value).ensure_named_fields(shape)
}

/// Every manager but `own`.
fn others<'m>(
    managed: &'m Managed<'m>,
    own: Option<&'m str>,
) -> impl Iterator<Item = (&'m String, &'m Entry<'m>)> {
    let all = managed.0.iter();
    all.filter(move |(key, _)| Some(key.as_str()) != own)
}

/// What each manager but `own` holds of the fields that were written.
fn contested_sets(
    comparisons: &Comparisons,
    managed: &Managed<'_>,
    own: Option<&str>,
) -> BTreeMap<String, Set> {
    let written = comparisons.iter();
    let written = written.map(|(version, comparison)| (version, comparison.written()));
    let written: BTreeMap<&String, Set> = written.collect();
    let held = others(managed, own).filter_map(|(key, entry)| {
        let written = written.get(&entry.api_version)?;
        Some((key.clone(), entry.held.intersection(written)))
    });
    held.filter(|(_, set)| !set.is_empty()).collect()
}

fn list_contested(contested: &BTreeMap<String, Set>, managed: &Managed<'_>) -> Vec<Contested> {
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
    comparisons: &Comparisons,
    contested: &BTreeMap<String, Set>,
    managed: &mut Managed<'_>,
    own: Option<&str>,
) {
    for (key, entry) in &mut managed.0 {
        if Some(key.as_str()) == own {
            continue;
        }
        if let Some(lost) = contested.get(key) {
            entry.held.subtract(lost);
        }
        let gone = comparisons.get(&entry.api_version);
        let gone = gone.map(|comparison| &comparison.removed);
        if let Some(gone) = gone.filter(|gone| !gone.is_empty()) {
            entry.held.subtract(gone);
        }
    }
    managed.0.retain(|_, entry| !entry.held.is_empty());
}
