//! A quantity as manifests write it: a string such as `4Gi`, or a bare whole number.
//!
//! It is kept as it was written, because an API server does not rewrite what users own; reading
//! it as a number is [`QuantityValue::parse`].

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::{Quantity, QuantityError};

/// Longest quantity that anybody writes; rules about quantities cost by it.
pub(crate) const MAX_LENGTH: u32 = 32;

/// A quantity as it stands in a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum QuantityValue {
    /// A bare whole number, such as 4.
    Number(i64),
    /// A number with or without a suffix, such as 500m or 4Gi.
    Text(String),
}

impl QuantityValue {
    /// The exact number that stands here.
    pub fn parse(&self) -> Result<Quantity, QuantityError> {
        match self {
            Self::Number(number) => number.to_string().parse(),
            Self::Text(text) => text.parse(),
        }
    }
}

impl Default for QuantityValue {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl From<&str> for QuantityValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for QuantityValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<Quantity> for QuantityValue {
    fn from(quantity: Quantity) -> Self {
        Self::Text(quantity.to_string())
    }
}

impl fmt::Display for QuantityValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl JsonSchema for QuantityValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "QuantityValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "x-kubernetes-int-or-string": true, "maxLength": MAX_LENGTH })
    }
}
