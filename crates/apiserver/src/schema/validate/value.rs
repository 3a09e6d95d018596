//! Types and values of one node after another, worded as kube-openapi words them.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::outcome::Outcome;
use super::types::{format_error, type_check};
use super::{Patterns, number};
use crate::schema::path::Path;
use crate::schema::text::{go_quote, json_text};
use crate::schema::{FieldError, FieldErrorKind, Schema, SchemaOrBool, correlate, format};

/// Checks values against schemas whose patterns are compiled.
///
/// Two slips of upstream are not repeated: a list does not pass for a string that has a
/// format, and 1.5 is not one of the integers of an enum.
pub(super) struct Checker<'a> {
    patterns: &'a Patterns,
}

impl<'a> Checker<'a> {
    pub(super) fn new(patterns: &'a Patterns) -> Self {
        Self { patterns }
    }

    /// Every fault of a whole object; what an update leaves as it was has none.
    pub(super) fn check(
        &self,
        schema: &Schema,
        object: &Value,
        old: Option<&Value>,
    ) -> Vec<FieldError> {
        self.node(schema, object, old, &Path::Root).errors
    }

    /// A node, whose faults do not count when it is what it was.
    fn node(
        &self,
        schema: &Schema,
        value: &Value,
        old: Option<&Value>,
        path: &Path<'_>,
    ) -> Outcome {
        let mut outcome = self.strict(schema, value, old, path);
        let unchanged = |old| correlate::is_unchanged(Some(schema), value, old);
        if !outcome.errors.is_empty() && old.is_some_and(unchanged) {
            outcome.errors.clear();
        }
        outcome
    }

    /// A node whose own faults count in any case; those below it may still be forgiven.
    fn strict(
        &self,
        schema: &Schema,
        value: &Value,
        old: Option<&Value>,
        path: &Path<'_>,
    ) -> Outcome {
        let mut outcome = type_check(schema, value, path);
        if value.is_null() {
            outcome.errors.extend(enum_error(schema, value, path));
            return outcome;
        }
        outcome.merge(self.combinators(schema, value, path));
        match value {
            Value::String(text) => {
                outcome.errors.extend(self.string_error(schema, text, path));
                outcome.errors.extend(format_error(schema, text, path));
                // The text's own check counts; its format counts where there is one to check.
                outcome.passed += 1 + u64::from(format::effective(schema).is_some());
            }
            Value::Number(number) => {
                outcome.merge(number::check(schema, number, path));
                outcome.count();
            }
            Value::Array(items) => {
                outcome.merge(self.list(schema, items, old, path));
                outcome.count();
            }
            Value::Object(map) => {
                outcome.merge(self.object(schema, map, old, path));
                outcome.count();
            }
            Value::Bool(_) | Value::Null => {}
        }
        outcome.errors.extend(enum_error(schema, value, path));
        // One for the enum, one for the node itself.
        outcome.passed += 2;
        outcome
    }

    /// Faults are reported one at a time: length before pattern.
    fn string_error(&self, schema: &Schema, text: &str, path: &Path<'_>) -> Option<FieldError> {
        let length = text.chars().count() as u64;
        if let Some(max) = schema.max_length.filter(|max| length > *max) {
            let unit = if max == 1 { "byte" } else { "bytes" };
            return Some(fault(
                path,
                FieldErrorKind::TooLong,
                None,
                format!("may not be more than {max} {unit}"),
            ));
        }
        if let Some(min) = schema.min_length.filter(|min| length < *min) {
            return Some(invalid(
                path,
                text,
                format!("{path} in body should be at least {min} chars long"),
            ));
        }
        let pattern = schema.pattern.as_deref().filter(|text| !text.is_empty())?;
        let matches = self
            .patterns
            .get(pattern)
            .is_some_and(|regex| regex.is_match(text));
        (!matches).then(|| {
            invalid(
                path,
                text,
                format!("{path} in body should match '{pattern}'"),
            )
        })
    }

    fn list(
        &self,
        schema: &Schema,
        items: &[Value],
        old: Option<&Value>,
        path: &Path<'_>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(element) = schema.element() {
            for (index, item) in items.iter().enumerate() {
                let old = correlate::item(schema, old, item);
                outcome.merge(self.node(element, item, old, &Path::Item(path, index)));
            }
        }
        let size = items.len() as u64;
        if let Some(min) = schema.min_items.filter(|min| size < *min) {
            outcome.errors.push(invalid(
                path,
                size,
                format!("{path} in body should have at least {min} items"),
            ));
        }
        outcome
            .errors
            .extend(too_many(schema.max_items, size, path));
        if schema.unique_items {
            let mut seen = HashSet::with_capacity(items.len());
            if !items.iter().all(|item| seen.insert(json_text(item))) {
                outcome.errors.push(invalid(
                    path,
                    "",
                    format!("{path} in body shouldn't contain duplicates"),
                ));
            }
        }
        outcome.count();
        outcome
    }

    fn object(
        &self,
        schema: &Schema,
        map: &Map<String, Value>,
        old: Option<&Value>,
        path: &Path<'_>,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        let size = map.len() as u64;
        if let Some(min) = schema.min_properties.filter(|min| size < *min) {
            outcome.errors.push(invalid(
                path,
                size,
                format!("{path} in body should have at least {min} properties"),
            ));
        }
        outcome
            .errors
            .extend(too_many(schema.max_properties, size, path));

        for (key, value) in map {
            if schema.properties.contains_key(key) {
                continue;
            }
            match schema.additional_properties.as_deref() {
                Some(SchemaOrBool::Schema(child)) => {
                    let old = correlate::field(old, key);
                    outcome.merge(self.node(child, value, old, &Path::Entry(path, key)));
                }
                Some(SchemaOrBool::Bool(false)) => outcome.errors.push(invalid(
                    path,
                    key.as_str(),
                    format!("{path}.{key} in body is a forbidden property"),
                )),
                Some(SchemaOrBool::Bool(true)) | None => {}
            }
        }
        for (name, child) in &schema.properties {
            if let Some(value) = map.get(name) {
                // What an object is cannot be forgiven.
                let is_type = path.is_empty() && matches!(name.as_str(), "kind" | "apiVersion");
                let old = correlate::field(old, name).filter(|_| !is_type);
                outcome.merge(self.node(child, value, old, &Path::Field(path, name)));
            }
        }
        for name in &schema.required {
            if !map.contains_key(name) {
                let path = Path::Field(path, name);
                outcome
                    .errors
                    .push(fault(&path, FieldErrorKind::Required, None, ""));
            }
        }
        outcome
    }

    /// As upstream, a branch forgives nothing below it.
    fn combinators(&self, schema: &Schema, value: &Value, path: &Path<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        let quoted = || go_quote(&path.to_string());
        let check = |schemas: &[Schema]| -> Vec<Outcome> {
            schemas
                .iter()
                .map(|schema| self.strict(schema, value, None, path))
                .collect()
        };

        if !schema.any_of.is_empty() {
            let (good, bad) = split(check(&schema.any_of));
            if good.is_empty() {
                outcome.errors.push(pathless(format!(
                    "{} must validate at least one schema (anyOf)",
                    quoted()
                )));
                merge_best(&mut outcome, bad);
            } else {
                merge_first(&mut outcome, good);
            }
        }
        if !schema.one_of.is_empty() {
            let (good, bad) = split(check(&schema.one_of));
            match good.len() {
                1 => merge_first(&mut outcome, good),
                0 => {
                    outcome.errors.push(pathless(format!(
                        "{} must validate one and only one schema (oneOf). Found none valid",
                        quoted()
                    )));
                    merge_best(&mut outcome, bad);
                }
                count => outcome.errors.push(pathless(format!(
                    "{} must validate one and only one schema (oneOf). \
                     Found {count} valid alternatives",
                    quoted()
                ))),
            }
        }
        if !schema.all_of.is_empty() {
            let all = check(&schema.all_of);
            let valid = all.iter().filter(|one| one.is_valid()).count();
            for one in all {
                outcome.merge(one);
            }
            if valid != schema.all_of.len() {
                let none = if valid == 0 { ". None validated" } else { "" };
                outcome.errors.push(pathless(format!(
                    "{} must validate all the schemas (allOf){none}",
                    quoted()
                )));
            }
        }
        if let Some(not) = &schema.not
            && self.strict(not, value, None, path).is_valid()
        {
            outcome.errors.push(pathless(format!(
                "{} must not validate the schema (not)",
                quoted()
            )));
        }
        outcome.passed += 2;
        outcome
    }
}

fn split(outcomes: Vec<Outcome>) -> (Vec<Outcome>, Vec<Outcome>) {
    outcomes.into_iter().partition(Outcome::is_valid)
}

fn merge_first(outcome: &mut Outcome, good: Vec<Outcome>) {
    if let Some(first) = good.into_iter().next() {
        outcome.merge(first);
    }
}

/// The first of those alternatives that got furthest.
fn merge_best(outcome: &mut Outcome, bad: Vec<Outcome>) {
    let best = bad.into_iter().reduce(|best, next| {
        if next.passed > best.passed {
            next
        } else {
            best
        }
    });
    if let Some(best) = best {
        outcome.merge(best);
    }
}

pub(super) fn fault(
    path: &Path<'_>,
    kind: FieldErrorKind,
    value: Option<Value>,
    detail: impl Into<String>,
) -> FieldError {
    FieldError::new(shown(path), kind, value, detail)
}

/// A path as errors have it: values of a map at the root have one that begins with a dot.
fn shown(path: &Path<'_>) -> String {
    let path = path.to_string();
    match path.strip_prefix('.') {
        Some(rest) => rest.to_owned(),
        None => path,
    }
}

fn invalid(path: &Path<'_>, value: impl Into<Value>, detail: String) -> FieldError {
    fault(path, FieldErrorKind::Invalid, Some(value.into()), detail)
}

/// Upstream names the field of these only in the text.
fn pathless(detail: String) -> FieldError {
    FieldError::invalid("", "", detail)
}

fn too_many(max: Option<u64>, size: u64, path: &Path<'_>) -> Option<FieldError> {
    let max = max.filter(|max| size > *max)?;
    let unit = if max == 1 { "item" } else { "items" };
    Some(fault(
        path,
        FieldErrorKind::TooMany,
        Some(size.into()),
        format!("must have at most {max} {unit}"),
    ))
}

fn enum_error(schema: &Schema, value: &Value, path: &Path<'_>) -> Option<FieldError> {
    let allowed = &schema.enum_values;
    if allowed.is_empty() || allowed.iter().any(|one| is_same(one, value)) {
        return None;
    }
    Some(FieldError::not_supported(
        shown(path),
        value.clone(),
        allowed,
    ))
}

/// Equality with 1 and 1.0 the same; null is never one of an enum, as upstream has it.
pub(super) fn is_same(allowed: &Value, value: &Value) -> bool {
    match (allowed, value) {
        (Value::Null, _) => false,
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64()
        }
        _ => allowed == value,
    }
}
