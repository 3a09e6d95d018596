//! Structural schemas: the part of OpenAPI v3 that a CustomResourceDefinition may use.
//!
//! A [`Schema`] is read from a CRD once and then only asked: to prune, to default, to
//! validate, to say how a list merges in server-side apply, and to describe itself in
//! OpenAPI documents. It holds no state and does no I/O.

mod access;
pub(crate) mod cel;
mod correlate;
mod defaulting;
mod error;
mod format;
mod path;
mod plan;
mod prune;
mod text;
mod validate;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use access::ListKind;
pub use defaulting::default;
pub use error::{FieldError, FieldErrorKind, SchemaError};
pub(crate) use path::Path;
pub use prune::prune;
pub(crate) use text::{go_number, go_quote, json_text};
pub use validate::{Validator, Verdict, validate};

/// One node of a structural schema, named as in `apiextensions.k8s.io/v1` JSONSchemaProps.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Schema {
    /// `object`, `array`, `string`, `integer`, `number`, `boolean`; absent for int-or-string and free nodes.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// What the value must look like beyond its type (`date-time`, `int64`, `ipv4`, …).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Shown by `kubectl explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A short title; carried, not interpreted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Filled in where the field is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// An example; carried, not interpreted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    /// Whether `null` is a value of its own here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub nullable: bool,
    /// The allowed values.
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub enum_values: Vec<Value>,
    /// Upper bound of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<serde_json::Number>,
    /// Whether the upper bound itself is excluded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclusive_maximum: bool,
    /// Lower bound of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<serde_json::Number>,
    /// Whether the lower bound itself is excluded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclusive_minimum: bool,
    /// The number must be a multiple of this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiple_of: Option<serde_json::Number>,
    /// Longest string, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// Shortest string, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// An unanchored regular expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Most items of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u64>,
    /// Fewest items of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u64>,
    /// Whether the items of a list must differ.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unique_items: bool,
    /// Most entries of a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_properties: Option<u64>,
    /// Fewest entries of a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_properties: Option<u64>,
    /// Names of the fields that must be there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// The fields of an object.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, Schema>,
    /// The values of a map, or whether unlisted fields are allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_properties: Option<Box<SchemaOrBool>>,
    /// The items of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Schema>>,
    /// All of these must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub all_of: Vec<Schema>,
    /// At least one of these must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub any_of: Vec<Schema>,
    /// Exactly one of these must hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub one_of: Vec<Schema>,
    /// This must not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not: Option<Box<Schema>>,
    /// Whether a number or a string is accepted (ports, quantities).
    #[serde(
        rename = "x-kubernetes-int-or-string",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub int_or_string: bool,
    /// Whether unknown fields are kept instead of pruned.
    #[serde(
        rename = "x-kubernetes-preserve-unknown-fields",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub preserve_unknown_fields: bool,
    /// Whether the node is a whole Kubernetes object of its own.
    #[serde(
        rename = "x-kubernetes-embedded-resource",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub embedded_resource: bool,
    /// How a list merges: `atomic` (the default), `set` or `map`.
    #[serde(
        rename = "x-kubernetes-list-type",
        skip_serializing_if = "Option::is_none"
    )]
    pub list_type: Option<String>,
    /// The fields that identify an item of a `map` list.
    #[serde(
        rename = "x-kubernetes-list-map-keys",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub list_map_keys: Vec<String>,
    /// How an object merges: `granular` (the default) or `atomic`.
    #[serde(
        rename = "x-kubernetes-map-type",
        skip_serializing_if = "Option::is_none"
    )]
    pub map_type: Option<String>,
    /// CEL rules on this node.
    #[serde(
        rename = "x-kubernetes-validations",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub validations: Vec<Rule>,
}

/// `additionalProperties`: a schema for every value, or a plain yes or no.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(
    clippy::large_enum_variant,
    reason = "the node that has one keeps it in a box already"
)]
pub enum SchemaOrBool {
    /// Whether unlisted fields are allowed at all.
    Bool(bool),
    /// What every unlisted field must look like.
    Schema(Schema),
}

/// One CEL rule of `x-kubernetes-validations`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rule {
    /// The expression; true means valid.
    pub rule: String,
    /// What to say when it is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A CEL expression that makes the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_expression: Option<String>,
    /// `FieldValueInvalid` (the default), `FieldValueForbidden`, `FieldValueRequired`, `FieldValueDuplicate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The path, relative to the node, to blame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_path: Option<String>,
    /// Whether a rule with `oldSelf` also runs on create.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional_old_self: Option<bool>,
}

#[cfg(test)]
mod tests;
