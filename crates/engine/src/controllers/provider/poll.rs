//! Lists a provider's machines once in a while, and asks for a pass over those that changed.

use std::{sync::Arc, time::Duration};

use machinist_core::provider::Provider;
use tokio::time::Instant;

use crate::{
    connections::{ProviderName, Watching},
    context::Context,
    error::chain,
};

/// A safety net where the platform pushes changes.
const SAFETY_NET: Duration = Duration::from_secs(60);
/// Where changes must be looked for.
const POLL: Duration = Duration::from_secs(15);
/// While many machines are expected to change.
const BUSY: Duration = Duration::from_secs(1);
/// At most one part in this many of the time is spent on listing a busy provider.
const SHARE: u32 = 8;

/// Polls for as long as the connection lives, at the pace that its declaration asks for, if it does. A list that fails is left out: what is not seen is
/// not taken for gone, and each machine that waits has a look of its own in the end.
pub(super) fn poll(
    provider: Arc<dyn Provider>,
    name: ProviderName,
    pace: Option<Duration>,
    context: &Arc<Context>,
) -> Watching {
    let (notices, cluster) = (context.notices.clone(), context.cluster.clone());
    // The context holds the connection, and with it this task.
    let context = Arc::downgrade(context);
    let quiet = pace.unwrap_or(match provider.capabilities().watch {
        true => SAFETY_NET,
        false => POLL,
    });
    let task = tokio::spawn(async move {
        let mut took = Duration::ZERO;
        loop {
            let becomes_busy = notices.becomes_busy();
            match notices.is_busy(&name) {
                true => tokio::time::sleep(BUSY.max(took * SHARE)).await,
                false => {
                    if tokio::time::timeout(quiet, becomes_busy).await.is_ok() {
                        continue;
                    }
                }
            }
            let began = Instant::now();
            let listed = provider.list(&cluster).await;
            took = began.elapsed();
            let Some(context) = context.upgrade() else {
                return;
            };
            for machine in notices.overwritten(&name, |machine| context.machines.get(machine)) {
                context.hint(machine);
            }
            match listed {
                Ok(listed) => {
                    for machine in notices.changed(&name, &listed) {
                        context.hint(machine);
                    }
                }
                Err(error) => {
                    tracing::debug!(provider = %name.1, error = %chain(&error), "not listed");
                }
            }
        }
    });
    Watching::new(task.abort_handle())
}
