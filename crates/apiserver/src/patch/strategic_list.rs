//! Lists under a strategic merge patch: merging them and keeping their order.

use serde_json::Value;

use super::error::PatchError;
use super::strategic::{DIRECTIVE, Merger, go_text};
use super::strategies::ListStrategy;

impl Merger<'_> {
    pub(super) fn merge_list(
        &mut self,
        before: Vec<Value>,
        change: Vec<Value>,
    ) -> Result<Vec<Value>, PatchError> {
        match self.strategy() {
            ListStrategy::Replace => Ok(change),
            _ if before.is_empty() && change.is_empty() => Ok(before),
            ListStrategy::Scalars => self.merge_scalars(before, change),
            ListStrategy::Keyed(key) => self.merge_keyed(before, change, key),
        }
    }

    fn merge_scalars(
        &self,
        before: Vec<Value>,
        change: Vec<Value>,
    ) -> Result<Vec<Value>, PatchError> {
        if before
            .iter()
            .chain(&change)
            .any(|item| item.is_array() || item.is_object() || item.is_null())
        {
            return Err(PatchError::unfit(
                "the list merges by value and may hold scalars only",
            ));
        }
        let mut merged: Vec<Value> = Vec::new();
        for item in before.iter().chain(&change) {
            if !merged.contains(item) {
                merged.push(item.clone());
            }
        }
        order_items(merged, &change, &before, ListStrategy::Scalars)
    }

    fn merge_keyed(
        &mut self,
        mut before: Vec<Value>,
        change: Vec<Value>,
        key: &str,
    ) -> Result<Vec<Value>, PatchError> {
        let mut replace = false;
        let mut plain = Vec::new();
        for item in change {
            let Some(directive) = item.get(DIRECTIVE) else {
                self.key_of(&item, key)?;
                plain.push(item);
                continue;
            };
            match directive.as_str() {
                Some("delete") => {
                    let unwanted = self.key_of(&item, key)?;
                    before.retain(|item| item.get(key) != Some(unwanted));
                }
                Some("replace") => replace = true,
                _ => {
                    let (directive, map) = (go_text(directive), go_text(&item));
                    return Err(PatchError::unfit(format!(
                        "unknown patch type: {directive} in map: {map}"
                    )));
                }
            }
        }
        if replace {
            return Ok(plain);
        }
        let mut merged = before.clone();
        for item in &plain {
            let wanted = self.key_of(item, key)?;
            match merged.iter_mut().find(|old| old.get(key) == Some(wanted)) {
                Some(old) => {
                    let (Value::Object(fields), Value::Object(change)) = (&*old, item) else {
                        continue;
                    };
                    *old = Value::Object(self.merge_map(fields.clone(), change.clone())?);
                }
                None => merged.push(item.clone()),
            }
        }
        order_items(merged, &plain, &before, ListStrategy::Keyed(key))
    }

    fn key_of<'v>(&self, item: &'v Value, key: &str) -> Result<&'v Value, PatchError> {
        let missing = || {
            let map = go_text(item);
            PatchError::unfit(format!(
                "map: {map} does not contain declared merge key: {key}"
            ))
        };
        item.get(key).ok_or_else(missing)
    }
}

/// What an item is known by, for ordering.
fn identity<'v>(item: &'v Value, strategy: ListStrategy<'_>) -> Option<&'v Value> {
    match strategy {
        ListStrategy::Keyed(key) => item.get(key),
        ListStrategy::Replace | ListStrategy::Scalars => Some(item),
    }
}

fn position(list: &[Value], item: &Value, strategy: ListStrategy<'_>) -> Option<usize> {
    let wanted = identity(item, strategy)?;
    list.iter()
        .position(|other| identity(other, strategy) == Some(wanted))
}

/// Puts the items of the patch in its order, and each of the others before the first of them
/// that it came before in the live list.
pub(super) fn order_items(
    merged: Vec<Value>,
    patch_order: &[Value],
    live_order: &[Value],
    strategy: ListStrategy<'_>,
) -> Result<Vec<Value>, PatchError> {
    if let ListStrategy::Keyed(key) = strategy
        && merged.iter().any(|item| item.get(key).is_none())
    {
        return Err(PatchError::unfit(format!(
            "an item lacks the merge key {key}"
        )));
    }
    let in_patch = |item: &Value| position(patch_order, item, strategy);
    let in_live = |item: &Value| position(live_order, item, strategy);
    let (mut ours, others): (Vec<_>, Vec<_>) = merged
        .into_iter()
        .partition(|item| in_patch(item).is_some());
    ours.sort_by_key(in_patch);

    let mut out = Vec::with_capacity(ours.len() + others.len());
    let mut others = others.into_iter().peekable();
    for item in ours {
        let limit = in_live(&item);
        while let Some(earlier) = others.next_if(|other| limit.is_some() && in_live(other) < limit)
        {
            out.push(earlier);
        }
        out.push(item);
    }
    out.extend(others);
    Ok(out)
}

/// Checks that the items of a patch come in the order that the patch itself sets.
pub(super) fn check_order(
    change: &[Value],
    order: &[Value],
    strategy: ListStrategy<'_>,
) -> Result<(), PatchError> {
    if change.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut rest = order.iter();
    for item in change.iter().filter(|item| item.get(DIRECTIVE).is_none()) {
        let wanted = identity(item, strategy);
        if !rest.any(|other| identity(other, strategy) == wanted) {
            let lists = [change, order].map(|list| go_text(&Value::from(list)));
            let [change, order] = lists;
            return Err(PatchError::unfit(format!(
                "The order in patch list:\n{change}\n doesn't match $setElementOrder list:\n{order}\n"
            )));
        }
    }
    Ok(())
}
