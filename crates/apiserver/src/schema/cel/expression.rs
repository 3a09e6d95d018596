//! Expressions outside of schemas: over whole objects without types, as admission has them.

use kube_cel::cel;
use serde_json::Value;

use super::convert::dynamic;
use super::evaluate::error_text;
use super::library::LIBRARY;
use super::{Compiled, parse_with};

/// An expression, ready to run.
#[derive(Debug)]
pub(crate) struct Expression {
    text: String,
    compiled: Compiled,
}

/// The values that expressions may name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(Vec<(String, cel::Value)>);

impl Variables {
    /// Adds a variable.
    pub(crate) fn add(&mut self, name: &str, value: &Value) {
        self.0.push((name.into(), dynamic(value)));
    }
}

impl Expression {
    /// Reads an expression that may name these variables; the error is a sentence.
    pub(crate) fn compile(text: &str, variables: &[&str]) -> Result<Self, String> {
        Ok(Self {
            text: text.trim().to_owned(),
            compiled: parse_with(text, variables)?,
        })
    }

    /// Whether the expression holds; the error is a sentence.
    pub(crate) fn holds(&self, variables: &Variables) -> Result<bool, String> {
        match self.run(variables)? {
            cel::Value::Bool(holds) => Ok(holds),
            _ => Err(format!(
                "expression '{}' did not evaluate to a boolean",
                self.text
            )),
        }
    }

    fn run(&self, variables: &Variables) -> Result<cel::Value, String> {
        let mut scope = LIBRARY.new_inner_scope();
        for (name, value) in &variables.0 {
            scope.add_variable_from_value(name.as_str(), value.clone());
        }
        self.compiled.resolve(&scope).0.map_err(|error| {
            format!(
                "expression '{}' resulted in error: {}",
                self.text,
                error_text(&error)
            )
        })
    }
}
