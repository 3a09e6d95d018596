//! One promise of a ledger, and what a count makes of it.

use serde::{Deserialize, Serialize};

use super::ledger::{Census, Existing, Thing};

/// Stands for writes whose objects' identities are not known.
pub(super) const UNKNOWN: &str = "";

/// What was promised for one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Promise {
    pub(super) thing: Thing,
    #[serde(default)]
    pub(super) serial: u64,
    /// Whether it takes a place that was not counted.
    pub(super) new: bool,
    /// The writes that would make it and were not seen to, by the identities of their objects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) makes: Vec<String>,
    /// The object that is to grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) grows: Option<String>,
    /// Storage after the write.
    pub(super) storage: u64,
    /// What it adds to the counted storage.
    pub(super) more: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<String>,
    /// Seconds since 1970.
    pub(super) since: i64,
}

impl Promise {
    /// Whether one write makes its object, and nothing else is to come of it.
    pub(super) fn is_to_make_alone(&self, uid: &str) -> bool {
        self.new && self.grows.is_none() && matches!(&*self.makes, [one] if one == uid)
    }

    /// A count shows an object of its name. It has its place; what it is to grow by may still
    /// come, and so may another that takes its place when it goes.
    pub(super) fn is_there(&mut self, one: &Existing, census: &Census) {
        self.makes.retain(|uid| {
            let is_this = uid == UNKNOWN || one.uid.as_ref() == Some(uid);
            !is_this && !census.landed.contains(uid)
        });
        self.new = false;
        let missing = self.storage.saturating_sub(one.storage);
        // What was promised after the count was begun may start from less than it shows.
        self.more = match self.serial > census.serial {
            true => self.more.max(missing),
            false => missing,
        };
    }

    /// A count shows none.
    pub(super) fn is_absent(&mut self, census: &Census) {
        let has_landed = |uid: &String| census.landed.contains(uid);
        self.makes.retain(|uid| !has_landed(uid));
        if self.makes.is_empty() {
            self.new = false;
            if self.grows.as_ref().is_none_or(has_landed) {
                self.more = 0;
            }
        } else {
            self.new = true;
            self.more = self.storage;
        }
    }
}
