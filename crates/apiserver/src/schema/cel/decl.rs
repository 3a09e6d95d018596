//! What a schema says of the size of values, as kube-apiserver estimates it: the most elements of
//! each part, and the fewest bytes of JSON that it can be.

use super::escape::escape;
use crate::schema::{Schema, SchemaOrBool};

/// The largest request, from which the size of what has no bound is estimated.
pub(super) const REQUEST: u64 = 3 * 1024 * 1024;

/// The longest text of a duration or a time, and of a date.
const TIME: u64 = 32;
const DATE: u64 = 12;

/// One part of a declared type.
#[derive(Debug, Clone, Copy)]
pub(super) enum Decl<'a> {
    /// What a schema declares; a whole object has type and names beside that.
    Of { schema: &'a Schema, whole: bool },
    /// The visible part of an object's metadata.
    Metadata,
    /// A text without bound.
    Text,
    /// The keys of a map, of which nothing is said.
    Key,
}

impl<'a> Decl<'a> {
    /// The part of this name: a field, or the items, keys or values of a list or map.
    pub(super) fn part(self, name: &str) -> Option<Self> {
        match (self, name) {
            (Self::Of { schema, .. }, "@items" | "@values") => {
                let element = match kind(schema) {
                    Kind::List => schema.element(),
                    Kind::Map(values) => Some(values),
                    _ => None,
                };
                element.map(|schema| Self::Of {
                    schema,
                    whole: schema.embedded_resource,
                })
            }
            (Self::Of { schema, .. }, "@keys") => {
                matches!(kind(schema), Kind::Map(_)).then_some(Self::Key)
            }
            (Self::Of { schema, whole }, _) => match kind(schema) {
                Kind::Object if whole && matches!(name, "apiVersion" | "kind") => Some(Self::Text),
                Kind::Object if whole && name == "metadata" => Some(Self::Metadata),
                Kind::Object => {
                    let mut fields = schema.properties.iter();
                    let found = fields.find(|(key, _)| escape(key).as_deref() == Some(name));
                    let (_, schema) = found.filter(|(_, schema)| kind(schema) != Kind::None)?;
                    Some(Self::Of {
                        schema,
                        whole: schema.embedded_resource,
                    })
                }
                _ => None,
            },
            (Self::Metadata, "name" | "generateName") => Some(Self::Text),
            (Self::Metadata | Self::Text | Self::Key, _) => None,
        }
    }

    /// The most characters, items or entries; zero where that says nothing.
    pub(super) fn most(self) -> u64 {
        let Self::Of { schema, .. } = self else {
            return if matches!(self, Self::Text) {
                REQUEST - 2
            } else {
                0
            };
        };
        // A character has up to four bytes.
        let characters = || schema.max_length.map(|most| most.saturating_mul(4));
        match kind(schema) {
            Kind::List => schema
                .max_items
                .unwrap_or_else(|| (REQUEST - 2) / (schema.element().map_or(1, least_size) + 1)),
            Kind::Map(values) => schema
                .max_properties
                .unwrap_or_else(|| (REQUEST - 2) / (least_size(values) + 6)),
            Kind::IntOrText => characters().unwrap_or(REQUEST - 2),
            Kind::Text => match schema.format.as_deref() {
                Some("byte") => schema.max_length.unwrap_or(REQUEST - 2),
                Some("duration" | "date-time") => TIME,
                Some("date") => DATE,
                _ => characters().unwrap_or_else(|| {
                    let choices = schema.enum_values.iter().filter_map(|v| v.as_str());
                    let longest = choices.map(|text| text.len() as u64).max();
                    match longest {
                        None if schema.enum_values.is_empty() => REQUEST - 2,
                        longest => longest.unwrap_or(0),
                    }
                }),
            },
            Kind::Object | Kind::Scalar | Kind::None => 0,
        }
    }
}

/// How often the value of a node can be in one object, when nothing bounds that.
pub(super) fn most_often(schema: &Schema) -> u64 {
    REQUEST / (least_size(schema) + 1)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind<'a> {
    List,
    Map(&'a Schema),
    Object,
    Text,
    IntOrText,
    Scalar,
    /// Nothing that rules can see.
    None,
}

fn kind(schema: &Schema) -> Kind<'_> {
    if schema.int_or_string {
        return Kind::IntOrText;
    }
    match schema.ty.as_deref() {
        Some("array") => match schema.element() {
            Some(items) if kind(items) != Kind::None => Kind::List,
            _ => Kind::None,
        },
        Some("object") => match schema.additional_properties.as_deref() {
            Some(SchemaOrBool::Schema(values)) if kind(values) == Kind::None => Kind::None,
            Some(SchemaOrBool::Schema(values)) => Kind::Map(values),
            _ => Kind::Object,
        },
        Some("string") => Kind::Text,
        Some("boolean" | "number" | "integer") => Kind::Scalar,
        _ => Kind::None,
    }
}

/// The fewest bytes of JSON that a value of a node can be.
fn least_size(schema: &Schema) -> u64 {
    match kind(schema) {
        Kind::List | Kind::Map(_) => 2,
        Kind::Object => {
            let required = schema.required.iter().filter_map(|name| {
                let child = schema.properties.get(name)?;
                let counts = child.default.is_none() && kind(child) != Kind::None;
                counts.then(|| name.len() as u64 + least_size(child) + 4)
            });
            2 + required.sum::<u64>()
        }
        Kind::Text => match schema.format.as_deref() {
            Some("duration") => 3,
            Some("date") => DATE,
            Some("date-time") => 21,
            _ => 2,
        },
        Kind::Scalar if schema.ty.as_deref() == Some("boolean") => 4,
        Kind::Scalar | Kind::IntOrText | Kind::None => 1,
    }
}
