//! Strategic merge patch: a merge patch in which some lists merge and directives steer it.
//!
//! The directives: `$patch: replace|delete` in an object, `$retainKeys`,
//! `$deleteFromPrimitiveList/<field>` and `$setElementOrder/<field>`. Lists are in
//! [`super::strategic_list`].

use serde_json::{Map, Value};

use super::error::PatchError;
use super::strategic_list::{check_order, order_items};
use super::strategies::{ListStrategy, Lists};

pub(super) const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const SET_ORDER: &str = "$setElementOrder";

/// The object after a strategic merge patch.
pub fn strategic_merge_patch(
    lists: Lists<'_>,
    live: &Value,
    patch: &Value,
) -> Result<Value, PatchError> {
    let Value::Object(original) = live else {
        return Err(PatchError::unfit("the object is not a JSON object"));
    };
    let Value::Object(patch) = patch else {
        return Err(PatchError::malformed(super::not_a_map(patch)));
    };
    let mut merger = Merger {
        lists,
        path: Vec::new(),
    };
    merger
        .merge_map(original.clone(), patch.clone())
        .map(Value::Object)
}

pub(super) struct Merger<'a> {
    lists: Lists<'a>,
    path: Vec<String>,
}

impl<'a> Merger<'a> {
    fn below<T>(&mut self, name: &str, act: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(name.into());
        let result = act(self);
        self.path.pop();
        result
    }

    pub(super) fn strategy(&self) -> ListStrategy<'a> {
        self.lists.strategy(&self.path)
    }

    pub(super) fn merge_map(
        &mut self,
        mut original: Map<String, Value>,
        mut patch: Map<String, Value>,
    ) -> Result<Map<String, Value>, PatchError> {
        match patch.remove(DIRECTIVE) {
            None => {}
            Some(Value::String(word)) if word == "replace" => return Ok(patch),
            Some(Value::String(word)) if word == "delete" => return Ok(Map::new()),
            Some(other) => {
                let map = go_text(&Value::Object(patch));
                let other = go_text(&other);
                return Err(PatchError::unfit(format!(
                    "unknown patch type: {other} in map: {map}"
                )));
            }
        }
        self.retain_keys(&mut original, &mut patch)?;
        self.merge_ordered_lists(&mut original, &mut patch)?;
        for (name, change) in patch {
            match directive_field(&name, DELETE_FROM_LIST) {
                Some(Some(field)) => {
                    self.below(field, |at| {
                        at.delete_from_list(&mut original, field, &change)
                    })?;
                }
                Some(None) => {
                    return Err(PatchError::unfit("invalid patch format of primitive list"));
                }
                None => self.below(&name, |at| at.merge_field(&mut original, &name, change))?,
            }
        }
        Ok(original)
    }

    fn merge_field(
        &mut self,
        original: &mut Map<String, Value>,
        name: &str,
        change: Value,
    ) -> Result<(), PatchError> {
        let merged = match (original.remove(name), change) {
            (_, Value::Null) => None,
            (Some(Value::Object(before)), Value::Object(change)) => {
                Some(Value::Object(self.merge_map(before, change)?))
            }
            (Some(Value::Array(before)), Value::Array(change)) => {
                Some(Value::Array(self.merge_list(before, change)?))
            }
            (_, change) => without_directives(without_nulls(change)),
        };
        if let Some(merged) = merged {
            original.insert(name.into(), merged);
        }
        Ok(())
    }

    fn retain_keys(
        &self,
        original: &mut Map<String, Value>,
        patch: &mut Map<String, Value>,
    ) -> Result<(), PatchError> {
        let Some(keys) = patch.remove(RETAIN_KEYS) else {
            return Ok(());
        };
        let malformed = || PatchError::unfit("invalid patch format of retainKeys");
        let keys = keys.as_array().ok_or_else(malformed)?;
        let retained = |name: &str| keys.iter().any(|key| key.as_str() == Some(name));
        let is_directive =
            |name: &str| name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ORDER);
        let mut changes = patch
            .iter()
            .filter(|(name, change)| !change.is_null() && !is_directive(name));
        if changes.any(|(name, _)| !retained(name)) {
            return Err(malformed());
        }
        original.retain(|name, _| retained(name));
        Ok(())
    }

    /// Merges the lists that come with an order of their own.
    fn merge_ordered_lists(
        &mut self,
        original: &mut Map<String, Value>,
        patch: &mut Map<String, Value>,
    ) -> Result<(), PatchError> {
        let is_order = |name: &&String| directive_field(name, SET_ORDER).is_some();
        let directives: Vec<_> = patch.keys().filter(is_order).cloned().collect();
        for directive in directives {
            let order = patch.remove(&directive);
            let malformed = || PatchError::unfit("invalid patch format of setElementOrder list");
            let (Some(Some(field)), Some(Value::Array(order))) =
                (directive_field(&directive, SET_ORDER), order)
            else {
                return Err(malformed());
            };
            let before = take_list(original, field).map_err(|()| malformed())?;
            let change = take_list(patch, field).map_err(|()| malformed())?;
            let merged = self.below(field, |at| at.merge_ordered_list(before, change, &order))?;
            if let Some(merged) = merged {
                original.insert(field.into(), Value::Array(merged));
            }
        }
        Ok(())
    }

    fn merge_ordered_list(
        &mut self,
        before: Option<Vec<Value>>,
        change: Option<Vec<Value>>,
        order: &[Value],
    ) -> Result<Option<Vec<Value>>, PatchError> {
        let strategy = self.strategy();
        check_order(change.as_deref().unwrap_or_default(), order, strategy)?;
        let live_order = before.clone().unwrap_or_default();
        let merged = match (before, change) {
            (None, None) => return Ok(None),
            (Some(before), None) => before,
            (None, Some(change)) => change.into_iter().filter_map(without_directives).collect(),
            (Some(before), Some(change)) => self.merge_list(before, change)?,
        };
        order_items(merged, order, &live_order, strategy).map(Some)
    }

    fn delete_from_list(
        &self,
        original: &mut Map<String, Value>,
        field: &str,
        unwanted: &Value,
    ) -> Result<(), PatchError> {
        if unwanted.is_null() {
            original.remove(field);
            return Ok(());
        }
        let Some(unwanted) = unwanted.as_array() else {
            return Err(PatchError::unfit("invalid patch format of primitive list"));
        };
        if let Some(Value::Array(items)) = original.get_mut(field) {
            items.retain(|item| !unwanted.contains(item));
        }
        Ok(())
    }
}

/// A value as Go prints it.
pub(crate) fn go_text(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, field)| format!("{name}:{}", go_text(field)))
                .collect();
            format!("map[{}]", fields.join(" "))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_text).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Null => "<nil>".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The field that a directive such as `$setElementOrder/finalizers` is about: `None` when the
/// name is no such directive, `Some(None)` when it names no field.
fn directive_field<'n>(name: &'n str, directive: &str) -> Option<Option<&'n str>> {
    let rest = name.strip_prefix(directive)?;
    Some(rest.strip_prefix('/'))
}

fn take_list(map: &mut Map<String, Value>, field: &str) -> Result<Option<Vec<Value>>, ()> {
    match map.remove(field) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(_) => Err(()),
    }
}

/// The value without the nulls in its objects: there is nothing for them to remove.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, field)| !field.is_null());
            Value::Object(
                kept.map(|(name, field)| (name, without_nulls(field)))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

/// The value without the objects that carry a directive; `None` when it is one itself.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Value::Object(fields) => {
            let kept = fields.into_iter();
            let kept = kept.filter_map(|(name, field)| Some((name, without_directives(field)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(Value::Array(
            items.into_iter().filter_map(without_directives).collect(),
        )),
        other => Some(other),
    }
}
