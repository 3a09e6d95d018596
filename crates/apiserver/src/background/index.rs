//! Who owns what, and what is on its way out, by key and UID.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::bytes::Regex;
use serde_json::Value;

use crate::codec;
use crate::meta;

/// What an object has that matters here. Every value in the store is looked through at the start,
/// so it is done by a search that takes many bytes at once. Without it all objects are read.
static MATTERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new("\"(?:ownerReferences|deletionTimestamp)\"").ok());

/// What the background work wants to know of an object.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Facts {
    owners: Vec<String>,
    deleting: bool,
}

impl Facts {
    /// Whether there can be anything to do about the object.
    pub(super) fn is_concerned(&self) -> bool {
        self.deleting || !self.owners.is_empty()
    }
}

/// The index over everything in the store.
#[derive(Debug, Default)]
pub(super) struct Index {
    facts: HashMap<String, Facts>,
    /// The keys of the objects that name an owner, by the owner's UID.
    dependents: HashMap<String, BTreeSet<String>>,
    /// The keys of objects that wait to be deleted.
    unfinished: BTreeSet<String>,
    /// The key of each object that waits to be deleted, by UID.
    waiting: HashMap<String, String>,
}

impl Index {
    /// Takes note of an object; gives what was noted if it matters.
    pub(super) fn put(&mut self, key: &str, value: &[u8]) -> Option<&Facts> {
        if !MATTERS.as_ref().is_none_or(|words| words.is_match(value)) {
            self.forget(key);
            return None;
        }
        let object = codec::decode_value(value);
        let facts = Facts {
            owners: owner_uids(&object),
            deleting: meta::is_deleting(&object),
        };
        self.forget(key);
        for owner in &facts.owners {
            self.dependents
                .entry(owner.clone())
                .or_default()
                .insert(key.to_owned());
        }
        if facts.deleting {
            self.unfinished.insert(key.to_owned());
            self.waiting
                .insert(meta::uid(&object).to_owned(), key.to_owned());
        }
        self.facts.insert(key.to_owned(), facts);
        self.facts.get(key)
    }

    /// Forgets an object that is gone; gives the keys that its end concerns.
    pub(super) fn remove(&mut self, key: &str, last: &[u8]) -> Vec<String> {
        let object = codec::decode_value(last);
        self.forget(key);
        let uid = meta::uid(&object);
        self.waiting.remove(uid);
        let mut touched = self.dependents_of(uid);
        touched.extend(
            owner_uids(&object)
                .iter()
                .filter_map(|owner| self.waiting.get(owner))
                .cloned(),
        );
        touched
    }

    fn forget(&mut self, key: &str) {
        let Some(facts) = self.facts.remove(key) else {
            return;
        };
        for owner in facts.owners {
            if let Some(keys) = self.dependents.get_mut(&owner) {
                keys.remove(key);
                if keys.is_empty() {
                    self.dependents.remove(&owner);
                }
            }
        }
        self.unfinished.remove(key);
    }

    /// The keys of the objects that name this owner.
    pub(super) fn dependents_of(&self, uid: &str) -> Vec<String> {
        self.dependents
            .get(uid)
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    /// The keys of the objects that wait to be deleted.
    pub(super) fn unfinished(&self) -> Vec<String> {
        self.unfinished.iter().cloned().collect()
    }

    /// Whether an object waits to be deleted.
    pub(super) fn is_unfinished(&self, key: &str) -> bool {
        self.unfinished.contains(key)
    }

    /// Whether any object waits to be deleted.
    pub(super) fn has_unfinished(&self) -> bool {
        !self.unfinished.is_empty()
    }
}

fn owner_uids(object: &Value) -> Vec<String> {
    let owners = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    owners
        .into_iter()
        .flatten()
        .filter_map(|o| o["uid"].as_str())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_matters_is_noted() {
        assert!(MATTERS.is_some());
        let mut index = Index::default();
        let owned = br#"{"metadata":{"ownerReferences":[{"uid":"u"}],"uid":"v"}}"#;
        assert!(index.put("/a", owned).is_some_and(Facts::is_concerned));
        assert_eq!(index.dependents_of("u"), ["/a"]);
        let going = br#"{"metadata":{"deletionTimestamp":"now","uid":"v"}}"#;
        assert!(index.put("/b", going).is_some_and(Facts::is_concerned));
        assert!(index.put("/a", br#"{"metadata":{"uid":"v"}}"#).is_none());
        assert!(index.dependents_of("u").is_empty());
    }
}
