//! The CEL rules of a kind, with the path of the value that each is about.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;

use super::fields::{items, values};

/// One rule, and where it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRule {
    /// Path of the value that the rule sees as `self`; empty for the whole object.
    pub path: String,
    /// The expression that must be true.
    pub expression: String,
    /// What the server says when it is not.
    pub message: String,
}

impl FieldRule {
    pub(super) fn item(&self) -> String {
        let path = if self.path.is_empty() {
            "the object"
        } else {
            &self.path
        };
        let expression: Vec<_> = self.expression.split_whitespace().collect();
        format!(
            "- `{path}`: {}\n  ```cel\n  {}\n  ```\n",
            self.message,
            expression.join(" ")
        )
    }
}

/// Every rule of a schema, from the outside in.
pub fn field_rules(root: &JSONSchemaProps) -> Vec<FieldRule> {
    let mut found = Vec::new();
    collect(root, "", &mut found);
    found
}

/// The words with which an expression makes its message, without the value that it adds.
fn words(expression: &str) -> Option<String> {
    let literal = expression.strip_prefix('\'')?;
    let end = literal.find(", not ").or_else(|| literal.find('\''))?;
    Some(literal[..end].to_owned())
}

fn collect(schema: &JSONSchemaProps, path: &str, found: &mut Vec<FieldRule>) {
    for rule in schema.x_kubernetes_validations.iter().flatten() {
        let words = rule.message_expression.as_deref().and_then(words);
        let message = rule.message.clone().or(words);
        found.push(FieldRule {
            path: path.to_owned(),
            expression: rule.rule.clone(),
            message: message.unwrap_or_else(|| "must hold".to_owned()),
        });
    }
    for (name, property) in schema.properties.iter().flatten() {
        let dot = if path.is_empty() { "" } else { "." };
        collect(property, &format!("{path}{dot}{name}"), found);
    }
    if let Some(items) = items(schema) {
        collect(items, &format!("{path}[]"), found);
    }
    if let Some(values) = values(schema) {
        collect(values, &format!("{path}{{}}"), found);
    }
}
