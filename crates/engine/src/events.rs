//! Events with stable reasons: what happened to an object, for `kubectl describe`.

use kube::{
    Client, Resource,
    runtime::events::{Event, EventType, Recorder, Reporter},
};

use machinist_api::{convert, vitistack};

/// Posts events about objects.
pub(crate) struct Events {
    recorder: Recorder,
}

/// The longest note that the API takes.
const LONGEST_NOTE: usize = 1024;

impl Events {
    pub(crate) fn new(client: Client) -> Events {
        let reporter = Reporter {
            controller: "machinist".into(),
            instance: None,
        };
        Events {
            recorder: Recorder::new(client, reporter),
        }
    }

    /// Posts that something went as it should.
    pub(crate) async fn normal<K>(&self, object: &K, reason: &str, action: &str, note: String)
    where
        K: Resource<DynamicType = ()>,
    {
        self.post(object, EventType::Normal, reason, action, note)
            .await;
    }

    /// Posts that something did not go as it should.
    pub(crate) async fn warning<K>(&self, object: &K, reason: &str, action: &str, note: String)
    where
        K: Resource<DynamicType = ()>,
    {
        self.post(object, EventType::Warning, reason, action, note)
            .await;
    }

    /// An event that cannot be posted is logged: it must not stop the work that it tells of.
    async fn post<K>(&self, object: &K, type_: EventType, reason: &str, action: &str, note: String)
    where
        K: Resource<DynamicType = ()>,
    {
        let event = Event {
            type_,
            reason: reason.to_owned(),
            note: Some(shorten(note)),
            action: action.to_owned(),
            secondary: None,
        };
        let mut reference = object.object_ref(&());
        // `kubectl events --for machine/web` asks for the version that the server prefers.
        if convert::CONVERTIBLE_KINDS.contains(&K::kind(&()).as_ref())
            && K::group(&()) == vitistack::GROUP
        {
            let version = vitistack::v1beta1::VERSION;
            reference.api_version = Some(format!("{}/{version}", vitistack::GROUP));
        }
        if let Err(error) = self.recorder.publish(&event, &reference).await {
            tracing::warn!(%error, reason, "could not post an event");
        }
    }
}

fn shorten(mut note: String) -> String {
    if note.len() > LONGEST_NOTE {
        let mut end = LONGEST_NOTE - '…'.len_utf8();
        while !note.is_char_boundary(end) {
            end -= 1;
        }
        note.truncate(end);
        note.push('…');
    }
    note
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_cut_between_characters() {
        let note = shorten("ä".repeat(LONGEST_NOTE));
        assert!(note.len() <= LONGEST_NOTE, "{}", note.len());
        assert!(note.ends_with('…'));
        assert_eq!(shorten("short".into()), "short");
    }
}
