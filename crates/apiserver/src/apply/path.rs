//! One step of a field path, and how it is written in `fieldsV1` and shown in messages.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::value;

/// How to select one child of a value.
#[derive(Debug, Clone)]
pub enum PathElement {
    /// A field of an object, by name (`f:`).
    Field(Arc<str>),
    /// An item of a keyed list, by its key fields in order of their names (`k:`).
    Key(Vec<(String, Value)>),
    /// An item of a set, by its value (`v:`).
    Value(Value),
    /// An item of a list, by position (`i:`).
    Index(i64),
}

/// Why the text of a path element cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The text is too short or has no type prefix.
    #[error("path element {0:?} does not start with a type and a colon")]
    NoType(String),
    /// The text after `k:` or `v:` is not JSON.
    #[error("path element {text:?} does not hold a JSON value")]
    Json {
        /// The whole element.
        text: String,
        /// What the JSON reader said.
        source: serde_json::Error,
    },
    /// The text after `i:` is not a number.
    #[error("path element {text:?} does not hold an index")]
    Index {
        /// The whole element.
        text: String,
        /// What the number reader said.
        source: std::num::ParseIntError,
    },
}

impl PathElement {
    /// The element for a field of this name.
    pub fn field(name: impl Into<Arc<str>>) -> Self {
        Self::Field(name.into())
    }

    /// Reads the form used in `fieldsV1`; `None` for a type that this version does not know,
    /// which readers must skip.
    pub fn parse(text: &str) -> Result<Option<Self>, PathError> {
        let mut chars = text.chars();
        let (Some(kind), Some(':')) = (chars.next(), chars.next()) else {
            return Err(PathError::NoType(text.into()));
        };
        let rest = chars.as_str();
        let json = |source| PathError::Json {
            text: text.into(),
            source,
        };
        Ok(Some(match kind {
            'f' => Self::Field(rest.into()),
            'v' => Self::Value(serde_json::from_str(rest).map_err(json)?),
            'k' => {
                let key: Map<String, Value> = serde_json::from_str(rest).map_err(json)?;
                Self::key(key)
            }
            'i' => {
                let index = rest.parse();
                Self::Index(index.map_err(|source| PathError::Index {
                    text: text.into(),
                    source,
                })?)
            }
            _ => return Ok(None),
        }))
    }

    /// The element for the list item that has these key fields.
    pub fn key(fields: impl IntoIterator<Item = (String, Value)>) -> Self {
        let mut fields: Vec<_> = fields.into_iter().collect();
        fields.sort_by(|(left, _), (right, _)| left.cmp(right));
        Self::Key(fields)
    }

    /// Writes the form used in `fieldsV1`.
    pub fn to_text(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(fields) => {
                let fields: Map<_, _> = fields.iter().cloned().collect();
                format!("k:{}", value::go_json(&Value::Object(fields)))
            }
            Self::Value(item) => format!("v:{}", value::go_json(item)),
            Self::Index(index) => format!("i:{index}"),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(l), Self::Field(r)) => l.cmp(r),
            (Self::Key(l), Self::Key(r)) => {
                let pairs = l.iter().zip(r);
                let mut orders = pairs
                    .map(|((ln, lv), (rn, rv))| ln.cmp(rn).then_with(|| value::compare(lv, rv)));
                let difference = orders.find(|order| order.is_ne());
                difference.unwrap_or_else(|| l.len().cmp(&r.len()))
            }
            (Self::Value(l), Self::Value(r)) => value::compare(l, r),
            (Self::Index(l), Self::Index(r)) => l.cmp(r),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PathElement {}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(fields) => {
                let fields = fields
                    .iter()
                    .map(|(n, v)| format!("{n}={}", value::display(v)));
                write!(f, "[{}]", fields.collect::<Vec<_>>().join(","))
            }
            Self::Value(item) => write!(f, "[={}]", value::display(item)),
            Self::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A path as people read it: `.spec.disks[name="root"].size`.
pub fn display_path(path: &[PathElement]) -> String {
    path.iter().map(ToString::to_string).collect()
}
