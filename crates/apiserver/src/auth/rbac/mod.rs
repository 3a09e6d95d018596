//! Role-based access control: an index of roles and bindings that follows the store, and the
//! decisions over it.
//!
//! The index catches up with the store whenever it is asked, so a binding counts from the moment
//! that its write was answered; nothing is listed for a request.

mod aggregate;
mod decide;
mod index;
mod policy;
mod rule;

#[cfg(test)]
mod tests;

use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

use machinist_store::{EventKind, Revision, Store, Watch, WatchError};

pub(crate) use aggregate::aggregated_rules;
pub(crate) use decide::{Decision, allowed, escalation, is_privileged, role_action, rules_for};
pub(crate) use index::{Index, PREFIX, RoleRef};
pub(crate) use policy::ensure_policy;
pub(crate) use rule::{Rule, go_list};

use super::{Action, Attributes, Identity};
use crate::codec;
use crate::core::Core;
use crate::status::ApiError;

/// The index of roles and bindings of one server.
#[derive(Debug, Default)]
pub(crate) struct Rbac(RwLock<State>);

#[derive(Debug, Default)]
struct State {
    index: Index,
    /// Absent before the first look, and after the watch fell behind.
    watch: Option<Watch>,
    /// Up to where the index is right.
    seen: Revision,
}

impl Rbac {
    /// Looks at the index as of the newest revision.
    pub(crate) fn with<R>(&self, store: &Store, look: impl FnOnce(&Index) -> R) -> R {
        let newest = store.revision();
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if state.watch.is_some() && state.seen >= newest {
            return look(&state.index);
        }
        drop(state);
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        state.catch_up(store, newest);
        look(&RwLockWriteGuard::downgrade(state).index)
    }
}

impl Core {
    /// Whether a user may do something.
    pub(crate) fn decide(&self, user: &Identity, action: &Action) -> Decision {
        if is_privileged(user) {
            return Decision::Allowed(String::new());
        }
        let attributes = Attributes { user, action };
        self.rbac
            .with(&self.store, |index| allowed(index, &attributes))
    }

    /// The refusal, if a user may not do something.
    pub(crate) fn check_may(&self, user: &Identity, action: &Action) -> Result<(), ApiError> {
        match self.decide(user, action) {
            Decision::Allowed(_) => Ok(()),
            Decision::NoOpinion(reason) => Err(action.forbidden(&user.user, &reason)),
        }
    }
}

impl State {
    fn catch_up(&mut self, store: &Store, newest: Revision) {
        if self.watch.is_some() && self.seen >= newest {
            return;
        }
        if self.follow().is_err() {
            self.start_over(store);
        }
    }

    fn follow(&mut self) -> Result<(), WatchError> {
        let watch = self.watch.as_mut().ok_or(WatchError::Closed)?;
        while let Some(event) = watch.try_next()? {
            match event.kind {
                EventKind::Put => {
                    let object = codec::decode_value(&event.entry.value);
                    self.index.put(&event.entry.key, &object);
                }
                EventKind::Delete => self.index.remove(&event.entry.key),
            }
        }
        self.seen = watch.progress();
        Ok(())
    }

    fn start_over(&mut self, store: &Store) {
        let page = store.list(PREFIX, None, None);
        self.index = Index::default();
        for entry in &page.entries {
            self.index
                .put(&entry.key, &codec::decode_value(&entry.value));
        }
        self.seen = page.revision;
        self.watch = store.watch(PREFIX, page.revision).ok();
    }
}
