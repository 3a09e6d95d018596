//! Which driver a declared provider gets: the one place that knows every platform.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use machinist_core::provider::{
    Access, Connect, Provider, ProviderError, ProviderResult, ProviderSpec,
};
use machinist_providers::{
    Accelerator, Qemu, QemuConfig, Reach, Sim, SimCloud, SimOptions, Tokens, Way,
};
#[cfg(feature = "aws")]
use machinist_providers::{Aws, AwsConfig};

use crate::{data_dir::DataDir, downloads::Downloads};

/// The platforms that this build has drivers for.
#[cfg(feature = "aws")]
const BUILT_IN: &str = "aws, qemu, sim";
#[cfg(not(feature = "aws"))]
const BUILT_IN: &str = "qemu, sim";

/// Builds drivers for the machines of one data directory.
pub(crate) struct Drivers {
    dir: DataDir,
    downloads: Downloads,
    /// Simulated platforms by provider: they live as long as the process, not the connection.
    clouds: Mutex<HashMap<String, SimCloud>>,
}

impl Drivers {
    pub(crate) fn new(dir: DataDir, downloads: Downloads) -> Drivers {
        Drivers {
            dir,
            downloads,
            clouds: Mutex::default(),
        }
    }

    /// The simulated platform of a provider. Its settings count when it is first connected.
    fn sim(&self, spec: &ProviderSpec) -> ProviderResult<Arc<dyn Provider>> {
        let mut options = SimOptions {
            record: false,
            ..SimOptions::default()
        };
        for (key, value) in &spec.settings {
            match key.as_str() {
                "latency" => {
                    let milliseconds = value.strip_suffix("ms").and_then(|ms| ms.parse().ok());
                    let allowed = "a latency is written as milliseconds, like 50ms";
                    let milliseconds = milliseconds.ok_or_else(|| setting(key, value, allowed))?;
                    options.latency = Duration::from_millis(milliseconds);
                }
                "concurrency" => {
                    let count = value.parse().ok().filter(|count| *count > 0);
                    let allowed = "a number of calls at a time, one at least, is allowed";
                    options.concurrency = Some(count.ok_or_else(|| setting(key, value, allowed))?);
                }
                "machines" => {
                    let count = value.parse().ok();
                    let allowed = "a number of machines is allowed";
                    options.capacity = Some(count.ok_or_else(|| setting(key, value, allowed))?);
                }
                "cpus" => {
                    let count = value.parse().ok();
                    let allowed = "a number of processors is allowed";
                    options.cpus = Some(count.ok_or_else(|| setting(key, value, allowed))?);
                }
                "memory" => options.memory = Some(bytes(key, value)?),
                "storage" => options.storage = Some(bytes(key, value)?),
                _ => {
                    let known = "known settings are latency, concurrency, machines, cpus, memory and storage";
                    return Err(setting(key, value, known));
                }
            }
        }
        let mut clouds = self.clouds.lock().unwrap_or_else(PoisonError::into_inner);
        let cloud = clouds
            .entry(spec.uid.clone())
            .or_insert_with(|| SimCloud::new(options));
        let cloud = cloud.clone();
        Ok(Arc::new(match &spec.access {
            Access::OAuth2(client) => {
                Sim::with_tokens(cloud, Tokens::new(client.clone(), Way::of(spec)?)?)
            }
            Access::Opaque
            | Access::Token(_)
            | Access::Password { .. }
            | Access::Certificate { .. }
            | Access::Account(_) => Sim::new(cloud),
        }))
    }

    fn qemu(&self, spec: &ProviderSpec) -> ProviderResult<Arc<dyn Provider>> {
        let mut config = QemuConfig::new(self.dir.qemu().join(&spec.uid));
        config.image_dirs = self.dir.image_dirs();
        config.images = spec.images.clone();
        config.reach = Reach::of(spec);
        for (key, value) in &spec.settings {
            match key.as_str() {
                "binary" => config.binary = Some(PathBuf::from(value)),
                "accelerator" => config.accelerator = accelerator(value)?,
                _ => {
                    return Err(setting(
                        key,
                        value,
                        "known settings are binary and accelerator",
                    ));
                }
            }
        }
        match Qemu::new(config) {
            Ok(qemu) => {
                self.downloads.follow(qemu.downloads());
                Ok(Arc::new(qemu))
            }
            Err(error) => Err(ProviderError::transport("could not prepare QEMU", error)),
        }
    }
}

#[async_trait]
impl Connect for Drivers {
    async fn connect(&self, spec: &ProviderSpec) -> ProviderResult<Arc<dyn Provider>> {
        match spec.kind.as_str() {
            #[cfg(feature = "aws")]
            "aws" => Ok(Arc::new(Aws::new(AwsConfig::of(spec)?)?)),
            "qemu" => self.qemu(spec),
            "sim" => self.sim(spec),
            other => Err(ProviderError::Rejected {
                field: "spec.type",
                value: other.into(),
                reason: format!("this build has drivers for {BUILT_IN}"),
            }),
        }
    }
}

fn bytes(key: &str, value: &str) -> ProviderResult<u64> {
    let refuse = |_| setting(key, value, "a quantity such as 64Gi is allowed");
    machinist_api::quantity::parse_bytes(value).map_err(refuse)
}

fn accelerator(value: &str) -> ProviderResult<Accelerator> {
    match value {
        "auto" => Ok(Accelerator::Auto),
        "kvm" => Ok(Accelerator::Kvm),
        "tcg" => Ok(Accelerator::Tcg),
        other => Err(setting(
            "accelerator",
            other,
            "allowed are auto, kvm and tcg",
        )),
    }
}

fn setting(key: &str, value: &str, allowed: &str) -> ProviderError {
    ProviderError::Rejected {
        field: "spec.config.customSettings",
        value: format!("{key}: {value}"),
        reason: allowed.into(),
    }
}
