//! A short way through pruning and defaulting.
//!
//! Nearly every object has nothing that its schema does not know, and no null. To see that takes
//! one walk that changes nothing, and what is left to do is to put defaults in; for both, a schema
//! is put in a compact form once. Whatever is odd is left to [`super::prune`] and
//! [`super::default`], which do the same at length.

use serde_json::{Map, Value};

use super::defaulting::filled;
use super::prune::is_meta_field;
use super::text::by_length;
use super::{Schema, SchemaOrBool};

/// What pruning and defaulting need to know of one node of a schema.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Whether unknown fields stay, or the node is an object of its own: for the long way.
    is_odd: bool,
    /// In the order of [`by_length`].
    fields: Box<[(Box<str>, Plan)]>,
    others: Others,
    items: Option<Box<Plan>>,
    /// What fields get that are absent, with all defaults inside.
    defaults: Box<[(Box<str>, Value)]>,
    /// Whether there are defaults here or below.
    fills: bool,
}

/// What becomes of fields that have no name in the schema.
#[derive(Debug, Default)]
enum Others {
    #[default]
    Dropped,
    /// They stay, and whatever is inside them is dropped.
    Kept,
    Each(Box<Plan>),
}

impl Plan {
    /// Reads a schema.
    pub(super) fn of(schema: &Schema) -> Self {
        let children = schema.properties.iter();
        let mut fields: Box<[(Box<str>, Self)]> = children
            .map(|(name, child)| (name.as_str().into(), Self::of(child)))
            .collect();
        fields.sort_by(|(one, _), (other, _)| by_length(one, other));
        let others = match schema.additional_properties.as_deref() {
            Some(SchemaOrBool::Schema(each)) => Others::Each(Box::new(Self::of(each))),
            Some(SchemaOrBool::Bool(true)) => Others::Kept,
            Some(SchemaOrBool::Bool(false)) | None => Others::Dropped,
        };
        let items = schema.element().map(|items| Box::new(Self::of(items)));
        let defaults: Box<[_]> = schema
            .properties
            .iter()
            .filter_map(|(name, child)| Some((name.as_str().into(), filled(child)?)))
            .collect();
        let below = fields.iter().map(|(_, plan)| plan);
        let below = below.chain(others.each()).chain(items.as_deref());
        let fills = !defaults.is_empty() || below.into_iter().any(|plan| plan.fills);
        Self {
            is_odd: schema.preserve_unknown_fields || schema.embedded_resource,
            fills,
            fields,
            others,
            items,
            defaults,
        }
    }

    /// A plan that leaves everything to the long way.
    pub(super) fn unknown() -> Self {
        Self {
            is_odd: true,
            ..Self::default()
        }
    }

    /// Puts in what is absent, if there is nothing to drop; otherwise the object stays as it is
    /// and the answer is no.
    pub(super) fn settle(&self, object: &mut Value) -> bool {
        let Value::Object(map) = object else {
            return false;
        };
        let is_settled = !self.is_odd
            && map.iter().all(|(name, value)| match is_meta_field(name) {
                true => !has_null(value),
                false => self.settles_field(name, value),
            });
        if is_settled {
            self.fill(object);
        }
        is_settled
    }

    fn find(&self, name: &str) -> Option<&Self> {
        let place = |(known, _): &(Box<str>, Self)| by_length(known, name);
        let at = self.fields.binary_search_by(place).ok()?;
        Some(&self.fields[at].1)
    }

    fn settles_field(&self, name: &str, value: &Value) -> bool {
        match (self.find(name), &self.others) {
            (Some(plan), _) => plan.settles(value),
            (None, Others::Each(plan)) => plan.settles(value),
            (None, Others::Kept) => is_plain(value),
            (None, Others::Dropped) => false,
        }
    }

    /// Whether there is nothing to drop from a value.
    fn settles(&self, value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
            _ if self.is_odd => false,
            Value::Array(items) => match &self.items {
                Some(plan) => items.iter().all(|item| plan.settles(item)),
                None => items.iter().all(is_plain),
            },
            Value::Object(map) => map
                .iter()
                .all(|(name, value)| self.settles_field(name, value)),
        }
    }

    /// Puts defaults into a value without nulls.
    fn fill(&self, value: &mut Value) {
        if !self.fills {
            return;
        }
        match value {
            Value::Object(map) => self.fill_fields(map),
            Value::Array(items) => {
                if let Some(plan) = &self.items {
                    items.iter_mut().for_each(|item| plan.fill(item));
                }
            }
            _ => {}
        }
    }

    fn fill_fields(&self, map: &mut Map<String, Value>) {
        match &self.others {
            Others::Each(each) if each.fills => {
                for (name, value) in map.iter_mut() {
                    self.find(name).unwrap_or(each).fill(value);
                }
            }
            _ => {
                for (name, plan) in self.fields.iter().filter(|(_, plan)| plan.fills) {
                    if let Some(value) = map.get_mut(&**name) {
                        plan.fill(value);
                    }
                }
            }
        }
        for (name, default) in &self.defaults {
            if !map.contains_key(&**name) {
                map.insert((**name).to_owned(), default.clone());
            }
        }
    }
}

impl Others {
    fn each(&self) -> Option<&Plan> {
        match self {
            Self::Each(plan) => Some(plan),
            Self::Dropped | Self::Kept => None,
        }
    }
}

/// Whether there is nothing inside, and something there.
fn is_plain(value: &Value) -> bool {
    matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_))
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}
