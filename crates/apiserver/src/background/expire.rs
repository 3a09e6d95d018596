//! Events are kept for an hour after they were last seen, as upstream keeps them.

use jiff::{SignedDuration, Timestamp};
use machinist_store::Expect;
use serde_json::Value;

use crate::codec;
use crate::core::Core;
use crate::registry::Hook;

const KEEP: SignedDuration = SignedDuration::from_hours(1);

/// Deletes the events that are too old.
pub(super) async fn events(core: &Core) {
    let oldest = Timestamp::now() - KEEP;
    let kinds = core.registry.snapshot().stored_kinds();
    for kind in kinds.iter().filter(|k| k.hook == Hook::Event) {
        for entry in core.store.list(&kind.prefix, None, None).entries {
            if last_seen(&codec::decode_value(&entry.value)) < oldest {
                // Whoever changed it meanwhile has seen it again.
                let _ = core
                    .store
                    .delete(&entry.key, Expect::Revision(entry.modified))
                    .await;
            }
        }
    }
}

fn last_seen(event: &Value) -> Timestamp {
    let times = [
        "/metadata/creationTimestamp",
        "/lastTimestamp",
        "/eventTime",
        "/series/lastObservedTime",
    ];
    times
        .into_iter()
        .filter_map(|at| event.pointer(at)?.as_str()?.parse().ok())
        .max()
        // An event without any time is of unknown age, and is kept.
        .unwrap_or(Timestamp::MAX)
}
