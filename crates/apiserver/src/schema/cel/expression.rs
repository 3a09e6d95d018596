//! Expressions outside of schemas: over whole objects without types, as admission has them.

use std::collections::BTreeSet;

use kube_cel::cel;
use serde_json::Value;

use super::convert::dynamic;
use super::evaluate::error_text;
use super::library::LIBRARY;
use super::proof::Proof;
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
    /// Adds a variable, with as much of its value as is asked for.
    pub(crate) fn add(&mut self, name: &str, value: &Value, asked: &Asked) {
        let value = match (asked, value) {
            (Asked::Fields(names), Value::Object(fields)) => {
                let asked = |(name, _): &(&String, &Value)| names.contains(*name);
                let part = fields.iter().filter(asked);
                dynamic(&part.map(|(n, v)| (n.clone(), v.clone())).collect())
            }
            _ => dynamic(value),
        };
        self.0.push((name.into(), value));
    }
}

/// How much of a variable expressions ask for.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    /// These fields at most.
    Fields(BTreeSet<String>),
    /// Perhaps all of it.
    All,
}

impl Asked {
    /// Nothing.
    pub(crate) fn nothing() -> Self {
        Self::Fields(BTreeSet::new())
    }

    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fields(some), Self::Fields(more)) => {
                Self::Fields(some.into_iter().chain(more).collect())
            }
            _ => Self::All,
        }
    }

    /// Joins what several expressions ask for.
    pub(crate) fn sum(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Self::nothing(), Self::join)
    }

    /// What a text asks of a variable, read without its grammar: each place where the name
    /// stands, be it within a string, asks for the field behind its dot, or else for all.
    fn in_text(text: &str, name: &str) -> Self {
        let in_word = |c: char| c == '_' || c.is_alphanumeric();
        let places = text.match_indices(name).filter_map(|(at, _)| {
            let after = &text[at + name.len()..];
            let whole = !text[..at].ends_with(in_word) && !after.starts_with(in_word);
            whole.then_some(after)
        });
        let asked = places.map(|after| {
            let field = after.strip_prefix('.').map(|field| {
                let end = field.find(|c| !in_word(c)).unwrap_or(field.len());
                &field[..end]
            });
            match field {
                Some(field) if !field.is_empty() => Self::Fields([field.to_owned()].into()),
                _ => Self::All,
            }
        });
        Self::sum(asked)
    }
}

impl Expression {
    /// Reads an expression that may name these variables; the error is a sentence.
    pub(crate) fn compile(text: &str, variables: &[&str]) -> Result<Self, String> {
        let mut compiled = parse_with(text, variables)?;
        compiled.proof = Proof::over(&compiled.expression, compiled.size.depth, variables);
        Ok(Self {
            text: text.trim().to_owned(),
            compiled,
        })
    }

    /// Whether the expression holds, where that is seen on the JSON itself; nothing where it must be
    /// evaluated. The values are those of the variables, in the order in which it was compiled with
    /// them.
    pub(crate) fn plainly_holds(&self, values: &[Option<&Value>]) -> Option<bool> {
        self.compiled.plainly_holds(values)
    }

    /// How much of a variable the expression asks for.
    pub(crate) fn asks(&self, variable: &str) -> Asked {
        Asked::in_text(&self.text, variable)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(names: &[&str]) -> Asked {
        Asked::Fields(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn what_is_asked_for_is_read_from_the_text() {
        let asked = |text| Asked::in_text(text, "object");
        assert_eq!(asked("has(oldObject.spec) && objects == 1"), fields(&[]));
        assert_eq!(
            asked("has(object.spec) && object.metadata.name == 'x'"),
            fields(&["metadata", "spec"])
        );
        for all in [
            "object == null",
            "object['spec'] == 1",
            "object.?spec",
            "has(object .spec)",
        ] {
            assert_eq!(asked(all), Asked::All, "{all}");
        }
        assert_eq!(asked("'object' == x.object"), Asked::All);
    }

    /// What is plain is what the interpreter says, and these are plain.
    #[test]
    fn what_is_plain_needs_no_interpreter() {
        use serde_json::json;
        let names = ["object", "oldObject", "request"];
        let spec = json!({"spec": {"a": 1, "list": [1, 2]}, "status": {"b": 0.5}});
        let other = json!({"spec": {"a": 2, "list": [1, 2]}, "status": {"b": 0.5}});
        let create = json!({"operation": "CREATE"});
        let update = json!({"operation": "UPDATE"});
        let changed = "request.operation == 'CREATE' || object.spec != oldObject.spec";
        let cases = [
            (changed, &spec, None, &create, Some(true)),
            (changed, &spec, Some(&spec), &update, Some(false)),
            // That two specs differ is for the interpreter to say.
            (changed, &spec, Some(&other), &update, None),
            (
                "has(object.spec) && has(object.spec.a)",
                &spec,
                None,
                &create,
                Some(true),
            ),
            ("has(object.spec.b)", &spec, None, &create, Some(false)),
            ("object.spec.a > 1", &spec, None, &create, Some(false)),
            (
                "object.spec.list.exists(i, i == 2)",
                &spec,
                None,
                &create,
                Some(true),
            ),
            ("has(oldObject.spec)", &spec, None, &create, None),
            ("object.status.b > 0.1", &spec, None, &create, None),
            ("object.gone == 1", &spec, None, &create, None),
        ];
        for (text, object, old, request, expected) in cases {
            let expression = Expression::compile(text, &names).unwrap();
            let values = [Some(object), old, Some(request)];
            let found = expression.plainly_holds(&values);
            assert_eq!(found, expected, "{text}");
            let mut variables = Variables::default();
            for (name, value) in names.iter().zip(values) {
                variables.add(name, value.unwrap_or(&Value::Null), &Asked::All);
            }
            if let Some(found) = found {
                assert_eq!(expression.holds(&variables), Ok(found), "{text}");
            }
        }
    }

    #[test]
    fn a_field_that_is_asked_for_is_there_and_no_other() {
        let object = serde_json::json!({ "spec": { "a": 1 }, "status": { "b": 2 } });
        let expression = Expression::compile("has(object.spec.a)", &["object"]).unwrap();
        let mut variables = Variables::default();
        variables.add("object", &object, &expression.asks("object"));
        assert_eq!(expression.holds(&variables), Ok(true));
        let other = Expression::compile("has(object.status)", &["object"]).unwrap();
        assert_eq!(other.holds(&variables), Ok(false));
    }
}
