//! Which objects of a watch need a pass: those that are declared otherwise than they were last seen.
//! Our own status writes come back through the watch too, and need none.

use std::collections::{HashMap, HashSet};

use kube::{Resource, runtime::watcher::Event};
use machinist_core::machine::Uid;

/// What was last seen to be declared.
pub(super) struct Changes<K> {
    /// Stands for what is declared by an object.
    declared: fn(&K) -> u64,
    seen: HashMap<Uid, u64>,
    /// The objects of the list that is being read: those that are not among them are gone.
    listed: Option<HashSet<Uid>>,
}

impl<K: Resource> Changes<K> {
    pub(super) fn new(declared: fn(&K) -> u64) -> Changes<K> {
        Changes {
            declared,
            seen: HashMap::new(),
            listed: None,
        }
    }

    /// The object, if it needs a pass.
    pub(super) fn of(&mut self, event: Event<K>) -> Option<K> {
        match event {
            Event::Init => {
                self.listed = Some(HashSet::new());
                None
            }
            Event::InitApply(object) => {
                if let Some(listed) = &mut self.listed {
                    listed.insert(uid(&object));
                }
                self.news(object)
            }
            Event::InitDone => {
                if let Some(listed) = self.listed.take() {
                    self.seen.retain(|uid, _| listed.contains(uid));
                }
                None
            }
            Event::Apply(object) => self.news(object),
            Event::Delete(object) => {
                self.seen.remove(&uid(&object));
                None
            }
        }
    }

    fn news(&mut self, object: K) -> Option<K> {
        let declared = (self.declared)(&object);
        let before = self.seen.insert(uid(&object), declared);
        (before != Some(declared)).then_some(object)
    }
}

fn uid(object: &impl Resource) -> Uid {
    Uid::of(object.meta().uid.as_deref().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Secret;

    use super::*;

    fn secret(uid: &str, generation: i64) -> Secret {
        let mut secret = Secret::default();
        secret.metadata.uid = Some(uid.to_owned());
        secret.metadata.generation = Some(generation);
        secret
    }

    #[test]
    fn what_is_declared_as_before_is_no_news_and_what_is_gone_is_forgotten() {
        let mut changes =
            Changes::new(|secret: &Secret| secret.metadata.generation.unwrap_or(0).unsigned_abs());
        let mut news = |event| changes.of(event).is_some();
        assert!(news(Event::Apply(secret("a", 1))));
        assert!(!news(Event::Apply(secret("a", 1))));
        assert!(news(Event::Apply(secret("a", 2))));
        assert!(!news(Event::Delete(secret("a", 2))));
        assert!(news(Event::Apply(secret("a", 2))), "it is another one");
        assert!(news(Event::Apply(secret("b", 1))));
        // A list shows everything, of which some is known, and some is gone.
        assert!(!news(Event::Init));
        assert!(!news(Event::InitApply(secret("a", 2))));
        assert!(news(Event::InitApply(secret("c", 1))));
        assert!(!news(Event::InitDone));
        assert_eq!(changes.seen.len(), 2);
        assert!(changes.of(Event::Apply(secret("b", 1))).is_some());
    }
}
