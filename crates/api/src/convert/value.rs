//! Small helpers to take JSON apart and to put it together.

use serde_json::Value;

use super::concept::Fields;
use crate::quantity::Quantity;

const GIB: u64 = 1 << 30;

/// The value with its keys in order, whatever order its maps are kept in.
pub(super) fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let entries: std::collections::BTreeMap<String, Value> = map
                .into_iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            entries.into_iter().collect()
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

/// The fields of an object below a field; none when it is no object.
pub(super) fn object(fields: &Fields, key: &str) -> Option<Fields> {
    fields.get(key)?.as_object().cloned()
}

/// The items of a list below a field, those that are objects.
pub(super) fn objects(fields: &Fields, key: &str) -> Vec<Fields> {
    let items = fields.get(key).and_then(Value::as_array);
    let items = items.map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item.as_object().cloned())
        .collect()
}

/// Text below a field.
pub(super) fn text(fields: &Fields, key: &str) -> Option<String> {
    fields.get(key)?.as_str().map(str::to_owned)
}

/// Sets a field, when there is something to set.
pub(super) fn set(fields: &mut Fields, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        fields.insert(key.to_owned(), value.into());
    }
}

/// Sets a field to an object, unless that is empty.
pub(super) fn set_object(fields: &mut Fields, key: &str, value: Fields) {
    if !value.is_empty() {
        fields.insert(key.to_owned(), Value::Object(value));
    }
}

/// Sets a field to a list, unless that is empty.
pub(super) fn set_list<T: Into<Value>>(fields: &mut Fields, key: &str, items: Vec<T>) {
    if !items.is_empty() {
        fields.insert(key.to_owned(), items.into());
    }
}

/// Copies fields under new names: pairs of the name in `from` and the name in `to`.
pub(super) fn copy(from: &Fields, to: &mut Fields, names: &[(&str, &str)]) {
    for (old, new) in names {
        if let Some(value) = from.get(*old) {
            to.insert((*new).to_owned(), value.clone());
        }
    }
}

/// The same pairs, the other way.
pub(super) fn copy_back(from: &Fields, to: &mut Fields, names: &[(&str, &str)]) {
    for (old, new) in names {
        copy(from, to, &[(*new, *old)]);
    }
}

/// A number of bytes as the shortest quantity.
pub(super) fn bytes_to_quantity(bytes: &Value) -> Option<String> {
    let bytes = bytes.as_u64().filter(|bytes| *bytes > 0)?;
    Some(Quantity::from_bytes(bytes).to_string())
}

/// A quantity as bytes, rounded up.
pub(super) fn quantity_to_bytes(quantity: &str) -> Option<u64> {
    let quantity: Quantity = quantity.parse().ok()?;
    let milli = u128::try_from(quantity.milli()).ok()?;
    u64::try_from(milli.div_ceil(1000)).ok()
}

/// Gigabytes, counted as binary ones, as a quantity.
pub(super) fn gigabytes_to_quantity(gigabytes: &Value) -> Option<String> {
    let gigabytes = gigabytes.as_u64().filter(|gigabytes| *gigabytes > 0)?;
    let bytes = gigabytes.checked_mul(GIB)?;
    Some(Quantity::from_bytes(bytes).to_string())
}

/// A quantity as binary gigabytes, and whether it is a whole number of them.
pub(super) fn quantity_to_gigabytes(quantity: &str) -> Option<(u64, bool)> {
    let bytes = quantity_to_bytes(quantity)?;
    Some((bytes.div_ceil(GIB), bytes % GIB == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_become_each_other() {
        assert_eq!(
            bytes_to_quantity(&8_589_934_592_u64.into()).as_deref(),
            Some("8Gi")
        );
        assert_eq!(bytes_to_quantity(&0.into()), None);
        assert_eq!(quantity_to_bytes("8Gi"), Some(8_589_934_592));
        assert_eq!(quantity_to_bytes("1500m"), Some(2));
        assert_eq!(
            gigabytes_to_quantity(&65536.into()).as_deref(),
            Some("64Ti")
        );
        assert_eq!(quantity_to_gigabytes("20Gi"), Some((20, true)));
        assert_eq!(quantity_to_gigabytes("1500Mi"), Some((2, false)));
        assert_eq!(quantity_to_gigabytes("much"), None);
    }
}
