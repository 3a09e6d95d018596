//! Whether a value fits its shape, so that the other walkers need not ask.

use std::collections::BTreeSet;

use serde_json::Value;

use super::item::item_element;
use super::path::{PathElement, display_path};
use super::shape::{ListKind, Scalar, Shape};
use super::value;

/// A value that does not fit the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Misfit {
    /// Where, as in `.spec.disks[name="root"].size`.
    pub(super) path: String,
    /// What is wrong there.
    pub(super) reason: String,
}

/// Whether lists that merge item by item may hold the same item twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duplicates {
    /// In stored objects, which were written before the list had its type.
    Allowed,
    /// In what is applied, where it would be unclear which of them is meant.
    Refused,
}

/// Checks a whole value and names the first misfit.
pub(super) fn validate(
    shape: Shape<'_>,
    value: &Value,
    duplicates: Duplicates,
) -> Result<(), Misfit> {
    Walker {
        duplicates,
        path: Vec::new(),
    }
    .visit(shape, value)
}

/// Checks one field of a value.
pub(super) fn validate_field(
    shape: Shape<'_>,
    name: &str,
    field: &Value,
    duplicates: Duplicates,
) -> Result<(), Misfit> {
    let mut walker = Walker {
        duplicates,
        path: Vec::new(),
    };
    walker.below(PathElement::field(name), shape.child(name), field)
}

struct Walker {
    duplicates: Duplicates,
    path: Vec<PathElement>,
}

impl Walker {
    fn misfit(&self, reason: impl Into<String>) -> Misfit {
        Misfit {
            path: display_path(&self.path),
            reason: reason.into(),
        }
    }

    fn below(
        &mut self,
        element: PathElement,
        shape: Shape<'_>,
        value: &Value,
    ) -> Result<(), Misfit> {
        self.path.push(element);
        let result = match shape {
            Shape::Undeclared => Err(self.misfit("field not declared in schema")),
            _ => self.visit(shape, value),
        };
        self.path.pop();
        result
    }

    fn visit(&mut self, shape: Shape<'_>, value: &Value) -> Result<(), Misfit> {
        if value.is_null() {
            return Ok(());
        }
        let kinds = shape.kinds().narrow(Some(value));
        if kinds.map {
            self.visit_map(shape, value)
        } else if let Some(scalar) = kinds.scalar {
            self.visit_scalar(scalar, value)
        } else {
            self.visit_list(shape, value)
        }
    }

    fn visit_scalar(&self, scalar: Scalar, value: &Value) -> Result<(), Misfit> {
        let (fits, expected) = match scalar {
            Scalar::Numeric => (value.is_number(), "numeric (int or float)"),
            Scalar::Text => (value.is_string(), "string"),
            Scalar::Boolean => (value.is_boolean(), "boolean"),
            Scalar::Any => (!value.is_array() && !value.is_object(), "any scalar"),
        };
        if fits {
            Ok(())
        } else {
            let found = match (scalar, value) {
                (Scalar::Numeric, Value::Array(_)) => "[]interface {}".into(),
                (Scalar::Numeric, Value::Object(_)) => "map[string]interface {}".into(),
                (Scalar::Numeric, other) => crate::meta::json_type(other).to_owned(),
                (_, other) => format!(
                    "&value.valueUnstructured{{Value:{}}}",
                    value::go_json(other)
                ),
            };
            Err(self.misfit(format!("expected {expected}, got {found}")))
        }
    }

    fn visit_map(&mut self, shape: Shape<'_>, value: &Value) -> Result<(), Misfit> {
        let Value::Object(fields) = value else {
            return Err(self.expected("map", value));
        };
        for (name, field) in fields {
            self.below(PathElement::field(name.as_str()), shape.child(name), field)?;
        }
        Ok(())
    }

    fn visit_list(&mut self, shape: Shape<'_>, value: &Value) -> Result<(), Misfit> {
        let Value::Array(items) = value else {
            return Err(self.expected("list", value));
        };
        let mut seen = BTreeSet::new();
        for (index, item) in (0..).zip(items) {
            let element = if shape.list_kind() == ListKind::Atomic {
                PathElement::Index(index)
            } else {
                let element = item_element(shape, item)
                    .map_err(|err| self.misfit(format!("element {index}: {err}")))?;
                if !seen.insert(element.clone()) && self.duplicates == Duplicates::Refused {
                    return Err(self.misfit(format!("duplicate entries for key {element}")));
                }
                element
            };
            self.below(element, shape.item(), item)?;
        }
        Ok(())
    }

    fn expected(&self, kind: &str, found: &Value) -> Misfit {
        self.misfit(format!("expected {kind}, got {}", value::go_json(found)))
    }
}
