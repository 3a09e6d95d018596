//! Setting aside what a removal is not about: the fields and items that a set of paths does not speak of.
//!
//! A named field goes with the last of what is owned in it, and takes along what nobody owns. So
//! nothing is set aside of a field that may go: it must be known to have something that stays.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::item::item_element;
use super::path::PathElement;
use super::set::Set;
use super::shape::{ListKind, Shape};

/// How far down parts are set aside. Below that a part is looked at as a whole.
const LEVELS: usize = 3;

/// What was taken out of a value.
#[derive(Default)]
pub(super) struct Aside {
    fields: Map<String, Value>,
    /// What was taken out of the fields that stay.
    below: Vec<(String, Aside)>,
    /// The items of a list, in their order.
    items: Vec<Place>,
}

/// The place of an item in a list.
enum Place {
    /// It was taken out.
    Taken(Value),
    /// It stays, if it is not removed.
    Left(PathElement),
}

/// Takes out of an object what the dropped paths do not speak of; the stated ones stay in any case.
pub(super) fn take(object: &mut Value, shape: Shape<'_>, dropped: &Set, stated: &Set) -> Aside {
    take_from(object, shape, (dropped, stated), LEVELS)
}

fn take_from(value: &mut Value, shape: Shape<'_>, sets: (&Set, &Set), levels: usize) -> Aside {
    match value {
        _ if levels == 0 => Aside::default(),
        // What is one value is dropped or kept as one.
        Value::Object(fields) if !shape.map_is_atomic() => take_fields(fields, shape, sets, levels),
        Value::Array(items) if shape.list_kind() != ListKind::Atomic => {
            take_items(items, shape, sets.0)
        }
        _ => Aside::default(),
    }
}

fn take_fields(
    fields: &mut Map<String, Value>,
    shape: Shape<'_>,
    (dropped, stated): (&Set, &Set),
    levels: usize,
) -> Aside {
    let mut aside = Aside::default();
    let all = std::mem::take(fields);
    for (name, mut field) in all {
        let is_identity = levels == LEVELS && ["apiVersion", "kind"].contains(&name.as_str());
        if !is_identity && !dropped.speaks_of(&name) {
            aside.fields.insert(name, field);
            continue;
        }
        let element = PathElement::field(name.as_str());
        let stays = stated.children.get(&element);
        if let (Some(goes), Some(stays)) = (dropped.children.get(&element), stays) {
            let taken = take_from(&mut field, shape.child(&name), (goes, stays), levels - 1);
            aside.below.push((name.clone(), taken));
        }
        fields.insert(name, field);
    }
    aside
}

fn take_items(items: &mut Vec<Value>, shape: Shape<'_>, dropped: &Set) -> Aside {
    let elements: Option<Vec<_>> = items.iter().map(|i| item_element(shape, i).ok()).collect();
    // Items that cannot be told apart are looked at together.
    let Some(elements) = elements.filter(|all| !has_repeated(all)) else {
        return Aside::default();
    };
    let all = std::mem::take(items).into_iter().zip(elements);
    let places = all.map(|(item, element)| {
        if dropped.members.contains(&element) || dropped.children.contains_key(&element) {
            items.push(item);
            Place::Left(element)
        } else {
            Place::Taken(item)
        }
    });
    Aside {
        items: places.collect(),
        ..Aside::default()
    }
}

fn has_repeated(elements: &[PathElement]) -> bool {
    let mut sorted: Vec<_> = elements.iter().collect();
    sorted.sort();
    sorted.windows(2).any(|two| two[0] == two[1])
}

/// Puts what was taken out back in.
pub(super) fn put_back(value: &mut Value, shape: Shape<'_>, aside: Aside) {
    if aside.is_empty() {
        return;
    }
    let Aside {
        fields,
        below,
        items,
    } = aside;
    if !items.is_empty() {
        put_items(value, shape, items);
        return;
    }
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Some(object) = value.as_object_mut() else {
        return;
    };
    object.extend(fields);
    for (name, aside) in below {
        if !aside.is_empty() {
            let child = shape.child(&name);
            put_back(object.entry(name).or_insert(Value::Null), child, aside);
        }
    }
}

fn put_items(value: &mut Value, shape: Shape<'_>, places: Vec<Place>) {
    let left = match value.take() {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    let left = left.into_iter();
    let left = left.filter_map(|item| Some((item_element(shape, &item).ok()?, item)));
    let mut left: BTreeMap<PathElement, Value> = left.collect();
    let items = places.into_iter().filter_map(|place| match place {
        Place::Taken(item) => Some(item),
        Place::Left(element) => left.remove(&element),
    });
    *value = Value::Array(items.collect());
}

impl Aside {
    /// Whether nothing was taken out.
    fn is_empty(&self) -> bool {
        let taken = |place: &Place| matches!(place, Place::Taken(_));
        self.fields.is_empty()
            && !self.items.iter().any(taken)
            && self.below.iter().all(|(_, aside)| aside.is_empty())
    }
}
