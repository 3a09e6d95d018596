//! The types of CEL, as far as a schema fixes them, and how large their values can be.

use crate::schema::{Schema, format};

/// The largest request, from which the size of what has no bound is estimated.
const REQUEST: u64 = 3 * 1024 * 1024;

/// A type. What is not known is dynamic, and dynamic fits everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Type<'a> {
    Dyn,
    /// An integer or a string: dynamic, with a bound where the schema has one.
    Either {
        most: u64,
    },
    Bool,
    Int,
    Uint,
    Double,
    Text {
        most: u64,
    },
    Bytes {
        most: u64,
    },
    Null,
    Timestamp,
    Duration,
    /// A list whose items have a schema.
    List {
        items: Option<&'a Schema>,
        most: u64,
    },
    Map {
        values: Option<&'a Schema>,
        most: u64,
    },
    /// An object with fields of its own; a whole object also has type and names.
    Object {
        schema: &'a Schema,
        whole: bool,
    },
    /// The visible part of an object's metadata.
    Metadata,
    /// An optional value.
    Optional,
}

impl<'a> Type<'a> {
    /// The type of the values of a node.
    pub(super) fn of(schema: &'a Schema, whole: bool) -> Self {
        if schema.int_or_string {
            let most = schema.max_length.map(|most| most.saturating_mul(4));
            return Self::Either {
                most: most.unwrap_or(REQUEST - 2),
            };
        }
        match schema.ty.as_deref() {
            Some("boolean") => Self::Bool,
            Some("integer") => Self::Int,
            Some("number") => Self::Double,
            Some("string") => {
                let longest = schema.enum_values.iter().filter_map(|v| v.as_str());
                // A character has up to four bytes.
                let most = match longest.map(|text| text.len() as u64).max() {
                    Some(longest) => longest,
                    None => schema
                        .max_length
                        .map_or(REQUEST - 2, |most| most.saturating_mul(4)),
                };
                let format = format::effective(schema).map(|f| f.replace('-', ""));
                match format.as_deref() {
                    Some("datetime" | "date") => Self::Timestamp,
                    Some("duration") => Self::Duration,
                    Some("byte") => Self::Bytes { most },
                    _ => Self::Text { most },
                }
            }
            Some("array") => Self::List {
                items: schema.element(),
                most: schema
                    .max_items
                    .unwrap_or_else(|| many(schema.element().map_or(1, least_size))),
            },
            Some("object") => match schema.map_value() {
                Some(values) if schema.properties.is_empty() => Self::Map {
                    values: Some(values),
                    most: schema
                        .max_properties
                        .unwrap_or_else(|| many(least_size(values) + 4)),
                },
                _ if schema.properties.is_empty() && schema.preserve_unknown_fields && !whole => {
                    Self::Dyn
                }
                _ => Self::Object { schema, whole },
            },
            _ => Self::Dyn,
        }
    }

    /// The type of the items of a list, or of the values of a map.
    pub(super) fn element(self) -> Type<'a> {
        match self {
            Self::List {
                items: Some(schema),
                ..
            }
            | Self::Map {
                values: Some(schema),
                ..
            } => Self::of(schema, schema.embedded_resource),
            _ => Self::Dyn,
        }
    }

    /// How many characters, items or entries a value has at most.
    pub(super) fn most(self) -> u64 {
        match self {
            Self::Text { most } | Self::Bytes { most } | Self::Either { most } => most,
            Self::List { most, .. } | Self::Map { most, .. } => most,
            Self::Dyn | Self::Object { .. } | Self::Optional => many(1),
            _ => 1,
        }
    }

    /// The name that the language has for it.
    pub(super) fn name(self) -> String {
        match self {
            Self::Dyn | Self::Either { .. } => "dyn".into(),
            Self::Bool => "bool".into(),
            Self::Int => "int".into(),
            Self::Uint => "uint".into(),
            Self::Double => "double".into(),
            Self::Text { .. } => "string".into(),
            Self::Bytes { .. } => "bytes".into(),
            Self::Null => "null".into(),
            Self::Timestamp => "timestamp".into(),
            Self::Duration => "duration".into(),
            Self::List { .. } => format!("list({})", self.element().name()),
            Self::Map { .. } => format!("map(string, {})", self.element().name()),
            Self::Object { .. } | Self::Metadata => "object".into(),
            Self::Optional => "optional_type(dyn)".into(),
        }
    }

    /// Whether values of both can be the same.
    pub(super) fn fits(self, other: Type<'_>) -> bool {
        match (self, other) {
            (Self::Dyn | Self::Either { .. } | Self::Null | Self::Optional, _)
            | (_, Type::Dyn | Type::Either { .. } | Type::Null | Type::Optional) => true,
            (
                Self::Object { .. } | Self::Metadata,
                Type::Object { .. } | Type::Map { .. } | Type::Metadata,
            )
            | (Self::Map { .. }, Type::Object { .. } | Type::Metadata) => true,
            (Self::List { .. }, Type::List { .. }) | (Self::Map { .. }, Type::Map { .. }) => {
                self.element().fits(other.element())
            }
            _ => std::mem::discriminant(&self.erased()) == std::mem::discriminant(&other.erased()),
        }
    }

    /// Without what it borrows, so that two can be compared.
    fn erased(self) -> Type<'static> {
        match self {
            Self::Dyn | Self::Either { .. } => Type::Dyn,
            Self::Bool => Type::Bool,
            Self::Int => Type::Int,
            Self::Uint => Type::Uint,
            Self::Double => Type::Double,
            Self::Text { most } => Type::Text { most },
            Self::Bytes { most } => Type::Bytes { most },
            Self::Null => Type::Null,
            Self::Timestamp => Type::Timestamp,
            Self::Duration => Type::Duration,
            Self::List { most, .. } => Type::List { items: None, most },
            Self::Map { most, .. } => Type::Map { values: None, most },
            Self::Object { .. } | Self::Metadata => Type::Metadata,
            Self::Optional => Type::Optional,
        }
    }

    /// Whether it is a number.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }
}

/// How many values of this least size fit into a request.
pub(super) fn many(least: u64) -> u64 {
    (REQUEST - 2) / (least + 1)
}

/// The fewest bytes of JSON that a value of a node can be.
fn least_size(schema: &Schema) -> u64 {
    match schema.ty.as_deref() {
        Some("string" | "array") => 2,
        Some("boolean") => 4,
        Some("object") => {
            let required = schema.required.iter().filter_map(|name| {
                let child = schema.properties.get(name)?;
                Some(name.len() as u64 + 3 + least_size(child))
            });
            2 + required.sum::<u64>()
        }
        _ => 1,
    }
}
