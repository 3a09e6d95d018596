//! What a schema says about merging: which kinds of value a node may hold, and how they merge.
//!
//! This is the only file of the module that reads [`Schema`]; the walkers ask a [`Shape`].

use serde_json::Value;

use super::object_meta::object_meta;
use crate::schema::{Schema, SchemaOrBool};

/// The type of one node, as field management sees it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape<'a> {
    /// A node that the schema describes.
    Node {
        /// Its description.
        schema: &'a Schema,
        /// Whether it or a node above it keeps unknown fields.
        preserve: bool,
        /// Whether it is a whole object with `apiVersion`, `kind` and `metadata`.
        object: bool,
    },
    /// A string that the schema does not describe but every object has.
    Text,
    /// A node without a description: maps merge by key, lists are atomic.
    Deduced,
    /// A node below an undescribed list: all of it is one value.
    Atomic,
    /// A field that may not exist.
    Undeclared,
}

/// How a list merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind<'a> {
    /// As one value.
    Atomic,
    /// By the values of its items.
    Set,
    /// By these fields of its items.
    Map(&'a [String]),
}

/// Which scalars a node accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    /// Integers and floats.
    Numeric,
    /// Strings.
    Text,
    /// `true` and `false`.
    Boolean,
    /// Any of them.
    Any,
}

/// The kinds of value that a node may hold, or the one among them that a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) map: bool,
    pub(super) scalar: Option<Scalar>,
    pub(super) list: bool,
}

impl Kinds {
    const NONE: Kinds = Kinds {
        map: false,
        scalar: None,
        list: false,
    };

    /// The kind that the value has, when the node allows it; else all of them, because an absent
    /// or null value takes the form of whatever it is held against.
    pub(super) fn narrow(self, value: Option<&Value>) -> Kinds {
        match value {
            Some(Value::Object(_)) if self.map => Kinds {
                map: true,
                ..Self::NONE
            },
            Some(Value::Array(_)) if self.list => Kinds {
                list: true,
                ..Self::NONE
            },
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) if self.scalar.is_some() => {
                Kinds {
                    scalar: self.scalar,
                    ..Self::NONE
                }
            }
            _ => self,
        }
    }
}

impl<'a> Shape<'a> {
    /// The shape of a whole object.
    pub(super) fn root(schema: &'a Schema) -> Self {
        Self::Node {
            schema,
            preserve: schema.preserve_unknown_fields,
            object: true,
        }
    }

    fn of(schema: &'a Schema, inherited: bool) -> Self {
        let preserve = inherited || schema.preserve_unknown_fields;
        Self::Node {
            schema,
            preserve,
            object: schema.embedded_resource,
        }
    }

    /// The kinds of value allowed here.
    pub(super) fn kinds(self) -> Kinds {
        let any = Kinds {
            map: true,
            scalar: Some(Scalar::Any),
            list: true,
        };
        let schema = match self {
            Self::Node { schema, .. } => schema,
            Self::Text => {
                return Kinds {
                    scalar: Some(Scalar::Text),
                    ..Kinds::NONE
                };
            }
            Self::Deduced | Self::Atomic => return any,
            Self::Undeclared => return Kinds::NONE,
        };
        let scalar = match schema.ty.as_deref() {
            Some("object") => {
                return Kinds {
                    map: true,
                    ..Kinds::NONE
                };
            }
            Some("array") => {
                return Kinds {
                    list: true,
                    ..Kinds::NONE
                };
            }
            Some("integer" | "number") => Scalar::Numeric,
            Some("boolean") => Scalar::Boolean,
            // A formatted string may stand for something that is not a string on the wire.
            Some("string") => match schema.format.as_deref() {
                None | Some("" | "byte") => Scalar::Text,
                Some(_) => Scalar::Any,
            },
            Some(_) => Scalar::Any,
            None => return any,
        };
        Kinds {
            scalar: Some(scalar),
            ..Kinds::NONE
        }
    }

    /// Whether the schema says that null may be there.
    pub(super) fn is_nullable(self) -> bool {
        matches!(self, Self::Node { schema, .. } if schema.nullable)
    }

    /// Whether a map here is one value.
    pub(super) fn map_is_atomic(self) -> bool {
        match self {
            Self::Node { schema, .. } => schema.map_type.as_deref() == Some("atomic"),
            Self::Atomic => true,
            Self::Text | Self::Deduced | Self::Undeclared => false,
        }
    }

    /// How a list here merges.
    pub(super) fn list_kind(self) -> ListKind<'a> {
        let Self::Node { schema, .. } = self else {
            return ListKind::Atomic;
        };
        match schema.list_type.as_deref() {
            Some("set") => ListKind::Set,
            Some("map") if schema.list_map_keys.is_empty() => ListKind::Set,
            Some("map") => ListKind::Map(&schema.list_map_keys),
            _ => ListKind::Atomic,
        }
    }

    /// The shape of a field that the schema names.
    pub(super) fn named_field(self, name: &str) -> Option<Shape<'a>> {
        let Self::Node {
            schema,
            preserve,
            object,
        } = self
        else {
            return None;
        };
        if object {
            match name {
                "apiVersion" | "kind" => return Some(Self::Text),
                "metadata" => return Some(Self::of(object_meta(), false)),
                _ => {}
            }
        }
        let field = schema.properties.get(name)?;
        Some(Self::of(field, preserve))
    }

    /// The shape of a field, named or not.
    pub(super) fn child(self, name: &str) -> Shape<'a> {
        self.named_field(name)
            .unwrap_or_else(|| self.unnamed_field())
    }

    fn unnamed_field(self) -> Shape<'a> {
        let (schema, preserve, object) = match self {
            Self::Node {
                schema,
                preserve,
                object,
            } => (schema, preserve, object),
            Self::Deduced => return Self::Deduced,
            Self::Atomic => return Self::Atomic,
            Self::Text | Self::Undeclared => return Self::Undeclared,
        };
        match schema.additional_properties.as_deref() {
            Some(SchemaOrBool::Schema(every)) => Self::of(every, preserve),
            Some(SchemaOrBool::Bool(true)) => Self::Deduced,
            Some(SchemaOrBool::Bool(false)) => Self::Undeclared,
            None if preserve => Self::Deduced,
            None if schema.properties.is_empty() && !object => Self::Deduced,
            // A whole object without any description is free below its three known fields.
            None if schema.properties.is_empty() && schema.ty.is_none() => Self::Deduced,
            None => Self::Undeclared,
        }
    }

    /// The shape of the items of a list here.
    pub(super) fn item(self) -> Shape<'a> {
        match self {
            Self::Node {
                schema, preserve, ..
            } => match schema.items.as_deref() {
                Some(items) => Self::of(items, preserve),
                None => Self::Atomic,
            },
            Self::Deduced | Self::Atomic => Self::Atomic,
            Self::Text | Self::Undeclared => Self::Undeclared,
        }
    }

    /// The value that a key field of this list item has when it is absent.
    pub(super) fn key_default(self, name: &str) -> Option<&'a Value> {
        match self {
            Self::Node { schema, .. } => schema.properties.get(name)?.default.as_ref(),
            _ => None,
        }
    }
}
