//! What is remembered of the calls to one provider: how they went, and when the next may be sent.
//!
//! It outlives connections: a new one, made because a Secret changed, begins with neither a clean
//! record nor a full burst.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use machinist_core::provider::{Inventory, Lately, Rate, Window};
use tokio::time::Instant;

/// What is remembered of the calls to one provider.
#[derive(Default)]
pub(crate) struct Track {
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    window: Window,
    /// How long the last probe took.
    probe: Option<Duration>,
    /// What it was last found to have to offer.
    stock: Option<Stock>,
    /// When the next call would be sent, were all of them sent evenly.
    even: Option<Instant>,
    /// The platform asked to be left alone until then.
    held: Option<Instant>,
}

struct Stock {
    /// The connection that told.
    fingerprint: String,
    at: Instant,
    inventory: Arc<Inventory>,
}

impl Track {
    /// What the provider was last found to have to offer.
    pub(crate) fn stock(&self) -> Option<Arc<Inventory>> {
        let calls = self.lock();
        calls.stock.as_ref().map(|stock| stock.inventory.clone())
    }

    /// Whether to ask again: after this long, and when the provider is declared otherwise.
    pub(crate) fn is_stock_due(&self, fingerprint: &str, every: Duration) -> bool {
        let calls = self.lock();
        let stock = calls.stock.as_ref();
        stock.is_none_or(|stock| stock.fingerprint != fingerprint || stock.at.elapsed() >= every)
    }

    /// The provider told what it has to offer; that is handed back if it is news.
    pub(crate) fn stocked(
        &self,
        fingerprint: &str,
        inventory: Inventory,
    ) -> Option<Arc<Inventory>> {
        let inventory = Arc::new(inventory);
        let before = self.lock().stock.replace(Stock {
            fingerprint: fingerprint.to_owned(),
            at: Instant::now(),
            inventory: inventory.clone(),
        });
        let known = before.is_some_and(|before| before.inventory == inventory);
        (!known).then_some(inventory)
    }

    /// A call ended. `took` is how long the answer to a look took.
    pub(crate) fn record(&self, failed: bool, took: Option<Duration>) {
        let now = Instant::now().into_std();
        self.lock().window.record(now, failed, took);
    }

    /// A probe ended.
    pub(crate) fn probed(&self, took: Duration) {
        self.lock().probe = Some(took);
    }

    /// How long the last probe took.
    pub(crate) fn probe(&self) -> Option<Duration> {
        self.lock().probe
    }

    /// What the calls of the last minutes say.
    pub(crate) fn lately(&self) -> Option<Lately> {
        let now = Instant::now().into_std();
        self.lock().window.lately(now)
    }

    /// When one more call may be sent, which takes that turn; nothing means now.
    ///
    /// # Errors
    /// How long it would have to wait, if that is longer than it is willing to; it takes no turn.
    pub(crate) fn turn(
        &self,
        rate: Option<Rate>,
        patience: Duration,
    ) -> Result<Option<Instant>, Duration> {
        let now = Instant::now();
        let mut calls = self.lock();
        let held = calls.held.map_or(now, |held| held.max(now));
        let Some(Rate { every, burst }) = rate else {
            return within(held, now, patience);
        };
        let even = calls.even.map_or(now, |even| even.max(now));
        let ahead = every.saturating_mul(burst.saturating_sub(1));
        let turn = even.checked_sub(ahead).unwrap_or(now).max(held);
        let turn = within(turn, now, patience)?;
        calls.even = even.max(held).checked_add(every).or(Some(even));
        Ok(turn)
    }

    /// Nothing is sent for this long.
    pub(crate) fn hold(&self, wait: Duration) {
        let mut calls = self.lock();
        calls.held = calls.held.max(Instant::now().checked_add(wait));
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn within(turn: Instant, now: Instant, patience: Duration) -> Result<Option<Instant>, Duration> {
    let wait = turn.saturating_duration_since(now);
    match wait > patience {
        true => Err(wait),
        false => Ok((turn > now).then_some(turn)),
    }
}
