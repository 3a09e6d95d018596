//! Match conditions: CEL that narrows what a webhook is asked about.

use std::collections::HashMap;

use serde_json::Value;

use super::Request;
use super::configuration::FailurePolicy;
use crate::registry::Kind;
use crate::schema::cel::{Asked, Expression, Variables};

/// The variables that conditions may name.
pub(super) const VARIABLES: [&str; 3] = ["object", "oldObject", "request"];

/// The conditions of one webhook, all of which must hold.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    all: Vec<Result<Expression, String>>,
    /// How much they ask of each variable: an object is large, and a condition reads little of it.
    asked: HashMap<&'static str, Asked>,
}

impl Conditions {
    /// Reads the conditions; one that cannot be read fails whenever it is evaluated.
    pub(super) fn read(conditions: &Value) -> Self {
        let list = conditions.as_array().into_iter().flatten();
        let all: Vec<_> = list
            .map(|c| Expression::compile(c["expression"].as_str().unwrap_or_default(), &VARIABLES))
            .collect();
        let of = |name| Asked::sum(all.iter().flatten().map(|condition| condition.asks(name)));
        let asked = VARIABLES.map(|name| (name, of(name))).into();
        Self { all, asked }
    }

    /// Whether there is nothing to evaluate.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether all hold. One that does not decides; without such a one, an error counts as the
    /// failure policy says, and is a sentence.
    pub(super) fn hold(&self, seen: &Seen<'_>, policy: FailurePolicy) -> Result<bool, String> {
        let about = self.about(seen);
        let values = [seen.object, seen.old, Some(&about)];
        let plain = |condition: &Result<Expression, String>| {
            condition.as_ref().ok()?.plainly_holds(&values)
        };
        let plain: Vec<Option<bool>> = self.all.iter().map(plain).collect();
        if plain.contains(&Some(false)) {
            return Ok(false);
        }
        if plain.iter().all(|holds| *holds == Some(true)) {
            return Ok(true);
        }
        self.evaluate(&self.variables(seen, &about), policy)
    }

    /// As much of the request as the conditions ask for. There is no review yet, and so no UID.
    fn about(&self, seen: &Seen<'_>) -> Value {
        let is_asked = |name: &str| match self.asked.get("request") {
            Some(Asked::Fields(names)) => names.contains(name),
            Some(Asked::All) | None => true,
        };
        super::review::about(seen.request, seen.told, is_asked)
    }

    fn variables(&self, seen: &Seen<'_>, about: &Value) -> Variables {
        let mut variables = Variables::default();
        let mut add = |name, value: &Value| match self.asked.get(name) {
            Some(asked) => variables.add(name, value, asked),
            None => variables.add(name, value, &Asked::All),
        };
        add("object", seen.object.unwrap_or(&Value::Null));
        add("oldObject", seen.old.unwrap_or(&Value::Null));
        add("request", about);
        variables
    }

    fn evaluate(&self, variables: &Variables, policy: FailurePolicy) -> Result<bool, String> {
        let mut errors = Vec::new();
        for condition in &self.all {
            match condition {
                Ok(expression) => match expression.holds(variables) {
                    Ok(true) => {}
                    Ok(false) => return Ok(false),
                    Err(error) => errors.push(error),
                },
                Err(error) => errors.push(error.clone()),
            }
        }
        match (errors.as_slice(), policy) {
            ([], _) => Ok(true),
            (_, FailurePolicy::Ignore) => Ok(false),
            ([one], FailurePolicy::Fail) => Err(one.clone()),
            (many, FailurePolicy::Fail) => Err(format!("[{}]", many.join(", "))),
        }
    }
}

/// What conditions see of a request, in the version that the webhook is told of.
pub(super) struct Seen<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) told: &'a Kind,
    pub(super) object: Option<&'a Value>,
    pub(super) old: Option<&'a Value>,
}
