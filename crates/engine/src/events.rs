//! Events with stable reasons: what happened to an object, for `kubectl describe`.
//!
//! What happens again is counted in the event that tells of it. Which one that is, is remembered
//! for a bounded number of events: kube-runtime's recorder keeps every event of the last minutes
//! whole, and walks over all of them for each new one.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        core::v1::ObjectReference,
        events::v1::{Event, EventSeries},
    },
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{Patch, PatchParams, PostParams},
    core::Request,
    runtime::reflector::Store,
};
use machinist_api::{
    convert, names,
    vitistack::{self, MachinePhase, Vitistack},
};
use serde::Deserialize;
use serde_json::json;

use crate::{
    Clock,
    journal::{Entry, Journal},
    trace::{self, TraceId},
};

/// Posts events about objects, and tells them to whoever collects logs.
pub(crate) struct Events {
    client: Client,
    clock: Arc<dyn Clock>,
    recent: Mutex<Recent>,
    journal: Journal,
    /// All Vitistacks, as last seen: they say who collects.
    stacks: Store<Vitistack>,
}

/// Who reports.
const REPORTER: &str = "machinist";
/// The longest note that the API takes.
const LONGEST_NOTE: usize = 1024;
/// How long after its last time an event is still the same one.
const SERIES: Duration = Duration::from_secs(6 * 60);
/// How many events are remembered at least.
const REMEMBERED: usize = 1024;

/// The events that were posted last, in two generations: when the younger is full, it takes the
/// place of the older.
#[derive(Default)]
struct Recent {
    younger: HashMap<u64, Posted>,
    older: HashMap<u64, Posted>,
}

#[derive(Clone)]
struct Posted {
    name: String,
    count: i32,
    last: Timestamp,
}

impl Recent {
    fn get(&self, print: u64, now: Timestamp) -> Option<Posted> {
        let found = self.younger.get(&print).or_else(|| self.older.get(&print));
        let recent = |posted: &&Posted| now.duration_since(posted.last).unsigned_abs() < SERIES;
        found.filter(recent).cloned()
    }

    fn put(&mut self, print: u64, posted: Posted) {
        if self.younger.len() >= REMEMBERED {
            self.older = std::mem::take(&mut self.younger);
        }
        self.younger.insert(print, posted);
    }
}

impl Events {
    pub(crate) fn new(
        client: Client,
        clock: Arc<dyn Clock>,
        journal: Journal,
        stacks: Store<Vitistack>,
    ) -> Events {
        Events {
            client,
            clock,
            recent: Mutex::default(),
            journal,
            stacks,
        }
    }

    /// Tells whoever collects logs that a machine entered a phase. That is no event: the object
    /// itself shows it.
    pub(crate) fn entered(&self, machine: &impl Resource, phase: MachinePhase) {
        self.journal.tell(&self.stacks, || {
            let meta = machine.meta().clone();
            Entry {
                at: self.clock.now(),
                warning: phase == MachinePhase::Failed,
                kind: "Machine".to_owned(),
                namespace: meta.namespace.unwrap_or_default(),
                name: meta.name.unwrap_or_default(),
                uid: meta.uid.unwrap_or_default(),
                reason: phase.as_str().to_owned(),
                action: None,
                note: format!("The machine is in phase {phase}."),
                trace: None,
            }
        });
    }

    /// Posts that something went as it should.
    pub(crate) async fn normal<K>(&self, object: &K, reason: &str, action: &str, note: String)
    where
        K: Resource<DynamicType = ()>,
    {
        self.post(object, "Normal", reason, action, note).await;
    }

    /// Posts that something did not go as it should.
    pub(crate) async fn warning<K>(&self, object: &K, reason: &str, action: &str, note: String)
    where
        K: Resource<DynamicType = ()>,
    {
        self.post(object, "Warning", reason, action, note).await;
    }

    /// An event that cannot be posted is logged: it must not stop the work that it tells of.
    async fn post<K>(&self, object: &K, kind: &str, reason: &str, action: &str, note: String)
    where
        K: Resource<DynamicType = ()>,
    {
        let mut regarding = object.object_ref(&());
        // `kubectl events --for machine/web` asks for the version that the server prefers.
        if convert::CONVERTIBLE_KINDS.contains(&K::kind(&()).as_ref())
            && K::group(&()) == vitistack::GROUP
        {
            let version = vitistack::v1beta1::VERSION;
            regarding.api_version = Some(format!("{}/{version}", vitistack::GROUP));
        }
        let namespace = regarding.namespace.as_deref().unwrap_or("default");
        let events: Api<Event> = Api::namespaced(self.client.clone(), namespace);
        let now = self.clock.now();
        let trace = trace::current_id();
        self.journal.tell(&self.stacks, || Entry {
            at: now,
            warning: kind == "Warning",
            kind: K::kind(&()).into_owned(),
            namespace: namespace.to_owned(),
            name: object.name_any(),
            uid: regarding.uid.clone().unwrap_or_default(),
            reason: reason.to_owned(),
            action: Some(action.to_owned()),
            note: note.clone(),
            trace,
        });
        let note = shorten(note, trace);
        let print = print(&regarding, &[kind, reason, action, &note]);
        let known = self.recent().get(print, now);
        let told = match known {
            Some(posted) => tell_again(&events, posted, now).await,
            None => Ok(None),
        };
        let told = match told {
            Ok(None) => {
                let event = Event {
                    metadata: ObjectMeta {
                        generate_name: Some(format!("{}-", object.name_any())),
                        namespace: Some(namespace.to_owned()),
                        annotations: trace.map(|id| {
                            let name = names::TRACE_ID_ANNOTATION.to_owned();
                            [(name, id.to_string())].into()
                        }),
                        ..ObjectMeta::default()
                    },
                    event_time: Some(MicroTime(now)),
                    type_: Some(kind.to_owned()),
                    reason: Some(reason.to_owned()),
                    action: Some(action.to_owned()),
                    note: Some(note),
                    regarding: Some(regarding.clone()),
                    reporting_controller: Some(REPORTER.to_owned()),
                    reporting_instance: Some(REPORTER.to_owned()),
                    ..Event::default()
                };
                create(&self.client, namespace, &event)
                    .await
                    .map(|name| Posted {
                        name,
                        count: 1,
                        last: now,
                    })
            }
            Ok(Some(posted)) => Ok(posted),
            Err(error) => Err(error),
        };
        match told {
            Ok(posted) => self.recent().put(print, posted),
            Err(error) => tracing::warn!(%error, reason, "could not post an event"),
        }
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is read of an event that was made: the name that it was given.
#[derive(Deserialize)]
struct Made {
    metadata: MadeMetadata,
}

#[derive(Deserialize)]
struct MadeMetadata {
    name: String,
}

/// Makes an event; gives its name.
async fn create(client: &Client, namespace: &str, event: &Event) -> Result<String, kube::Error> {
    let body = serde_json::to_vec(event).map_err(kube::Error::SerdeError)?;
    let request = Request::new(Event::url_path(&(), Some(namespace)))
        .create(&PostParams::default(), body)
        .map_err(kube::Error::BuildRequest)?;
    let made: Made = client.request(request).await?;
    Ok(made.metadata.name)
}

/// Counts one more time of what an event tells; nothing when the event is no more.
async fn tell_again(
    events: &Api<Event>,
    posted: Posted,
    now: Timestamp,
) -> Result<Option<Posted>, kube::Error> {
    let count = posted.count.saturating_add(1);
    let series = EventSeries {
        count,
        last_observed_time: MicroTime(now),
    };
    let patch = Patch::Merge(json!({ "series": series }));
    let params = PatchParams::default();
    match events.patch(&posted.name, &params, &patch).await {
        Ok(_) => Ok(Some(Posted {
            count,
            last: now,
            ..posted
        })),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

fn print(regarding: &ObjectReference, parts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    regarding.uid.hash(&mut hasher);
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Cuts a note to the length that the API takes. The trace stands at its end, where
/// `kubectl describe` shows it.
fn shorten(mut note: String, trace: Option<TraceId>) -> String {
    let trace = trace.map(|id| format!(" (trace {id})")).unwrap_or_default();
    let longest = LONGEST_NOTE - trace.len();
    if note.len() > longest {
        let mut end = longest - '…'.len_utf8();
        while !note.is_char_boundary(end) {
            end -= 1;
        }
        note.truncate(end);
        note.push('…');
    }
    note.push_str(&trace);
    note
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TraceContext;

    #[test]
    fn notes_are_cut_between_characters() {
        let note = shorten("ä".repeat(LONGEST_NOTE), None);
        assert!(note.len() <= LONGEST_NOTE, "{}", note.len());
        assert!(note.ends_with('…'));
        assert_eq!(shorten("short".into(), None), "short");
        let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let context: TraceContext = traceparent.parse().unwrap();
        let end = " (trace 4bf92f3577b34da6a3ce929d0e0e4736)";
        let note = shorten("ä".repeat(LONGEST_NOTE), Some(context.trace));
        assert!(note.len() <= LONGEST_NOTE, "{}", note.len());
        assert!(note.ends_with(&format!("…{end}")), "{note}");
        let note = shorten("short".into(), Some(context.trace));
        assert_eq!(note, format!("short{end}"));
    }

    #[test]
    fn the_youngest_events_are_remembered_for_a_while() {
        let mut recent = Recent::default();
        let now = Timestamp::UNIX_EPOCH;
        let posted = |name: u64| Posted {
            name: name.to_string(),
            count: 1,
            last: now,
        };
        let many = 5 * REMEMBERED as u64;
        (0..many).for_each(|print| recent.put(print, posted(print)));
        let remembered = (0..many).filter(|print| recent.get(*print, now).is_some());
        let remembered: Vec<u64> = remembered.collect();
        assert!(remembered.len() >= REMEMBERED && remembered.len() <= 2 * REMEMBERED);
        assert_eq!(remembered.last(), Some(&(many - 1)));
        let later = now + SERIES;
        assert!(recent.get(many - 1, later).is_none());
    }
}
