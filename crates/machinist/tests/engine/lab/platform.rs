//! A platform under test: what the lab must know to lead a machine's life on it. One file a
//! platform implements it; the scenarios and the verdicts know this alone.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use machinist_core::{
    machine::Facts,
    provider::{Lookup, Provider, ProviderResult, ProviderSpec},
};
use machinist_providers::{Sim, SimCloud, SimOptions, fault::Script};
use serde_json::{Value, json};

use super::clock::epoch;

/// The Secret that the lab's provider refers to, and the key in it.
pub(crate) const SECRET: &str = "cloud-login";
pub(crate) const SECRET_KEY: &str = "token";

/// How long things take on a platform, and what may be made to go wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Lets the engine see what was declared.
    pub(crate) pause: Duration,
    /// Until everything must have come right.
    pub(crate) patience: Duration,
    /// Longer than any call may take.
    pub(crate) late: Duration,
}

/// A platform under test.
#[async_trait]
pub(crate) trait Platform: Send + Sync + 'static {
    /// The spec of the MachineProvider that stands for it.
    fn provider(&self) -> Value;

    /// What a Machine declares here, where that is not what it declares on the simulator: a merge
    /// patch.
    fn machine(&self) -> Value {
        json!({})
    }

    /// A driver, as a new process would have one; its calls go by [`Platform::script`].
    async fn connect(&self, spec: &ProviderSpec) -> ProviderResult<Arc<dyn Provider>>;

    /// Which calls go wrong, and what was called.
    fn script(&self) -> &Script;

    /// Every machine there, looked up behind the engine's back.
    async fn machines(&self) -> Vec<Facts>;

    /// Everything that is there although nothing should be: machines, disks, ports, addresses,
    /// processes; counted without the driver where that is possible.
    async fn leftovers(&self) -> Vec<String>;

    /// How long things take.
    fn pace(&self) -> Pace;

    /// How many machines were ever made, and the most that had one key, where it counts.
    fn tally(&self) -> Option<(u64, usize)> {
        None
    }

    /// What the provider's Secret must hold from now on.
    fn rotate(&self, _token: &str) {}
}

/// A simulated platform whose time begins with the lab's.
pub(crate) fn simulated(options: SimOptions) -> SimCloud {
    SimCloud::new(SimOptions {
        epoch: Some(epoch()),
        ..options
    })
}

#[async_trait]
impl Platform for SimCloud {
    fn provider(&self) -> Value {
        let secret = json!({"type": "token", "secretRef": {"name": SECRET, "key": SECRET_KEY}});
        json!({"type": "sim", "region": "here", "credentials": secret})
    }

    async fn connect(&self, spec: &ProviderSpec) -> ProviderResult<Arc<dyn Provider>> {
        let token = spec.credentials.get(SECRET_KEY);
        let token = token.map(|token| String::from_utf8_lossy(token).into_owned());
        Ok(Arc::new(Sim::with_token(self.clone(), token)))
    }

    fn script(&self) -> &Script {
        SimCloud::script(self)
    }

    async fn machines(&self) -> Vec<Facts> {
        self.snapshot()
    }

    async fn leftovers(&self) -> Vec<String> {
        let left = |facts: &Facts| format!("{facts:?}");
        self.snapshot().iter().map(left).collect()
    }

    fn pace(&self) -> Pace {
        Pace {
            pause: Duration::from_secs(20),
            // More than the longest call may take.
            patience: Duration::from_secs(2400),
            late: Duration::from_secs(4000),
        }
    }

    fn tally(&self) -> Option<(u64, usize)> {
        Some((self.made(), self.peak_duplicates()))
    }

    fn rotate(&self, token: &str) {
        self.require(Some(token.to_owned()));
    }
}

/// The simulated platform with a lookup that is behind the times, or not.
pub(crate) fn lookup(eventual: bool) -> Lookup {
    match eventual {
        true => Lookup::Eventual,
        false => Lookup::Consistent,
    }
}
