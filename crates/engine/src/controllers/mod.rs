//! One folder a kind: gather, act, report.

pub(crate) mod machine;
pub(crate) mod provider;

use std::hash::{DefaultHasher, Hash, Hasher};

use kube::Resource;

/// Everything about an object but its status and bookkeeping: a pass is due when this changes.
pub(crate) fn declared<K: Resource>(object: &K) -> Option<u64> {
    let meta = object.meta();
    let mut hasher = DefaultHasher::new();
    meta.uid.hash(&mut hasher);
    meta.generation.hash(&mut hasher);
    meta.labels.hash(&mut hasher);
    meta.annotations.hash(&mut hasher);
    meta.finalizers.hash(&mut hasher);
    meta.deletion_timestamp
        .as_ref()
        .map(|time| time.0.as_second())
        .hash(&mut hasher);
    Some(hasher.finish())
}
