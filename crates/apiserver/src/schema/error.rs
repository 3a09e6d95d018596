//! What the schema module says when something is wrong: about an object ([`FieldError`],
//! worded as kube-apiserver words it) and about a schema itself ([`SchemaError`]).

use std::fmt;

use serde_json::Value;

use super::text::{go_number, go_quote, json_text};

/// What is wrong with a field, named as in `k8s.io/apimachinery` field errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldErrorKind {
    /// A field that must be there is absent.
    Required,
    /// The value breaks a rule.
    Invalid,
    /// The value is none of the allowed ones.
    NotSupported,
    /// The value has another type or format than the schema says.
    TypeInvalid,
    /// The text is longer than allowed.
    TooLong,
    /// The list or map has more entries than allowed.
    TooMany,
    /// The value is there already.
    Duplicate,
    /// The value is well formed and still not allowed here.
    Forbidden,
    /// The value names something that does not exist.
    NotFound,
    /// The server could not decide.
    Internal,
}

impl FieldErrorKind {
    /// The machine-readable reason of a Status cause.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Forbidden => "FieldValueForbidden",
            Self::NotFound => "FieldValueNotFound",
            Self::Internal => "InternalError",
        }
    }

    /// The words that open the message.
    fn words(self) -> &'static str {
        match self {
            Self::Required => "Required value",
            Self::Invalid | Self::TypeInvalid => "Invalid value",
            Self::NotSupported => "Unsupported value",
            Self::TooLong => "Too long",
            Self::TooMany => "Too many",
            Self::Duplicate => "Duplicate value",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "Not found",
            Self::Internal => "Internal error",
        }
    }

    /// Whether the message of this kind shows the value at fault.
    fn shows_value(self) -> bool {
        matches!(
            self,
            Self::Invalid
                | Self::TypeInvalid
                | Self::NotSupported
                | Self::NotFound
                | Self::Duplicate
                | Self::TooMany
        )
    }
}

/// One fault of one field; prints as `spec.cpu.cores: Invalid value: 0: …`.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldError {
    /// The field, as `spec.disks[0].size`; `<nil>` where upstream has no path to give.
    pub path: String,
    /// What is wrong.
    pub kind: FieldErrorKind,
    /// The rest of the message; may be empty.
    pub detail: String,
    /// The value at fault; `None` leaves it out of the message.
    pub value: Option<Value>,
}

/// What kube-apiserver prints for a fault that belongs to no field.
pub(crate) const NO_PATH: &str = "<nil>";

impl FieldError {
    /// A fault of any kind, with the value shown where the kind shows one.
    pub fn new(
        path: impl Into<String>,
        kind: FieldErrorKind,
        value: Option<Value>,
        detail: impl Into<String>,
    ) -> Self {
        let path = path.into();
        Self {
            path: if path.is_empty() {
                NO_PATH.into()
            } else {
                path
            },
            kind,
            detail: detail.into(),
            value,
        }
    }

    /// A value that breaks a rule.
    pub fn invalid(
        path: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::new(path, FieldErrorKind::Invalid, Some(value.into()), detail)
    }

    /// A field that must be there is absent.
    pub fn required(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(path, FieldErrorKind::Required, None, detail)
    }

    /// A value that may not be used here.
    pub fn forbidden(path: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(path, FieldErrorKind::Forbidden, None, detail)
    }

    /// A value that is there already.
    pub fn duplicate(path: impl Into<String>, value: Option<Value>) -> Self {
        Self::new(path, FieldErrorKind::Duplicate, value, "")
    }

    /// A value that is none of the allowed ones.
    pub fn not_supported(path: impl Into<String>, value: Value, allowed: &[Value]) -> Self {
        let names: Vec<String> = allowed
            .iter()
            .map(|value| match value {
                Value::String(text) => go_quote(text),
                other => go_quote(&json_text(other)),
            })
            .collect();
        let detail = format!("supported values: {}", names.join(", "));
        Self::new(path, FieldErrorKind::NotSupported, Some(value), detail)
    }

    /// The machine-readable reason of the Status cause, such as `FieldValueInvalid`.
    pub fn reason(&self) -> &'static str {
        self.kind.reason()
    }

    /// The message of the Status cause: everything but the path.
    pub fn message(&self) -> String {
        let mut text = self.kind.words().to_string();
        if let Some(value) = self.value.as_ref().filter(|_| self.kind.shows_value()) {
            text.push_str(": ");
            text.push_str(&match value {
                Value::String(value) => go_quote(value),
                Value::Number(value) => go_number(value),
                other => json_text(other),
            });
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message())
    }
}

impl std::error::Error for FieldError {}

/// Why a schema cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The document is no JSONSchemaProps.
    #[error("schema is malformed")]
    Malformed(#[from] serde_json::Error),
    /// A `pattern` is no regular expression.
    #[error("{path}: pattern {pattern:?} is not a regular expression")]
    Pattern {
        /// The schema node, as `spec.name`.
        path: String,
        /// The pattern.
        pattern: String,
        /// What the regular-expression parser says.
        source: Box<regex::Error>,
    },
    /// A CEL expression does not parse.
    #[error("{path}: rule {rule:?} does not compile: {reason}")]
    Rule {
        /// The schema node, as `spec.disks[]`.
        path: String,
        /// The expression.
        rule: String,
        /// What the CEL parser says.
        reason: String,
    },
    /// A rule blames a field that the schema does not have.
    #[error("{path}: fieldPath {field_path:?} of rule {rule:?} names no field of the schema")]
    FieldPath {
        /// The schema node.
        path: String,
        /// The expression.
        rule: String,
        /// The path that leads nowhere.
        field_path: String,
    },
}
