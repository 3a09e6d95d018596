//! Validation of whole objects: types and values, list uniqueness, embedded objects and CEL
//! rules, in the order and the words of kube-apiserver.
//!
//! Object metadata is validated elsewhere. What an update leaves as it was is tolerated, also
//! when it is invalid: schemas may become stricter without stopping everybody.

mod embedded;
mod lists;
mod number;
mod outcome;
mod quick;
mod types;
mod value;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

use super::cel::RuleNode;
use super::path::Path;
use super::plan::Plan;
use super::text::child_path;
use super::{FieldError, FieldErrorKind, Schema, SchemaError, SchemaOrBool};

/// Compiled patterns, by their text.
pub(crate) type Patterns = BTreeMap<String, Regex>;

/// What a validator found.
#[derive(Debug, Default)]
pub struct Verdict {
    /// The faults for which an object is refused.
    pub errors: Vec<FieldError>,
    /// Rules that fail on what an update leaves as it was.
    pub forgiven: Vec<FieldError>,
}

/// A schema with its patterns and CEL rules compiled, ready to judge many objects.
#[derive(Debug)]
pub struct Validator {
    schema: Arc<Schema>,
    patterns: Patterns,
    quick: quick::Quick,
    plan: Plan,
    rules: Option<RuleNode>,
    /// Why every object is refused, if the schema cannot be used.
    unusable: Option<String>,
}

impl Validator {
    /// Compiles every pattern and every rule of a schema once.
    ///
    /// # Errors
    /// When a pattern or a rule does not compile, naming the node and the text.
    pub fn new(schema: impl Into<Arc<Schema>>) -> Result<Self, SchemaError> {
        let schema = schema.into();
        let mut patterns = Patterns::new();
        compile_patterns(&schema, "", &mut patterns)?;
        let rules = RuleNode::compile(&schema)?;
        Ok(Self {
            quick: quick::Quick::of(&schema, &patterns),
            plan: Plan::of(&schema),
            schema,
            patterns,
            rules,
            unusable: None,
        })
    }

    /// A validator that refuses every object, for a schema that cannot be used.
    pub(crate) fn refusing(schema: Arc<Schema>, why: String) -> Self {
        Self {
            schema,
            patterns: Patterns::new(),
            quick: quick::Quick::Unknown,
            plan: Plan::unknown(),
            rules: None,
            unusable: Some(why),
        }
    }

    /// The schema that this validator was built from.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Puts defaults into an object from which nothing has to be pruned; any other stays as it is,
    /// and the answer is no.
    pub(crate) fn settle(&self, object: &mut Value) -> bool {
        self.plan.settle(object)
    }

    /// Whether there are rules that see the whole object.
    pub(crate) fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// Every fault of an object; `old` is the object that an update replaces.
    pub fn validate(&self, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
        self.judge(object, old).errors
    }

    /// The faults of an object, and those that are forgiven and only told.
    pub fn judge(&self, object: &Value, old: Option<&Value>) -> Verdict {
        if let Some(why) = &self.unusable {
            let error = FieldError::new("", FieldErrorKind::Internal, None, why.clone());
            return Verdict {
                errors: vec![error],
                forgiven: Vec::new(),
            };
        }
        let mut errors = match self.quick.admits(object) {
            true => Vec::new(),
            false => self.faults_of_values(object, old),
        };
        let mut forgiven = Vec::new();

        if let Some(rules) = &self.rules {
            if errors.iter().any(|error| blocks_rules(error.kind)) {
                errors.push(FieldError::invalid(
                    "",
                    Value::Null,
                    "some validation rules were not checked because the object was invalid; \
                     correct the existing errors to complete validation",
                ));
            } else {
                rules.evaluate(&self.schema, object, old, &mut errors, &mut forgiven);
            }
        }
        Verdict {
            errors: without_repeats(errors),
            forgiven: without_repeats(forgiven),
        }
    }
}

impl Validator {
    /// Whether the short way admits an object, and what the long one finds.
    #[cfg(test)]
    pub(super) fn both_ways(&self, object: &Value) -> (bool, Vec<FieldError>) {
        let admitted = self.quick.admits(object);
        (admitted, self.faults_of_values(object, None))
    }

    /// What is wrong apart from rules.
    fn faults_of_values(&self, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
        let mut errors = value::Checker::new(&self.patterns).check(&self.schema, object, old);
        embedded::check(&self.schema, object, &Path::Root, &mut errors);

        // A list that was already ambiguous when it was stored must not block its repair.
        let old_is_clean = old.is_none_or(|old| lists::check(&self.schema, old).is_empty());
        if old_is_clean {
            errors.extend(lists::check(&self.schema, object));
        }
        errors
    }
}

/// Validates one object against a schema that is used only once.
///
/// Whoever has many objects builds a [`Validator`]: this compiles all rules for each call. A
/// schema that does not compile refuses every object.
pub fn validate(schema: &Schema, object: &Value, old: Option<&Value>) -> Vec<FieldError> {
    match Validator::new(schema.clone()) {
        Ok(validator) => validator.validate(object, old),
        Err(error) => vec![FieldError::new(
            "",
            FieldErrorKind::Internal,
            None,
            error.to_string(),
        )],
    }
}

/// Faults after which rules could not be trusted to see well-typed data.
fn blocks_rules(kind: FieldErrorKind) -> bool {
    matches!(
        kind,
        FieldErrorKind::NotSupported
            | FieldErrorKind::Required
            | FieldErrorKind::TooLong
            | FieldErrorKind::TooMany
            | FieldErrorKind::TypeInvalid
    )
}

fn without_repeats(errors: Vec<FieldError>) -> Vec<FieldError> {
    let mut seen = HashSet::new();
    errors
        .into_iter()
        .filter(|error| seen.insert(error.to_string()))
        .collect()
}

fn compile_patterns(
    schema: &Schema,
    path: &str,
    patterns: &mut Patterns,
) -> Result<(), SchemaError> {
    if let Some(pattern) = &schema.pattern
        && !patterns.contains_key(pattern)
    {
        let regex = Regex::new(pattern).map_err(|source| SchemaError::Pattern {
            path: path.to_string(),
            pattern: pattern.clone(),
            source: Box::new(source),
        })?;
        patterns.insert(pattern.clone(), regex);
    }
    for (name, child) in &schema.properties {
        compile_patterns(child, &child_path(path, name), patterns)?;
    }
    if let Some(SchemaOrBool::Schema(child)) = schema.additional_properties.as_deref() {
        compile_patterns(child, &child_path(path, "*"), patterns)?;
    }
    if let Some(child) = schema.element() {
        compile_patterns(child, &format!("{path}[]"), patterns)?;
    }
    let nested = schema
        .all_of
        .iter()
        .chain(&schema.any_of)
        .chain(&schema.one_of)
        .chain(schema.not.as_deref());
    for child in nested {
        compile_patterns(child, path, patterns)?;
    }
    Ok(())
}
