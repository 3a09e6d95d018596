//! What the suite needs to know about a platform, and what its cases share.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use machinist_core::{
    machine::{
        Architecture, Cpu, Defaults, Disk, Facts, Firmware, Image, InitData, MachineKey, Power,
        PowerState, SeedFormat, Want,
    },
    provider::{Provider, ProviderError},
};
use tokio::time::{Instant, sleep};

/// A platform under test.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// A new driver on the same platform, as another process would have one.
    async fn connect(&self) -> Arc<dyn Provider>;

    /// The smallest machine that this platform runs.
    fn want(&self, name: &str) -> Want {
        smallest_want(name)
    }

    /// An image that the platform does not have.
    fn missing_image(&self) -> Image {
        Image {
            reference: "no-such-image".to_owned(),
            checksum: None,
        }
    }

    /// How many machines with this key there are, counted without the driver.
    async fn count(&self, key: &MachineKey) -> usize;

    /// Whether a machine can be made without being started.
    fn makes_stopped_machines(&self) -> bool {
        true
    }

    /// Whether what runs in the smallest machine lets go of a device that is taken from it.
    fn guest_lets_go(&self) -> bool {
        true
    }

    /// How long any change may take here.
    fn patience(&self) -> Duration {
        Duration::from_secs(120)
    }
}

/// A machine with one processor, 32 MiB of memory and one small empty disk.
pub fn smallest_want(name: &str) -> Want {
    Want {
        name: name.to_owned(),
        namespace: "default".to_owned(),
        instance_type: None,
        zone: None,
        cpu: Cpu {
            sockets: 1,
            cores: 1,
            threads: 1,
        },
        memory: 32 << 20,
        disks: vec![Disk {
            name: "boot".to_owned(),
            size: Some(16 << 20),
            class: None,
            boot: true,
            encrypted: false,
            iops: None,
            throughput: None,
        }],
        nics: Vec::new(),
        defaults: Defaults::default(),
        image: None,
        architecture: Architecture::Amd64,
        firmware: Firmware::Default,
        init: InitData {
            hostname: name.to_owned(),
            format: Some(SeedFormat::NoCloud),
            ..InitData::default()
        },
        power: Power::On,
        restart: None,
        grace: None,
        tags: BTreeMap::new(),
        security_groups: Vec::new(),
        monitoring: None,
        settings: BTreeMap::new(),
    }
}

/// A key that no other machine has, in a cluster that no other case uses.
pub(super) fn fresh_key() -> Result<MachineKey, String> {
    key_in(&uuid::Uuid::new_v4().to_string())
}

/// A key of this cluster that no other machine has.
pub(super) fn key_in(cluster: &str) -> Result<MachineKey, String> {
    let machine = uuid::Uuid::new_v4().to_string();
    MachineKey::new(cluster, machine).map_err(|error| error.to_string())
}

/// What the platform says about the one machine that carries the key.
pub(super) async fn the_one(provider: &dyn Provider, key: &MachineKey) -> Result<Facts, String> {
    let found = provider.find(key).await.map_err(told("find"))?;
    match <[Facts; 1]>::try_from(found) {
        Ok([facts]) => Ok(facts),
        Err(found) => Err(format!(
            "{} machines carry the key, not one: {found:?}",
            found.len()
        )),
    }
}

/// Waits until the machine is in this state.
pub(super) async fn until(
    fixture: &dyn Fixture,
    provider: &dyn Provider,
    key: &MachineKey,
    power: PowerState,
) -> Result<Facts, String> {
    let deadline = Instant::now() + fixture.patience();
    loop {
        let facts = the_one(provider, key).await?;
        if facts.power == power {
            return Ok(facts);
        }
        if Instant::now() >= deadline {
            return Err(format!("it did not come to be {power:?}: {facts:?}"));
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// Removes the machine and waits until it is proven to be gone.
pub(super) async fn remove(
    fixture: &dyn Fixture,
    provider: &dyn Provider,
    key: &MachineKey,
) -> Result<(), String> {
    let deadline = Instant::now() + fixture.patience();
    loop {
        let found = provider.find(key).await.map_err(told("find"))?;
        if found.is_empty() {
            break;
        }
        for facts in &found {
            match provider.delete(key, &facts.id, None).await {
                Ok(()) | Err(ProviderError::NotFound { .. } | ProviderError::Busy { .. }) => {}
                Err(error) => return Err(format!("delete: {error}")),
            }
        }
        if Instant::now() >= deadline {
            return Err(format!("it was not removed in time: {found:?}"));
        }
        sleep(Duration::from_millis(20)).await;
    }
    match fixture.count(key).await {
        0 => Ok(()),
        left => Err(format!("find says that it is gone, and {left} are there")),
    }
}

/// Names the call that an error came from.
pub(super) fn told(call: &'static str) -> impl Fn(ProviderError) -> String {
    move |error| format!("{call}: {error}")
}
