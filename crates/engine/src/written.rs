//! Reads one's own writes: what was last written to each object, until the cache shows it.
//!
//! A pass over a cached object that is behind our own status would find nothing to say, and the
//! status would stay as it is: nobody looks again at a machine that is as declared.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The versions that were written and not seen in the cache yet, by object.
#[derive(Default)]
pub(crate) struct Written {
    versions: Mutex<HashMap<String, String>>,
}

impl Written {
    /// This version was written.
    pub(crate) fn put(&self, uid: &str, version: &str) {
        self.lock().insert(uid.to_owned(), version.to_owned());
    }

    /// Whether a cached object may be behind what was written. One that somebody else changed
    /// since looks the same, until it was read afresh and is just that.
    pub(crate) fn is_ahead_of(&self, uid: &str, version: &str) -> bool {
        let mut versions = self.lock();
        match versions.get(uid).map(|written| written == version) {
            Some(true) => versions.remove(uid).is_none(),
            Some(false) => true,
            None => false,
        }
    }

    /// The cache shows what there is, or the object is gone.
    pub(crate) fn forget(&self, uid: &str) {
        self.lock().remove(uid);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
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
        written.forget("a");
        assert!(!written.is_ahead_of("a", "3"));
    }
}
