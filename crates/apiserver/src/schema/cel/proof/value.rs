//! What rules see of an object, read where it lies: the same as [`super::super::convert`] makes
//! of it, or nothing.

use std::rc::Rc;

use serde_json::{Map, Value};

use crate::schema::cel::escape::escape;
use crate::schema::{Schema, format};

/// A value of an expression.
#[derive(Debug, Clone)]
pub(super) enum Seen<'a> {
    Bool(bool),
    Int(i64),
    Text(&'a str),
    /// A list that the expression made.
    Made(Rc<Vec<Seen<'a>>>),
    Items(&'a [Value], View<'a>),
    Fields(&'a Map<String, Value>, View<'a>),
}

/// How a value is to be read.
#[derive(Debug, Clone, Copy)]
pub(super) enum View<'a> {
    /// As the schema says; perhaps as an object with type and metadata.
    Typed(&'a Schema, bool),
    /// As it is.
    Untyped,
    /// As the metadata of an object, of which rules may see the names.
    Metadata,
}

/// Whether a field goes by its own name.
pub(super) fn is_plain(name: &str) -> bool {
    !name.contains("__") && escape(name).is_some_and(|escaped| escaped == name)
}

impl<'a> View<'a> {
    fn child(schema: &'a Schema) -> Self {
        Self::Typed(schema, schema.embedded_resource)
    }

    fn element(self) -> Self {
        match self {
            Self::Typed(schema, _) => schema.element().map_or(Self::Untyped, Self::child),
            Self::Untyped | Self::Metadata => Self::Untyped,
        }
    }

    fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Typed(one, whole), Self::Typed(other, also)) => {
                std::ptr::eq(one, other) && whole == also
            }
            (Self::Untyped, Self::Untyped) | (Self::Metadata, Self::Metadata) => true,
            _ => false,
        }
    }
}

impl<'a> Seen<'a> {
    /// A value as rules see it; nothing for those that are of a type of their own.
    pub(super) fn of(value: &'a Value, view: View<'a>) -> Option<Self> {
        Some(match value {
            Value::Null => return None,
            Value::Bool(yes) => Self::Bool(*yes),
            Value::Number(number) => match view {
                View::Typed(schema, _) if schema.ty.as_deref() == Some("number") => return None,
                _ => Self::Int(number.as_i64()?),
            },
            Value::String(text) => match view {
                View::Typed(schema, _) if is_parsed(schema) => return None,
                _ => Self::Text(text),
            },
            Value::Array(items) => Self::Items(items, view),
            Value::Object(fields) => Self::Fields(fields, view),
        })
    }

    /// A field, if rules see it, with how it is to be read. `name` is plain, or there is no proof.
    pub(super) fn place(&self, name: &str) -> Option<Option<(&'a Value, View<'a>)>> {
        let Self::Fields(fields, view) = *self else {
            return None;
        };
        let Some(value) = fields.get(name) else {
            return Some(None);
        };
        let view = match view {
            View::Untyped => Some(View::Untyped),
            View::Metadata => matches!(name, "name" | "generateName").then_some(View::Untyped),
            View::Typed(_, true) if matches!(name, "apiVersion" | "kind") => Some(View::Untyped),
            View::Typed(_, true) if name == "metadata" => Some(View::Metadata),
            View::Typed(schema, whole) => match schema.child(name) {
                Some(child) => Some(View::child(child)),
                None if schema.preserve_unknown_fields && !whole => Some(View::Untyped),
                None => None,
            },
        };
        Some(view.map(|view| (value, view)))
    }

    pub(super) fn is_true(&self) -> Option<bool> {
        match self {
            Self::Bool(yes) => Some(*yes),
            _ => None,
        }
    }

    /// Whether two values of the same type are equal. Of what is made of parts it is only known
    /// when it is the same.
    pub(super) fn equals(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Bool(one), Self::Bool(other)) => Some(one == other),
            (Self::Int(one), Self::Int(other)) => Some(one == other),
            (Self::Text(one), Self::Text(other)) => Some(one == other),
            (Self::Items(one, view), Self::Items(other, also)) => {
                (view.is_same(*also) && one == other).then_some(true)
            }
            (Self::Fields(one, view), Self::Fields(other, also)) => {
                (view.is_same(*also) && one == other).then_some(true)
            }
            _ => None,
        }
    }

    /// How many characters, items or entries there are.
    pub(super) fn size(&self) -> Option<usize> {
        match self {
            Self::Text(text) => text.is_ascii().then_some(text.len()),
            Self::Made(items) => Some(items.len()),
            Self::Items(items, _) => Some(items.len()),
            Self::Fields(fields, view) => visible(fields, *view),
            Self::Bool(_) | Self::Int(_) => None,
        }
    }

    /// What looking at every part costs, in tenths, as the interpreter counts it.
    pub(super) fn length(&self) -> Option<usize> {
        match self {
            Self::Bool(_) | Self::Int(_) => Some(0),
            Self::Text(text) => Some(text.len()),
            Self::Made(_) | Self::Items(..) | Self::Fields(..) => {
                self.size().map(|size| size.saturating_mul(10))
            }
        }
    }

    /// The items of a list, or the keys of a map.
    pub(super) fn items(&self) -> Option<Vec<Self>> {
        match self {
            Self::Made(items) => Some(items.as_ref().clone()),
            Self::Items(items, view) => {
                let element = view.element();
                items.iter().map(|item| Self::of(item, element)).collect()
            }
            Self::Fields(fields, view) => {
                let keys = fields.keys().map(|key| Self::Text(key));
                is_map(*view).then(|| keys.collect())
            }
            Self::Bool(_) | Self::Int(_) | Self::Text(_) => None,
        }
    }

    /// The item at a place.
    pub(super) fn item(&self, index: i64) -> Option<Self> {
        let index = usize::try_from(index).ok()?;
        match self {
            Self::Made(items) => items.get(index).cloned(),
            Self::Items(items, view) => Self::of(items.get(index)?, view.element()),
            _ => None,
        }
    }

    /// The name of the type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Text(_) => "string",
            Self::Made(_) | Self::Items(..) => "list",
            Self::Fields(..) => "map",
        }
    }
}

/// Whether texts are made into times, durations or bytes.
fn is_parsed(schema: &Schema) -> bool {
    schema.format.as_deref().is_some_and(|format| {
        matches!(
            &*format::without_dashes(format),
            "datetime" | "date" | "duration" | "byte"
        )
    })
}

/// Whether the keys are data, all of which rules see as they are.
fn is_map(view: View<'_>) -> bool {
    matches!(view, View::Typed(schema, false)
        if schema.properties.is_empty() && schema.map_value().is_some())
}

/// How many fields rules see.
fn visible(fields: &Map<String, Value>, view: View<'_>) -> Option<usize> {
    if is_map(view) {
        return Some(fields.len());
    }
    let is_visible = |name: &String| match view {
        View::Typed(_, true) => None,
        View::Metadata => Some(matches!(name.as_str(), "name" | "generateName")),
        _ if !is_plain(name) => None,
        View::Untyped => Some(true),
        View::Typed(schema, false) => {
            Some(schema.child(name).is_some() || schema.preserve_unknown_fields)
        }
    };
    let seen: Option<Vec<bool>> = fields.keys().map(is_visible).collect();
    Some(seen?.into_iter().filter(|visible| *visible).count())
}
