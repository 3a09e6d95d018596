//! Numbers: ranges of formats, bounds and multiples.

use serde_json::{Number, Value};

use super::outcome::Outcome;
use crate::schema::path::Path;
use crate::schema::text::{go_float, go_number};
use crate::schema::{FieldError, Schema, format};

/// Whether a float stands for an integer that JSON can carry exactly.
pub(super) fn is_json_integer(float: f64) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    float.is_finite() && float.abs() <= LARGEST && float.fract() == 0.0
}

pub(super) fn check(schema: &Schema, number: &Number, path: &Path<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    outcome.errors.extend(range_error(schema, number, path));
    outcome.errors.extend(multiple_error(schema, number, path));
    outcome.errors.extend(bound_error(
        schema.minimum.as_ref(),
        schema.exclusive_minimum,
        ("greater than or equal to", "greater than"),
        |ordering| ordering.is_gt(),
        number,
        path,
    ));
    outcome.errors.extend(bound_error(
        schema.maximum.as_ref(),
        schema.exclusive_maximum,
        ("less than or equal to", "less than"),
        |ordering| ordering.is_lt(),
        number,
        path,
    ));
    outcome.count();
    outcome
}

/// Whether the number fits the type and format; upstream gives these faults no field.
fn range_error(schema: &Schema, number: &Number, path: &Path<'_>) -> Option<FieldError> {
    if schema.int_or_string {
        return None;
    }
    let format = format::effective(schema);
    let float = number.as_f64().unwrap_or(f64::NAN);
    let fits = match (schema.ty.as_deref(), format) {
        (Some("integer"), Some("int32")) => whole(number).is_some_and(|n| i32::try_from(n).is_ok()),
        (Some("integer"), _) => whole(number).is_some(),
        (Some("number"), Some("float")) => float.abs() <= f64::from(f32::MAX),
        _ => true,
    };
    if fits {
        return None;
    }
    let ty = schema.ty.as_deref().unwrap_or_default();
    let wanted = match format {
        Some(format) => format!("with format {format}"),
        None => "(default format)".to_string(),
    };
    Some(FieldError::invalid(
        "",
        "",
        format!("Checked value must be of type {ty} {wanted} in {path}"),
    ))
}

/// The number as an integer, if it is one.
pub(super) fn whole(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        #[allow(
            clippy::cast_possible_truncation,
            reason = "only a float that passes the check is used, and that one fits"
        )]
        is_json_integer(float).then_some(float as i64)
    })
}

/// Compares exactly where both are integers, and as floats otherwise.
fn compare(left: &Number, right: &Number) -> Option<std::cmp::Ordering> {
    match (left.as_i64(), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn bound_error(
    bound: Option<&Number>,
    exclusive: bool,
    words: (&str, &str),
    is_inside: impl Fn(std::cmp::Ordering) -> bool,
    number: &Number,
    path: &Path<'_>,
) -> Option<FieldError> {
    let bound = bound?;
    let ordering = compare(number, bound)?;
    if is_inside(ordering) || (ordering.is_eq() && !exclusive) {
        return None;
    }
    let words = if exclusive { words.1 } else { words.0 };
    let shown = shown_limit(number, bound);
    Some(FieldError::invalid(
        path.to_string(),
        Value::Number(number.clone()),
        format!("{path} in body should be {words} {shown}"),
    ))
}

fn multiple_error(schema: &Schema, number: &Number, path: &Path<'_>) -> Option<FieldError> {
    let factor = schema.multiple_of.as_ref()?;
    let shown = shown_limit(number, factor);
    if factor.as_f64().is_none_or(|factor| factor <= 0.0) {
        return Some(FieldError::invalid(
            path.to_string(),
            Value::Number(factor.clone()),
            format!("factor MultipleOf declared for {path} must be positive: {shown}"),
        ));
    }
    let is_multiple = match (number.as_i64(), whole(factor)) {
        (Some(number), Some(factor)) => number % factor == 0,
        _ => {
            let quotient = number.as_f64()? / factor.as_f64()?;
            let nearest = quotient.round();
            // Binary floats seldom divide evenly: 0.3 / 0.1 is 2.9999999999999996.
            is_json_integer(nearest) && (quotient - nearest).abs() <= 1e-9 * nearest.abs()
        }
    };
    (!is_multiple).then(|| {
        FieldError::invalid(
            path.to_string(),
            Value::Number(number.clone()),
            format!("{path} in body should be a multiple of {shown}"),
        )
    })
}

/// A limit as upstream prints it: as an integer beside integers, else as a float.
fn shown_limit(number: &Number, limit: &Number) -> String {
    match (number.as_i64(), whole(limit)) {
        (Some(_), Some(limit)) => limit.to_string(),
        _ => limit.as_f64().map_or_else(|| go_number(limit), go_float),
    }
}
