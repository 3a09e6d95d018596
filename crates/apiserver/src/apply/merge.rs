//! Laying an applied configuration over an object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::item::item_element;
use super::path::PathElement;
use super::shape::{ListKind, Shape};

/// The live object with everything that `applied` states in it; nothing is removed.
pub(super) fn merge(shape: Shape<'_>, live: &Value, applied: &Value) -> Value {
    merge_node(shape, Some(live), Some(applied)).unwrap_or(Value::Null)
}

fn merge_node(shape: Shape<'_>, live: Option<&Value>, applied: Option<&Value>) -> Option<Value> {
    let leaf = || applied.or(live).cloned();
    // Both fit the schema: laid over nothing, each of them is itself.
    if live.is_none() || applied.is_none() {
        return leaf();
    }
    let kinds = shape.kinds().narrow(applied.or(live));
    if kinds.map {
        let (ours, theirs) = (as_map(live), as_map(applied));
        if shape.map_is_atomic() || (ours.is_none() && theirs.is_none()) {
            return leaf();
        }
        let names: BTreeSet<_> = ours
            .iter()
            .chain(&theirs)
            .flat_map(|map| map.keys())
            .collect();
        let fields = names.into_iter().filter_map(|name| {
            let (ours, theirs) = (
                ours.and_then(|m| m.get(name)),
                theirs.and_then(|m| m.get(name)),
            );
            let merged = merge_node(shape.child(name), ours, theirs)?;
            Some((name.clone(), merged))
        });
        let fields: Map<_, _> = fields.collect();
        (!fields.is_empty()).then_some(Value::Object(fields))
    } else if kinds.scalar.is_some() {
        leaf()
    } else if kinds.list {
        let (ours, theirs) = (as_list(live), as_list(applied));
        if shape.list_kind() == ListKind::Atomic || (ours.is_empty() && theirs.is_empty()) {
            return leaf();
        }
        let items = merge_items(shape, ours, theirs);
        (!items.is_empty()).then_some(Value::Array(items))
    } else {
        None
    }
}

/// Merges two lists item by item: in the order of the applied list where it has a say, and in
/// the live order elsewhere.
fn merge_items(shape: Shape<'_>, live: &[Value], applied: &[Value]) -> Vec<Value> {
    let (ours, theirs) = (Indexed::new(shape, live), Indexed::new(shape, applied));
    let common = theirs.order.iter().map(|(element, _)| element);
    let mut next_common = common
        .filter(|element| ours.by_element.contains_key(element))
        .peekable();

    let mut out = Vec::new();
    let mut emit = |mine: Option<&Value>, new: Option<&Value>| {
        out.extend(merge_node(shape.item(), mine, new));
    };
    let mut placed = BTreeSet::new();
    let (mut mine, mut new) = (0, 0);
    loop {
        let (here, there) = (ours.order.get(mine), theirs.order.get(new));
        if let (Some((element, _)), Some((wanted, _))) = (here, there) {
            if element == wanted {
                placed.insert(element);
                emit(ours.get(element), theirs.get(element));
                next_common.next();
                (mine, new) = (mine + 1, new + 1);
                continue;
            }
            let its_turn = next_common.peek().is_none_or(|next| *next == element);
            if theirs.by_element.contains_key(element) && !its_turn {
                // It is in both lists, and comes later in the applied one.
                mine += 1;
                continue;
            }
        }
        if let Some((element, item)) = here {
            if !theirs.by_element.contains_key(element) {
                emit(Some(item), None);
                mine += 1;
                continue;
            }
            if placed.contains(element) {
                mine += 1;
            }
        }
        match there {
            Some((wanted, _)) => {
                placed.insert(wanted);
                emit(ours.get(wanted), theirs.get(wanted));
                new += 1;
                next_common.next_if(|next| *next == wanted);
            }
            None if here.is_none() => return out,
            None => {}
        }
    }
}

/// A list with its items by their element.
struct Indexed<'v> {
    order: Vec<(PathElement, &'v Value)>,
    by_element: BTreeMap<PathElement, &'v Value>,
}

impl<'v> Indexed<'v> {
    fn new(shape: Shape<'_>, items: &'v [Value]) -> Self {
        let known = items
            .iter()
            .filter_map(|item| Some((item_element(shape, item).ok()?, item)));
        let order: Vec<_> = known.collect();
        let mut by_element = BTreeMap::new();
        for (element, item) in &order {
            // Items that cannot be told apart are replaced, not merged: none of them counts.
            let repeated = by_element.contains_key(element);
            by_element.insert(element.clone(), if repeated { &Value::Null } else { *item });
        }
        Self { order, by_element }
    }

    fn get(&self, element: &PathElement) -> Option<&'v Value> {
        self.by_element.get(element).copied()
    }
}

fn as_map(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value
        .and_then(Value::as_object)
        .filter(|map| !map.is_empty())
}

fn as_list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
