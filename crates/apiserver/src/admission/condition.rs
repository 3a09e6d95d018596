//! Match conditions: CEL that narrows what a webhook is asked about.

use serde_json::Value;

use super::Request;
use super::configuration::FailurePolicy;
use crate::registry::Kind;
use crate::schema::cel::{Expression, Variables};

/// The variables that conditions may name.
pub(super) const VARIABLES: [&str; 3] = ["object", "oldObject", "request"];

/// The conditions of one webhook, all of which must hold.
#[derive(Debug, Default)]
pub(super) struct Conditions(Vec<Result<Expression, String>>);

impl Conditions {
    /// Reads the conditions; one that cannot be read fails whenever it is evaluated.
    pub(super) fn read(conditions: &Value) -> Self {
        let list = conditions.as_array().into_iter().flatten();
        Self(
            list.map(|c| {
                Expression::compile(c["expression"].as_str().unwrap_or_default(), &VARIABLES)
            })
            .collect(),
        )
    }

    /// Whether there is nothing to evaluate.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all hold. One that does not decides; without such a one, an error counts as the
    /// failure policy says, and is a sentence.
    pub(super) fn hold(
        &self,
        variables: &Variables,
        policy: FailurePolicy,
    ) -> Result<bool, String> {
        let mut errors = Vec::new();
        for condition in &self.0 {
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

/// The values that conditions see of a request, in the version that the webhook is told of.
pub(super) fn variables(
    request: &Request<'_>,
    told: &Kind,
    object: Option<&Value>,
    old: Option<&Value>,
) -> Variables {
    let mut variables = Variables::default();
    variables.add("object", object.unwrap_or(&Value::Null));
    variables.add("oldObject", old.unwrap_or(&Value::Null));
    let mut about = super::review::about(request, told);
    if let Some(fields) = about.as_object_mut() {
        // Conditions are evaluated before there is a review.
        fields.remove("uid");
    }
    variables.add("request", &about);
    variables
}
