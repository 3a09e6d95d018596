//! Quantities that may be strings or bare numbers, alone and as the values of a map.
//!
//! The rules look at the type first: a number has no suffix to read, and a string has no size to
//! compare before it is read.

use schemars::Schema;
use serde_json::{Value, json};

use super::{Rule, add_rules};
use crate::quantity::MAX_LENGTH;

/// Most entries of a map of quantities; rules about its values cost by it.
const MAX_RESOURCES: u32 = 32;

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

/// Quantities of zero or more, by the name of a resource.
pub(crate) fn resource_list(schema: &mut Schema) {
    let mut value = Schema::default();
    amount(&mut value);
    schema.insert("maxProperties".to_owned(), MAX_RESOURCES.into());
    schema.insert("additionalProperties".to_owned(), json!(value));
}

/// Entries of a list of resources that must be there and be above zero.
pub(crate) fn positive_entries(schema: &mut Schema, field: &str, names: &[&'static str]) {
    for name in names {
        let present = Rule::owned(
            format!("'{name}' in self"),
            format!("{field}.{name} is required, as a Kubernetes quantity above zero"),
        )
        .demands(name);
        add_rules(schema, &[present]);
    }
    positive_if_given(schema, field, names);
}

/// Entries of a list of resources that must be above zero where they are given.
pub(crate) fn positive_if_given(schema: &mut Schema, field: &str, names: &[&'static str]) {
    for name in names {
        let entry = format!("self['{name}']");
        let positive = Rule::owned(
            format!(
                "!('{name}' in self) || (type({entry}) == string ? isQuantity({entry}) \
                 && quantity({entry}).compareTo(quantity('0')) > 0 : {entry} > 0)"
            ),
            format!("{field}.{name} must be a Kubernetes quantity above zero"),
        )
        .about_entry(name);
        add_rules(schema, &[positive]);
    }
}
