//! CEL rules as data, and how they get into a schema.

use std::borrow::Cow;

use schemars::Schema;
use serde_json::{Value, json};

/// One CEL rule, with the sentence that a user reads when it is broken.
pub(crate) struct Rule {
    /// The expression that must be true.
    expression: Cow<'static, str>,
    /// What is wrong and what to do about it.
    message: Cow<'static, str>,
    /// The field that is missing, when the rule demands one.
    required_field: Option<&'static str>,
}

impl Rule {
    /// A rule that refuses a value.
    pub(crate) const fn new(expression: &'static str, message: &'static str) -> Self {
        Self {
            expression: Cow::Borrowed(expression),
            message: Cow::Borrowed(message),
            required_field: None,
        }
    }

    /// A rule that demands a field, so that the server reports it as `Required value` at its path.
    pub(crate) const fn required(
        field_path: &'static str,
        expression: &'static str,
        message: &'static str,
    ) -> Self {
        Self {
            expression: Cow::Borrowed(expression),
            message: Cow::Borrowed(message),
            required_field: Some(field_path),
        }
    }

    /// A rule that was put together.
    pub(crate) fn owned(expression: String, message: String) -> Self {
        Self {
            expression: expression.into(),
            message: message.into(),
            required_field: None,
        }
    }

    fn to_json(&self) -> Value {
        let mut rule = json!({ "rule": self.expression, "message": self.message });
        if let Some(field_path) = self.required_field {
            rule["fieldPath"] = field_path.into();
            rule["reason"] = "FieldValueRequired".into();
        }
        rule
    }
}

/// Appends rules to those that a schema already has.
pub(crate) fn add_rules(schema: &mut Schema, rules: &[Rule]) {
    let all = schema
        .ensure_object()
        .entry("x-kubernetes-validations")
        .or_insert_with(|| json!([]));
    if let Value::Array(all) = all {
        all.extend(rules.iter().map(Rule::to_json));
    }
}
