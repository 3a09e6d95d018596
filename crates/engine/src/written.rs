//! Reads one's own writes: what was last written to each object, until the cache shows it.
//!
//! A pass over a cached object that is behind our own status would find nothing to say, and the
//! status would stay as it is: nobody looks again at a machine that is as declared.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use machinist_core::machine::Uid;

/// The versions that were written and not seen in the cache yet, by object.
#[derive(Default)]
pub(crate) struct Written {
    versions: Mutex<HashMap<Uid, Box<str>>>,
}

impl Written {
    /// This version was written.
    pub(crate) fn put(&self, uid: &str, version: &str) {
        self.lock().insert(Uid::of(uid), version.into());
    }

    /// Whether a cached object may be behind what was written. One that somebody else changed
    /// since looks the same, until it was read afresh and is just that.
    pub(crate) fn is_ahead_of(&self, uid: &str, version: &str) -> bool {
        let mut versions = self.lock();
        let uid = Uid::of(uid);
        match versions.get(&uid).map(|written| **written == *version) {
            Some(true) => {
                remove(&mut versions, uid);
                false
            }
            Some(false) => true,
            None => false,
        }
    }

    /// The cache shows this version of an object.
    pub(crate) fn shown(&self, uid: Uid, version: &str) {
        let mut versions = self.lock();
        if versions
            .get(&uid)
            .is_some_and(|written| **written == *version)
        {
            remove(&mut versions, uid);
        }
    }

    /// The cache shows what there is, or the object is gone.
    pub(crate) fn forget(&self, uid: &str) {
        remove(&mut self.lock(), Uid::of(uid));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uid, Box<str>>> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes an entry, and with the last one the room that a crowd took.
fn remove(versions: &mut HashMap<Uid, Box<str>>, uid: Uid) {
    if versions.remove(&uid).is_some() && versions.is_empty() {
        *versions = HashMap::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_behind_until_it_shows_what_was_written() {
        let written = Written::default();
        assert!(!written.is_ahead_of("a", "1"));
        written.put("a", "2");
        assert!(written.is_ahead_of("a", "1"));
        assert!(written.is_ahead_of("a", "1"), "until it shows it");
        assert!(!written.is_ahead_of("a", "2"));
        assert!(!written.is_ahead_of("a", "1"), "it has shown it");
        written.put("a", "3");
        assert!(!written.is_ahead_of("a", "3"));
        written.put("a", "4");
        written.shown(Uid::of("a"), "3");
        assert!(written.is_ahead_of("a", "3"));
        written.shown(Uid::of("a"), "4");
        assert!(!written.is_ahead_of("a", "4"));
        assert!(written.lock().is_empty());
        written.put("a", "4");
        written.forget("a");
        assert!(!written.is_ahead_of("a", "3"));
    }
}
