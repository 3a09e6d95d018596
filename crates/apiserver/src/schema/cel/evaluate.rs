//! Running the rules over an object, with the old values that they may compare with.

use std::cell::LazyCell;
use std::sync::Arc;

use kube_cel::cel::objects::OptionalValue;
use kube_cel::cel::{self, Context, ExecutionError};
use serde_json::Value;

use super::convert::to_cel;
use super::library::LIBRARY;
use super::proof::{Own, Subject};
use super::{Compiled, CompiledRule, RuleNode, cost};
use crate::schema::path::Path;
use crate::schema::{FieldError, FieldErrorKind, Rule, Schema, correlate};

/// The longest message that an expression may make.
const MAX_MESSAGE: usize = 5 * 1024;

/// What was found so far, and what may still be spent.
struct Faults<'a> {
    errors: &'a mut Vec<FieldError>,
    forgiven: &'a mut Vec<FieldError>,
    budget: u64,
    /// Set when a rule or all of them cost too much: no other rule is run then.
    exhausted: bool,
}

/// Where the walk is.
#[derive(Clone, Copy)]
struct Place<'a> {
    schema: &'a Schema,
    value: &'a Value,
    old: Option<&'a Value>,
    whole_object: bool,
    same: Same<'a>,
}

/// A node with the value that it had.
type Pair<'a> = (&'a Schema, &'a Value, &'a Value);

/// What decides whether a fault is forgiven: the node itself where its old value is known, else
/// the nearest node around it.
#[derive(Clone, Copy, Default)]
struct Same<'a> {
    own: Option<Pair<'a>>,
    parent: Option<Pair<'a>>,
}

impl<'a> Same<'a> {
    fn is_unchanged(self) -> bool {
        self.own
            .or(self.parent)
            .is_some_and(|(schema, new, old)| correlate::is_unchanged(Some(schema), new, old))
    }

    /// The same for a part of the node.
    fn below(self, schema: &'a Schema, value: &'a Value, old: Option<&'a Value>) -> Self {
        match self.own {
            None => self,
            Some(own) => Self {
                own: old.map(|old| (schema, value, old)),
                parent: Some(own),
            },
        }
    }
}

impl RuleNode {
    /// Adds the faults that the rules find in a whole object.
    pub(crate) fn evaluate(
        &self,
        schema: &Schema,
        object: &Value,
        old: Option<&Value>,
        errors: &mut Vec<FieldError>,
        forgiven: &mut Vec<FieldError>,
    ) {
        let mut faults = Faults {
            errors,
            forgiven,
            budget: cost::PER_OBJECT,
            exhausted: false,
        };
        let place = Place {
            schema,
            value: object,
            old,
            whole_object: true,
            same: Same {
                own: old.map(|old| (schema, object, old)),
                parent: None,
            },
        };
        self.walk(place, &Path::Root, &mut faults);
    }

    fn walk(&self, place: Place<'_>, path: &Path<'_>, faults: &mut Faults<'_>) {
        // A null has no rules of its own; the surrounding object may judge it.
        if place.value.is_null() || faults.exhausted {
            return;
        }
        let old = place.old.filter(|old| !old.is_null());
        if !self.rules.is_empty() {
            self.run(Place { old, ..place }, path, faults);
        }
        for branch in &self.all_of {
            // As upstream, what stands below allOf is forgiven by what is around the node.
            let same = Same {
                own: None,
                ..place.same
            };
            branch.walk(Place { same, ..place }, path, faults);
        }
        match place.value {
            Value::Object(map) => {
                for (key, value) in map {
                    let old = correlate::field(old, key);
                    let declared = place.schema.properties.get(key);
                    let below = declared.zip(self.properties.get(key));
                    if let Some((schema, rules)) = below {
                        rules.walk(
                            place.below(schema, value, old),
                            &Path::Field(path, key),
                            faults,
                        );
                    } else if declared.is_none()
                        && let Some((schema, rules)) =
                            place.schema.map_value().zip(self.map_value.as_deref())
                    {
                        rules.walk(
                            place.below(schema, value, old),
                            &Path::Key(path, key),
                            faults,
                        );
                    }
                }
            }
            Value::Array(items) => {
                let below = place.schema.element().zip(self.items.as_deref());
                if let Some((schema, rules)) = below {
                    for (index, item) in items.iter().enumerate() {
                        let old = correlate::item(place.schema, old, item);
                        rules.walk(
                            place.below(schema, item, old),
                            &Path::Item(path, index),
                            faults,
                        );
                    }
                }
            }
            _ => {}
        }
    }

    fn run(&self, place: Place<'_>, path: &Path<'_>, faults: &mut Faults<'_>) {
        // Values are made for the interpreter by the first rule that needs it.
        let convert = |value| to_cel(value, place.schema, place.whole_object);
        let old = LazyCell::new(|| place.old.map(convert));
        let plain = LazyCell::new(|| {
            let mut scope = LIBRARY.new_inner_scope();
            scope.add_variable_from_value("self", convert(place.value));
            if self.rules.iter().any(CompiledRule::needs_old)
                && let Some(old) = &*old
            {
                scope.add_variable_from_value("oldSelf", old.clone());
            }
            scope
        });
        let own = Own::of(&self.names, place.subject());
        for compiled in &self.rules {
            // What only compares with an old value says nothing of a new object.
            if compiled.is_idle(place) || compiled.is_proven(place, &own, faults) {
                continue;
            }
            if compiled.has_optional_old() {
                let mut scope = plain.new_inner_scope();
                let old = (*old).clone();
                let old = old.map_or_else(OptionalValue::none, OptionalValue::of);
                scope.add_variable_from_value("oldSelf", cel::Value::Opaque(Arc::new(old)));
                compiled.run(&scope, &plain, place, path, faults);
            } else {
                compiled.run(&plain, &plain, place, path, faults);
            }
            if faults.exhausted {
                return;
            }
        }
    }
}

impl<'a> Place<'a> {
    /// The node, as proofs know it.
    fn subject(self) -> Subject<'a> {
        Subject {
            schema: self.schema,
            value: self.value,
            old: self.old,
            whole_object: self.whole_object,
        }
    }

    /// A part of the node.
    fn below(self, schema: &'a Schema, value: &'a Value, old: Option<&'a Value>) -> Self {
        Self {
            schema,
            value,
            old,
            whole_object: schema.embedded_resource,
            same: self.same.below(schema, value, old),
        }
    }
}

impl CompiledRule {
    /// Whether the rule compares with an old value where there is none.
    fn is_idle(&self, place: Place<'_>) -> bool {
        self.uses_old_self && place.old.is_none() && !self.has_optional_old()
    }

    fn has_optional_old(&self) -> bool {
        self.rule.optional_old_self == Some(true)
    }

    /// Whether the rule is seen to hold without the interpreter; its cost is paid then.
    fn is_proven<'a>(
        &'a self,
        place: Place<'a>,
        own: &'a Own<'a>,
        faults: &mut Faults<'_>,
    ) -> bool {
        if self.uses_old_self && self.has_optional_old() {
            return false;
        }
        let spent = self.expression.proven(place.subject(), own);
        let left = spent.and_then(|spent| faults.budget.checked_sub(spent));
        faults.budget = left.unwrap_or(faults.budget);
        left.is_some()
    }

    fn needs_old(&self) -> bool {
        self.uses_old_self || self.message.as_ref().is_some_and(|m| m.uses_old_self)
    }

    fn run(
        &self,
        scope: &Context<'_>,
        plain: &Context<'_>,
        place: Place<'_>,
        path: &Path<'_>,
        faults: &mut Faults<'_>,
    ) {
        let (result, spent) = self.expression.resolve(scope);
        // A rule that cannot be judged is laid at the node's own door, with its type as value.
        let undecided = |detail: String| {
            let ty = place.schema.ty.clone().unwrap_or_default();
            FieldError::invalid(path.to_string(), ty, detail)
        };
        let text = rule_text(&self.rule);
        if spent > cost::PER_CALL {
            faults.exhausted = true;
            faults.errors.push(undecided(format!(
                "'operation cancelled: actual cost limit exceeded': no further validation rules \
                 will be run due to call cost exceeds limit for rule: {text}"
            )));
            return;
        }
        let Some(left) = faults.budget.checked_sub(spent) else {
            faults.exhausted = true;
            faults.errors.push(undecided(
                "validation failed due to running out of cost budget, no further validation \
                 rules will be run"
                    .into(),
            ));
            return;
        };
        faults.budget = left;
        faults.errors.extend(match result {
            Ok(cel::Value::Bool(true)) => None,
            Ok(cel::Value::Bool(false)) if !self.uses_old_self && place.same.is_unchanged() => {
                faults.forgiven.push(self.failure(plain, place, path));
                None
            }
            Ok(cel::Value::Bool(false)) => Some(self.failure(plain, place, path)),
            Ok(_) => Some(undecided(format!(
                "rule did not evaluate to a boolean: {text}"
            ))),
            Err(ExecutionError::NoSuchOverload) => Some(undecided(format!(
                "'no such overload': call arguments did not match a supported operator, \
                 function or macro signature for rule: {text}"
            ))),
            Err(error) => Some(undecided(format!(
                "{} evaluating rule: {text}",
                error_text(&error)
            ))),
        });
    }

    fn failure(&self, scope: &Context<'_>, place: Place<'_>, path: &Path<'_>) -> FieldError {
        let detail = self
            .message
            .as_ref()
            .and_then(|message| made_message(message, scope))
            .unwrap_or_else(|| match trimmed(self.rule.message.as_deref()) {
                Some(message) => message.to_string(),
                None => format!("failed rule: {}", self.rule.rule.trim()),
            });
        let joined = format!("{path}{}", self.blamed);
        let path = joined.strip_prefix('.').unwrap_or(&joined);
        // Whole objects and lists are too long to be shown.
        let value = match place.schema.ty.as_deref() {
            Some("object" | "array") => None,
            _ => Some(place.value.clone()),
        };
        match self.rule.reason.as_deref() {
            Some("FieldValueForbidden") => FieldError::forbidden(path, detail),
            Some("FieldValueRequired") => FieldError::required(path, detail),
            Some("FieldValueDuplicate") => FieldError::duplicate(path, value),
            _ => FieldError::new(path, FieldErrorKind::Invalid, value, detail),
        }
    }
}

impl Compiled {
    /// What the expression says, and what saying it cost.
    pub(super) fn resolve(&self, scope: &Context<'_>) -> (Result<cel::Value, ExecutionError>, u64) {
        cost::with_stack_for(self.size.depth, || {
            cost::measured(self.size.nodes, || scope.resolve(&self.expression))
        })
    }
}

/// The message that an expression makes, if it is one line of reasonable length.
fn made_message(expression: &Compiled, scope: &Context<'_>) -> Option<String> {
    let (Ok(cel::Value::String(text)), _) = expression.resolve(scope) else {
        return None;
    };
    let text = text.trim();
    let is_usable = !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n');
    is_usable.then(|| text.to_string())
}

fn trimmed(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty()).map(str::trim)
}

/// A rule by its message, or by its own text.
fn rule_text(rule: &Rule) -> &str {
    trimmed(rule.message.as_deref()).unwrap_or_else(|| rule.rule.trim())
}

/// The faults that upstream has words for, in those words.
pub(super) fn error_text(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("no such key: {key}"),
        ExecutionError::IndexOutOfBounds(cel::Value::Int(index)) => {
            format!("index out of bounds: {index}")
        }
        ExecutionError::DivisionByZero(_) => "division by zero".into(),
        ExecutionError::RemainderByZero(_) => "modulus by zero".into(),
        other => other.to_string(),
    }
}
