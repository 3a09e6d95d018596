//! How good a place a provider is, among those that fit.
//!
//! A provider of the machine's own namespace comes before a shared one, and one of a smaller
//! priority number before the others; among equals, health and the room that would be left decide,
//! so that machines spread.

use std::cmp::Reverse;

use super::{Demand, Load, Offer, Standing, Take};

/// How good a place is; the greater is the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score {
    /// Whether it is in the machine's own namespace.
    pub own: bool,
    /// Which is asked first; the smallest number is.
    pub priority: Reverse<i32>,
    /// Health and room, from 0 to 1000.
    pub points: u32,
}

/// How much of the points the health is.
const HEALTH: u64 = 400;
/// How much of the points the room is.
const ROOM: u64 = 600;

/// The score of a provider that fits.
pub(super) fn of(demand: &Demand, offer: &Offer, load: &Load, take: Take) -> Score {
    let health = match offer.standing {
        Standing::Ready(health) => u64::from(health.min(100)),
        Standing::Untried | Standing::NotReady(_) | Standing::Leaving => 0,
    };
    let mut taken = load.taken;
    taken += take;
    // What is scarcest decides: room that one machine cannot use is no room.
    let mut left = u64::MAX;
    left = left.min(share(taken.cpus, offer.room.cpus));
    left = left.min(share(taken.memory, offer.room.memory));
    left = left.min(share(load.machines + 1, offer.max_machines));
    // A provider that does not say how much it has is neither empty nor full.
    let room = if left == u64::MAX { ROOM / 2 } else { left };
    let points = health * HEALTH / 100 + room;
    Score {
        own: offer.namespace == demand.namespace,
        priority: Reverse(offer.priority),
        points: u32::try_from(points).unwrap_or(u32::MAX),
    }
}

/// The part of the points for what would be left; without end where nothing says how much there is.
fn share(taken: u64, there: Option<u64>) -> u64 {
    let Some(there) = there.filter(|there| *there > 0) else {
        return u64::MAX;
    };
    let left = there.saturating_sub(taken);
    match left.checked_mul(ROOM) {
        Some(parts) => parts / there,
        // Many pebibytes: twice as wide, and many times as slow.
        None => {
            let parts = u128::from(left) * u128::from(ROOM) / u128::from(there);
            u64::try_from(parts).unwrap_or(ROOM)
        }
    }
}
