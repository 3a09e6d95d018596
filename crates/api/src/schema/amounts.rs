//! Quantities that may be strings or bare numbers.
//!
//! The rules look at the type first: a number has no suffix to read, and a string has no size to
//! compare before it is read.

use schemars::Schema;
use serde_json::Value;

use super::{Rule, add_rules};
use crate::quantity::MAX_LENGTH;

const NOT_NEGATIVE: Rule = Rule::new(
    "type(self) == string ? isQuantity(self) && quantity(self).compareTo(quantity('0')) >= 0 : self >= 0",
    "must be a Kubernetes quantity that is not negative, such as 20Gi",
);

const POSITIVE: Rule = Rule::new(
    "type(self) == string ? isQuantity(self) && quantity(self).compareTo(quantity('0')) > 0 : self > 0",
    "must be a Kubernetes quantity above zero, such as 20Gi",
);

/// Makes the schema that of a quantity, whatever an optional field made of it.
fn int_or_string(schema: &mut Schema) {
    schema.remove("anyOf");
    schema.remove("type");
    schema.insert("x-kubernetes-int-or-string".to_owned(), Value::Bool(true));
    schema.insert("maxLength".to_owned(), MAX_LENGTH.into());
}

/// A quantity of zero or more.
pub(crate) fn amount(schema: &mut Schema) {
    int_or_string(schema);
    add_rules(schema, &[NOT_NEGATIVE]);
}

/// A quantity above zero.
pub(crate) fn positive_amount(schema: &mut Schema) {
    int_or_string(schema);
    add_rules(schema, &[POSITIVE]);
}
