//! The types of CEL, as far as a schema fixes them.

use std::collections::HashMap;

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::Expr;

use super::scope;
use crate::schema::{Schema, format};

/// A type. What is not known is dynamic, and dynamic fits everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Type<'a> {
    Dyn,
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Null,
    Timestamp,
    Duration,
    List {
        items: Item<'a>,
    },
    Map {
        values: Item<'a>,
    },
    /// An object with fields of its own; a whole object also has type and names.
    Object {
        schema: &'a Schema,
        whole: bool,
    },
    /// The visible part of an object's metadata.
    Metadata,
    /// A value that may be absent.
    Optional {
        of: Item<'a>,
    },
    /// A type of the Kubernetes libraries.
    Opaque(Opaque),
}

/// What is in a list, a map, or an optional.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Item<'a> {
    Unknown,
    /// What a schema declares.
    Of(&'a Schema),
    Plain(Plain),
}

/// A type that needs no more words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Plain {
    Bool,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    Timestamp,
    Duration,
    List,
    Map,
    Metadata,
    Opaque(Opaque),
}

/// The types of the Kubernetes libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opaque {
    Quantity,
    Ip,
    Cidr,
    Url,
    Semver,
    Format,
}

impl<'a> Item<'a> {
    /// The type as something that is within another.
    pub(super) fn from(ty: Type<'a>) -> Self {
        let plain = match ty {
            Type::Object { schema, .. } => return Self::Of(schema),
            Type::Dyn | Type::Null | Type::Optional { .. } => return Self::Unknown,
            Type::Bool => Plain::Bool,
            Type::Int => Plain::Int,
            Type::Uint => Plain::Uint,
            Type::Double => Plain::Double,
            Type::Text => Plain::Text,
            Type::Bytes => Plain::Bytes,
            Type::Timestamp => Plain::Timestamp,
            Type::Duration => Plain::Duration,
            Type::List { .. } => Plain::List,
            Type::Map { .. } => Plain::Map,
            Type::Metadata => Plain::Metadata,
            Type::Opaque(opaque) => Plain::Opaque(opaque),
        };
        Self::Plain(plain)
    }

    /// The type of what is within.
    pub(super) fn ty(self) -> Type<'a> {
        match self {
            Self::Unknown => Type::Dyn,
            Self::Of(schema) => Type::of(schema, schema.embedded_resource),
            Self::Plain(plain) => match plain {
                Plain::Bool => Type::Bool,
                Plain::Int => Type::Int,
                Plain::Uint => Type::Uint,
                Plain::Double => Type::Double,
                Plain::Text => Type::Text,
                Plain::Bytes => Type::Bytes,
                Plain::Timestamp => Type::Timestamp,
                Plain::Duration => Type::Duration,
                Plain::List => Type::LIST,
                Plain::Map => Type::Map {
                    values: Item::Unknown,
                },
                Plain::Metadata => Type::Metadata,
                Plain::Opaque(opaque) => Type::Opaque(opaque),
            },
        }
    }

    /// This, or the other where nothing is known of this.
    pub(super) fn or(self, other: Self) -> Self {
        match self {
            Self::Unknown => other,
            known => known,
        }
    }
}

impl<'a> Type<'a> {
    /// A list of whatever there may be.
    pub(super) const LIST: Self = Self::List {
        items: Item::Unknown,
    };

    /// The type of the values of a node.
    pub(super) fn of(schema: &'a Schema, whole: bool) -> Self {
        if schema.int_or_string {
            return Self::Dyn;
        }
        match schema.ty.as_deref() {
            Some("boolean") => Self::Bool,
            Some("integer") => Self::Int,
            Some("number") => Self::Double,
            Some("string") => {
                let format = format::effective(schema).map(|f| f.replace('-', ""));
                match format.as_deref() {
                    Some("datetime" | "date") => Self::Timestamp,
                    Some("duration") => Self::Duration,
                    Some("byte") => Self::Bytes,
                    _ => Self::Text,
                }
            }
            Some("array") => Self::List {
                items: schema.element().map_or(Item::Unknown, Item::Of),
            },
            Some("object") => match schema.map_value() {
                Some(values) if schema.properties.is_empty() => Self::Map {
                    values: Item::Of(values),
                },
                _ if schema.properties.is_empty() && schema.preserve_unknown_fields && !whole => {
                    Self::Dyn
                }
                _ => Self::Object { schema, whole },
            },
            _ => Self::Dyn,
        }
    }

    /// The type of the items of a list, of the values of a map, or of what may be there.
    pub(super) fn element(self) -> Type<'a> {
        match self {
            Self::List { items: item }
            | Self::Map { values: item }
            | Self::Optional { of: item } => item.ty(),
            _ => Self::Dyn,
        }
    }

    /// The name that the language has for it.
    pub(super) fn name(self) -> String {
        match self {
            Self::Dyn => "dyn".into(),
            Self::Bool => "bool".into(),
            Self::Int => "int".into(),
            Self::Uint => "uint".into(),
            Self::Double => "double".into(),
            Self::Text => "string".into(),
            Self::Bytes => "bytes".into(),
            Self::Null => "null".into(),
            Self::Timestamp => "timestamp".into(),
            Self::Duration => "duration".into(),
            Self::List { .. } => format!("list({})", self.element().name()),
            Self::Map { .. } => format!("map(string, {})", self.element().name()),
            Self::Object { .. } | Self::Metadata => "object".into(),
            Self::Optional { .. } => format!("optional_type({})", self.element().name()),
            Self::Opaque(opaque) => match opaque {
                Opaque::Quantity => "kubernetes.Quantity".into(),
                Opaque::Ip => "net.IP".into(),
                Opaque::Cidr => "net.CIDR".into(),
                Opaque::Url => "kubernetes.URL".into(),
                Opaque::Semver => "kubernetes.Semver".into(),
                Opaque::Format => "kubernetes.NamedFormat".into(),
            },
        }
    }

    /// Whether values of both can be the same.
    pub(super) fn fits(self, other: Type<'_>) -> bool {
        match (self, other) {
            (Self::Dyn | Self::Optional { .. }, _) | (_, Type::Dyn | Type::Optional { .. }) => true,
            (Self::Null, other) => other.is_nullable(),
            (own, Type::Null) => own.is_nullable(),
            (
                Self::Object { .. } | Self::Metadata,
                Type::Object { .. } | Type::Map { .. } | Type::Metadata,
            )
            | (Self::Map { .. }, Type::Object { .. } | Type::Metadata) => true,
            (Self::List { .. }, Type::List { .. }) | (Self::Map { .. }, Type::Map { .. }) => {
                self.element().fits(other.element())
            }
            (Self::Opaque(own), Type::Opaque(other)) => own == other,
            _ => std::mem::discriminant(&self.erased()) == std::mem::discriminant(&other.erased()),
        }
    }

    /// Whether a value of the other type may be one of this: the same, or not known.
    pub(super) fn may_be(self, other: Type<'_>) -> bool {
        self == Self::Dyn
            || std::mem::discriminant(&self.erased()) == std::mem::discriminant(&other.erased())
    }

    /// Whether null is among its values.
    fn is_nullable(self) -> bool {
        !matches!(
            self,
            Self::Bool
                | Self::Int
                | Self::Uint
                | Self::Double
                | Self::Text
                | Self::Bytes
                | Self::List { .. }
                | Self::Map { .. }
        )
    }

    /// Without what it borrows, so that two can be compared.
    fn erased(self) -> Type<'static> {
        let item = Item::Unknown;
        match self {
            Self::Dyn => Type::Dyn,
            Self::Bool => Type::Bool,
            Self::Int => Type::Int,
            Self::Uint => Type::Uint,
            Self::Double => Type::Double,
            Self::Text => Type::Text,
            Self::Bytes => Type::Bytes,
            Self::Null => Type::Null,
            Self::Timestamp => Type::Timestamp,
            Self::Duration => Type::Duration,
            Self::List { .. } => Type::List { items: item },
            Self::Map { .. } => Type::Map { values: item },
            Self::Object { .. } | Self::Metadata => Type::Metadata,
            Self::Optional { .. } => Type::Optional { of: item },
            Self::Opaque(opaque) => Type::Opaque(opaque),
        }
    }

    /// Whether it is a number.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::Uint | Self::Double)
    }

    /// Whether its values have a size of one.
    pub(super) fn is_scalar(self) -> bool {
        match self {
            Self::Bool
            | Self::Double
            | Self::Duration
            | Self::Int
            | Self::Timestamp
            | Self::Uint => true,
            Self::Optional { .. } => self.element().is_scalar(),
            _ => false,
        }
    }
}

/// The types of the parts of an expression.
#[derive(Debug, Default)]
pub(super) struct Types<'a> {
    known: HashMap<usize, Type<'a>>,
    /// The names of spaces of functions that stand where a value could.
    spaces: HashMap<usize, String>,
}

/// A part of an expression by its place in memory, which stays while the expression is looked at.
pub(super) fn key(expression: &IdedExpr) -> usize {
    std::ptr::from_ref(expression).addr()
}

impl<'a> Types<'a> {
    pub(super) fn set(&mut self, expression: &IdedExpr, ty: Type<'a>) {
        self.known.insert(key(expression), ty);
    }

    pub(super) fn of(&self, expression: &IdedExpr) -> Type<'a> {
        let known = self.known.get(&key(expression));
        known.copied().unwrap_or(Type::Dyn)
    }

    /// Notes that this is the name of a space of functions, if it is one.
    pub(super) fn note_space(&mut self, expression: &IdedExpr) -> bool {
        let Expr::Ident(name) = &expression.expr else {
            return false;
        };
        let is_space = scope::is_namespace(name);
        if is_space {
            self.spaces.insert(key(expression), name.clone());
        }
        is_space
    }

    /// The space of functions that stands here.
    pub(super) fn namespace(&self, expression: &IdedExpr) -> Option<&str> {
        self.spaces.get(&key(expression)).map(String::as_str)
    }
}
