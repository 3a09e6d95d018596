//! Which changes of objects a pass is due for: those of what is declared, and not our own writes when
//! they come back.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, runtime::watcher};

use crate::written::Written;

/// Everything about an object but its status and bookkeeping: a pass is due when this changes.
pub(crate) fn declared(meta: &ObjectMeta) -> u64 {
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
    hasher.finish()
}

/// What was declared by each object, by UID.
#[derive(Default)]
pub(super) struct Changes {
    known: HashMap<Box<str>, u64>,
    /// What was known before the list that is under way; what it does not show is gone.
    before: HashMap<Box<str>, u64>,
}

impl Changes {
    /// The object of an event that a pass is due for. A version that a pass wrote itself was known
    /// to that pass, which went on from it.
    pub(super) fn due<K: Resource>(
        &mut self,
        event: watcher::Event<K>,
        declared: fn(&K) -> u64,
        written: &Written,
    ) -> Option<K> {
        let (object, in_view) = match event {
            watcher::Event::Apply(object) => (object, true),
            // Not before the list is complete.
            watcher::Event::InitApply(object) => (object, false),
            watcher::Event::Delete(object) => {
                self.known.remove(text(&object.meta().uid));
                return None;
            }
            watcher::Event::Init => {
                self.before = std::mem::take(&mut self.known);
                return None;
            }
            watcher::Event::InitDone => {
                self.before = HashMap::new();
                return None;
            }
        };
        let now = declared(&object);
        let meta = object.meta();
        let uid = text(&meta.uid);
        let ours = in_view && written.is_shown(uid, text(&meta.resource_version));
        let before = match self.known.get_mut(uid) {
            Some(known) => Some(std::mem::replace(known, now)),
            None => {
                self.known.insert(uid.into(), now);
                self.before.remove(uid)
            }
        };
        (before != Some(now) && !ours).then_some(object)
    }
}

fn text(of: &Option<String>) -> &str {
    of.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use machinist_api::vitistack::Machine;
    use watcher::Event;

    use super::*;
    use crate::testing::machine;

    fn labelled(number: u64, label: &str) -> Machine {
        let mut machine = machine(number);
        let labels = [("app".to_owned(), label.to_owned())];
        machine.metadata.labels = Some(labels.into());
        machine
    }

    fn at(version: &str, mut machine: Machine) -> Machine {
        machine.metadata.resource_version = Some(version.into());
        machine
    }

    /// Whether each event in turn makes a pass due.
    fn due(events: Vec<Event<Machine>>, written: &Written) -> Vec<bool> {
        let mut changes = Changes::default();
        let declared = |machine: &Machine| declared(&machine.metadata);
        let mut due = |event| changes.due(event, declared, written).is_some();
        events.into_iter().map(&mut due).collect()
    }

    #[test]
    fn a_pass_is_due_when_what_is_declared_changes() {
        let events = vec![
            Event::Apply(labelled(1, "a")),
            Event::Apply(at("7", labelled(1, "a"))),
            Event::Apply(labelled(1, "b")),
            Event::Apply(labelled(2, "b")),
            Event::Delete(labelled(1, "b")),
            Event::Apply(labelled(1, "b")),
        ];
        let expected = [true, false, true, true, false, true];
        assert_eq!(due(events, &Written::default()), expected);
    }

    #[test]
    fn what_a_pass_wrote_itself_makes_none_due() {
        let written = Written::default();
        written.put("uid-1", "8");
        let events = vec![
            Event::Apply(at("7", labelled(1, "a"))),
            Event::Apply(at("8", labelled(1, "b"))),
            Event::Apply(at("9", labelled(1, "b"))),
            Event::Apply(at("10", labelled(1, "c"))),
        ];
        assert_eq!(due(events, &written), [true, false, false, true]);
        assert!(!written.is_ahead_of("uid-1", "7"), "it was shown");
    }

    #[test]
    fn a_list_that_shows_nothing_new_makes_none_due() {
        let list = |shown: Vec<Machine>| {
            let shown = shown.into_iter().map(Event::InitApply);
            let all = [Event::Init].into_iter().chain(shown);
            all.chain([Event::InitDone]).collect::<Vec<_>>()
        };
        let lists = [
            list(vec![labelled(1, "a"), labelled(2, "a")]),
            list(vec![labelled(1, "a"), labelled(3, "a")]),
            // The second was gone for a while: that it is there is news.
            list(vec![labelled(1, "b"), labelled(2, "a"), labelled(3, "a")]),
        ];
        let (yes, no) = (true, false);
        let expected = [
            no, yes, yes, no, // first
            no, no, yes, no, // second
            no, yes, yes, no, no, // third
        ];
        assert_eq!(due(lists.concat(), &Written::default()), expected);
    }
}
