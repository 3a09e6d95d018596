//! Asks a provider once in a while what it has to offer by name. Nothing waits for the answer: how the
//! provider is was told before, and is told again when there is news.

use std::{sync::Arc, time::Duration};

use machinist_core::provider::Inventory;

use crate::{
    connections::{Connection, ProviderName},
    context::Context,
    error::chain,
};

/// What a platform has to offer changes seldom.
const EVERY: Duration = Duration::from_secs(600);

/// What the provider has to offer, if that is due to be asked and is news.
pub(super) async fn news(
    name: &ProviderName,
    connection: &Connection,
    context: &Context,
) -> Option<Arc<Inventory>> {
    let track = context.connections.track(name);
    if !track.is_stock_due(&connection.fingerprint, EVERY) {
        return None;
    }
    match connection.provider.inventory().await {
        Ok(inventory) => track.stocked(&connection.fingerprint, inventory),
        // The next pass asks again, and what was told before stands.
        Err(error) => {
            tracing::debug!(provider = %name.1, error = %chain(&error), "no inventory");
            None
        }
    }
}
