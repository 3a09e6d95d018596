//! What changed between two objects, field by field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::item::item_element;
use super::path::PathElement;
use super::set::Set;
use super::shape::{Kinds, ListKind, Shape};
use super::value::same;

/// The fields that differ between an old and a new object; no field is in two of the sets.
#[derive(Debug, Clone, Default)]
pub(super) struct Comparison {
    /// Only in the old one.
    pub(super) removed: Set,
    /// In both, with another value.
    pub(super) modified: Set,
    /// Only in the new one.
    pub(super) added: Set,
}

impl Comparison {
    /// The comparison without these fields and everything below them.
    pub(super) fn without(mut self, ignored: &Set) -> Comparison {
        for set in [&mut self.removed, &mut self.modified, &mut self.added] {
            set.subtract_recursively(ignored);
        }
        self
    }

    /// The fields that the new object sets.
    pub(super) fn written(&self) -> Set {
        self.modified.union(&self.added)
    }
}

/// Compares two values of one shape.
pub(super) fn compare(shape: Shape<'_>, old: &Value, new: &Value) -> Comparison {
    let mut walker = Walker {
        out: Comparison::default(),
        path: Vec::new(),
    };
    walker.visit(shape, Some(old), Some(new));
    walker.out
}

struct Walker {
    out: Comparison,
    path: Vec<PathElement>,
}

impl Walker {
    fn visit(&mut self, shape: Shape<'_>, old: Option<&Value>, new: Option<&Value>) {
        let kinds = shape.kinds();
        let (old_kinds, new_kinds) = (kinds.narrow(old), kinds.narrow(new));
        let was_leaf = if new.is_none() {
            self.visit_as(old_kinds, shape, old, new)
        } else if old.is_none() || old_kinds == new_kinds {
            self.visit_as(new_kinds, shape, old, new)
        } else {
            // The value changed its kind: it is seen once as each of them.
            self.visit_as(old_kinds, shape, old, new);
            self.visit_as(new_kinds, shape, old, new)
        };
        if !was_leaf {
            self.record_presence(old, new);
        }
    }

    fn record_presence(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (None, _) => self.out.added.insert(&self.path),
            (_, None) => self.out.removed.insert(&self.path),
            (Some(_), Some(_)) => {}
        }
    }

    /// Returns whether the node was taken as one value.
    fn visit_as(
        &mut self,
        kinds: Kinds,
        shape: Shape<'_>,
        old: Option<&Value>,
        new: Option<&Value>,
    ) -> bool {
        if kinds.map {
            let (old_map, new_map) = (as_map(old), as_map(new));
            let nothing = old_map.is_none() && new_map.is_none();
            if nothing || shape.map_is_atomic() {
                return self.leaf(old, new);
            }
            let names: BTreeSet<_> = old_map
                .iter()
                .chain(&new_map)
                .flat_map(|map| map.keys())
                .collect();
            for name in names {
                let (old, new) = (
                    old_map.and_then(|m| m.get(name)),
                    new_map.and_then(|m| m.get(name)),
                );
                // Most of an object is as it was, down to the last leaf.
                if old == new {
                    continue;
                }
                self.path.push(PathElement::field(name.as_str()));
                self.visit(shape.child(name), old, new);
                self.path.pop();
            }
            false
        } else if kinds.scalar.is_some() {
            self.leaf(old, new)
        } else if kinds.list {
            let (old_items, new_items) = (as_list(old), as_list(new));
            let nothing = old_items.is_empty() && new_items.is_empty();
            if nothing || shape.list_kind() == ListKind::Atomic {
                return self.leaf(old, new);
            }
            self.visit_items(shape, old_items, new_items);
            false
        } else {
            false
        }
    }

    fn leaf(&mut self, old: Option<&Value>, new: Option<&Value>) -> bool {
        match (old, new) {
            (Some(old), Some(new)) if !same(old, new) => self.out.modified.insert(&self.path),
            _ => self.record_presence(old, new),
        }
        true
    }

    fn visit_items(&mut self, shape: Shape<'_>, old: &[Value], new: &[Value]) {
        let (old, new) = (by_element(shape, old), by_element(shape, new));
        let elements: BTreeSet<_> = old.keys().chain(new.keys()).cloned().collect();
        for element in elements {
            let ours = old.get(&element).map_or(&[][..], Vec::as_slice);
            let theirs = new.get(&element).map_or(&[][..], Vec::as_slice);
            self.path.push(element);
            self.visit_item(shape.item(), ours, theirs);
            self.path.pop();
        }
    }

    /// Compares the items of one element: one of them, none, or several that cannot be told apart.
    fn visit_item(&mut self, shape: Shape<'_>, old: &[&Value], new: &[&Value]) {
        match (old, new) {
            ([] | [_], [] | [_]) => self.visit(shape, old.first().copied(), new.first().copied()),
            ([_, _, ..], [_, _, ..]) => {
                let equal = old.len() == new.len() && old.iter().zip(new).all(|(o, n)| same(o, n));
                if !equal {
                    self.out.modified.insert(&self.path);
                }
            }
            ([_, _, ..], [] | [_]) => {
                if let Some(one) = new.first() {
                    self.visit(shape, None, Some(one));
                }
                self.out.removed.insert(&self.path);
            }
            ([] | [_], [_, _, ..]) => {
                if let Some(one) = old.first() {
                    self.visit(shape, Some(one), None);
                }
                self.out.added.insert(&self.path);
            }
        }
    }
}

fn as_map(value: Option<&Value>) -> Option<&serde_json::Map<String, Value>> {
    value
        .and_then(Value::as_object)
        .filter(|map| !map.is_empty())
}

fn as_list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn by_element<'v>(shape: Shape<'_>, items: &'v [Value]) -> BTreeMap<PathElement, Vec<&'v Value>> {
    let mut out: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for item in items {
        if let Ok(element) = item_element(shape, item) {
            out.entry(element).or_default().push(item);
        }
    }
    out
}
