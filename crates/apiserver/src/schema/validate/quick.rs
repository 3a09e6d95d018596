//! A short way to know that an object is valid.
//!
//! Nearly every object is, and to say so takes neither paths nor words. What a schema asks is put
//! in a compact form once, and one walk over the object compares; whatever is wrong, or not known
//! to be right here, is left to [`super::value`], [`super::lists`] and [`super::embedded`], which
//! alone find faults and word them.

use regex::Regex;
use serde_json::{Map, Number, Value};

use super::Patterns;
use super::number::whole;
use super::value::is_same;
use crate::schema::format::{self, Check};
use crate::schema::text::by_length;
use crate::schema::{ListKind, Schema, SchemaOrBool};

/// The longest list whose items are compared with each other here.
const FEW: usize = 16;

/// What one node of a schema asks.
#[derive(Debug)]
pub(super) enum Quick {
    /// Something that is not known here: no value is known to be right.
    Unknown,
    Node(Box<Node>),
}

/// What a value may be, by the type that it has.
#[derive(Debug, Default)]
pub(super) struct Node {
    boolean: bool,
    text: Option<Text>,
    integer: Option<Integer>,
    number: bool,
    list: Option<List>,
    object: Option<Object>,
    /// The allowed values, or none if all are.
    allowed: Vec<Value>,
}

#[derive(Debug, Default)]
struct Text {
    min: u64,
    max: Option<u64>,
    pattern: Option<Regex>,
    format: Option<Check>,
}

#[derive(Debug)]
struct Integer {
    min: i64,
    max: i64,
}

#[derive(Debug)]
struct List {
    sizes: Sizes,
    /// Which fields tell the items apart, if they must differ.
    differ: Option<Vec<String>>,
    items: Option<Quick>,
}

#[derive(Debug)]
struct Object {
    sizes: Sizes,
    /// In the order of [`by_length`].
    properties: Box<[(Box<str>, Quick)]>,
    required: Vec<String>,
    others: Others,
}

/// What fields that have no name in the schema may be.
#[derive(Debug)]
enum Others {
    Anything,
    Nothing,
    Each(Quick),
}

#[derive(Debug)]
struct Sizes {
    min: u64,
    max: Option<u64>,
}

impl Sizes {
    fn admit(&self, size: usize) -> bool {
        let size = size as u64;
        size >= self.min && self.max.is_none_or(|max| size <= max)
    }
}

impl Quick {
    /// Reads a schema whose patterns are compiled.
    pub(super) fn of(schema: &Schema, patterns: &Patterns) -> Self {
        Node::of(schema, patterns).map_or(Self::Unknown, |node| Self::Node(Box::new(node)))
    }

    /// Whether the value is certainly right, and all below it.
    pub(super) fn admits(&self, value: &Value) -> bool {
        let Self::Node(node) = self else {
            return false;
        };
        let fits = match value {
            Value::Null => false,
            Value::Bool(_) => node.boolean,
            Value::String(text) => node.text.as_ref().is_some_and(|rule| rule.admits(text)),
            Value::Number(number) => node.admits_number(number),
            Value::Array(items) => node.list.as_ref().is_some_and(|rule| rule.admits(items)),
            Value::Object(map) => node.object.as_ref().is_some_and(|rule| rule.admits(map)),
        };
        fits && (node.allowed.is_empty() || node.allowed.iter().any(|one| is_same(one, value)))
    }
}

impl Node {
    fn of(schema: &Schema, patterns: &Patterns) -> Option<Self> {
        let alternatives = schema.any_of.len() + schema.one_of.len() + schema.all_of.len();
        let says_twice = schema.int_or_string && is_int_or_string(&schema.any_of);
        let is_plain = schema.not.is_none()
            && !schema.embedded_resource
            && !schema.unique_items
            && (alternatives == 0 || (says_twice && alternatives == schema.any_of.len()));
        if !is_plain {
            return None;
        }
        let mut node = Self {
            allowed: schema.enum_values.clone(),
            ..Self::default()
        };
        match schema.ty.as_deref() {
            _ if schema.int_or_string => {
                node.text = Text::of(schema, patterns);
                node.integer = Integer::of(schema);
            }
            Some("boolean") => node.boolean = true,
            Some("string") => node.text = Text::of(schema, patterns),
            Some("integer") => node.integer = Integer::of(schema),
            Some("number") => {
                node.number = schema.minimum.is_none()
                    && schema.maximum.is_none()
                    && schema.multiple_of.is_none()
                    && schema.format.is_none();
            }
            Some("array") => node.list = List::of(schema, patterns),
            Some("object") => node.object = Some(Object::of(schema, patterns)),
            _ => return None,
        }
        Some(node)
    }

    fn admits_number(&self, number: &Number) -> bool {
        match (number.as_i64(), &self.integer) {
            (Some(whole), Some(range)) => (range.min..=range.max).contains(&whole),
            _ => self.number,
        }
    }
}

/// Whether alternatives say no more than that a value is a number or a text.
fn is_int_or_string(alternatives: &[Schema]) -> bool {
    let plain = |name: &str| Schema {
        ty: Some(name.to_owned()),
        ..Schema::default()
    };
    alternatives == [plain("integer"), plain("string")]
}

impl Text {
    fn of(schema: &Schema, patterns: &Patterns) -> Option<Self> {
        let pattern = match schema.pattern.as_deref().filter(|text| !text.is_empty()) {
            Some(pattern) => Some(patterns.get(pattern)?.clone()),
            None => None,
        };
        Some(Self {
            min: schema.min_length.unwrap_or(0),
            max: schema.max_length,
            pattern,
            format: format::effective(schema).and_then(format::check_of),
        })
    }

    fn admits(&self, text: &str) -> bool {
        let long_enough = self.min == 0 || text.chars().count() as u64 >= self.min;
        // A text has no more characters than bytes.
        let fits = |max| text.len() as u64 <= max || text.chars().count() as u64 <= max;
        long_enough
            && self.max.is_none_or(fits)
            && self.pattern.as_ref().is_none_or(|p| p.is_match(text))
            && self.format.is_none_or(|is_right| is_right(text))
    }
}

impl Integer {
    fn of(schema: &Schema) -> Option<Self> {
        let is_plain =
            schema.multiple_of.is_none() && !schema.exclusive_minimum && !schema.exclusive_maximum;
        let bound = |bound: &Option<Number>, none: i64| match bound {
            Some(bound) => whole(bound),
            None => Some(none),
        };
        let is_short = !schema.int_or_string && format::effective(schema) == Some("int32");
        let (least, most) = match is_short {
            true => (i64::from(i32::MIN), i64::from(i32::MAX)),
            false => (i64::MIN, i64::MAX),
        };
        let (min, max) = (
            bound(&schema.minimum, least)?,
            bound(&schema.maximum, most)?,
        );
        is_plain.then(|| Self {
            min: min.max(least),
            max: max.min(most),
        })
    }
}

impl List {
    fn of(schema: &Schema, patterns: &Patterns) -> Option<Self> {
        Some(Self {
            sizes: Sizes {
                min: schema.min_items.unwrap_or(0),
                max: schema.max_items,
            },
            differ: match schema.list_kind() {
                ListKind::Atomic => None,
                ListKind::Set => Some(Vec::new()),
                ListKind::Map([]) => return None,
                ListKind::Map(keys) => Some(keys.to_vec()),
            },
            items: schema.element().map(|items| Quick::of(items, patterns)),
        })
    }

    fn admits(&self, items: &[Value]) -> bool {
        let all_right = |rule: &Quick| items.iter().all(|item| rule.admits(item));
        self.sizes.admit(items.len())
            && self.items.as_ref().is_none_or(all_right)
            && self.differ.as_ref().is_none_or(|by| all_differ(items, by))
    }
}

/// Whether no two items are the same by these fields, or by themselves if there are none.
fn all_differ(items: &[Value], by: &[String]) -> bool {
    // With fewer than two there is nothing to compare, but items must be objects to have keys.
    let is_comparable = |item: &Value| match by {
        [] => item.is_string(),
        keys => item.is_object() && keys.iter().all(|key| is_text_or_absent(item.get(key))),
    };
    let is_other = |one: &Value, other: &Value| match by {
        [] => one != other,
        keys => keys.iter().any(|key| one.get(key) != other.get(key)),
    };
    let before = |at: usize| items.iter().take(at);
    items.len() <= FEW
        && items.iter().all(is_comparable)
        && items
            .iter()
            .enumerate()
            .all(|(at, item)| before(at).all(|earlier| is_other(item, earlier)))
}

/// Texts are equal when they are the same; numbers can be written in several ways.
fn is_text_or_absent(value: Option<&Value>) -> bool {
    value.is_none_or(Value::is_string)
}

impl Object {
    fn of(schema: &Schema, patterns: &Patterns) -> Self {
        let properties = schema.properties.iter();
        let mut properties: Vec<(Box<str>, Quick)> = properties
            .map(|(name, child)| (name.as_str().into(), Quick::of(child, patterns)))
            .collect();
        properties.sort_by(|(one, _), (other, _)| by_length(one, other));
        Self {
            sizes: Sizes {
                min: schema.min_properties.unwrap_or(0),
                max: schema.max_properties,
            },
            properties: properties.into(),
            required: schema.required.clone(),
            others: match schema.additional_properties.as_deref() {
                Some(SchemaOrBool::Schema(child)) => Others::Each(Quick::of(child, patterns)),
                Some(SchemaOrBool::Bool(false)) => Others::Nothing,
                Some(SchemaOrBool::Bool(true)) | None => Others::Anything,
            },
        }
    }

    fn admits(&self, map: &Map<String, Value>) -> bool {
        self.sizes.admit(map.len())
            && self.required.iter().all(|name| map.contains_key(name))
            && map
                .iter()
                .all(|(name, value)| self.admits_field(name, value))
    }

    fn admits_field(&self, name: &str, value: &Value) -> bool {
        let place = |(known, _): &(Box<str>, Quick)| by_length(known, name);
        match self.properties.binary_search_by(place) {
            Ok(at) => self.properties[at].1.admits(value),
            Err(_) => match &self.others {
                Others::Anything => true,
                Others::Nothing => false,
                Others::Each(rule) => rule.admits(value),
            },
        }
    }
}
