//! Whether machines can run here, and what this host has.

use std::{fs, sync::Arc};

use machinist_core::provider::{Health, ProviderResult};

use super::{binary, config::Accelerator, error::io_fault, host::Host};
use crate::shared::files;

impl Host {
    pub(super) async fn probe(self: &Arc<Host>) -> ProviderResult<Health> {
        let qemu = self.binary()?;
        binary::image_tool()?;
        let version = binary::version(&qemu).await?;
        let choice = self.chooser.choose(&qemu).await;
        let accelerator = match choice.accelerator {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg | Accelerator::Auto => "tcg",
        };
        let root = &self.layout.root;
        let (storage, free) = files::space(root).map_err(|source| io_fault("look at", root, source))?;
        let mut health = Health {
            endpoint: qemu.display().to_string(),
            version: Some(version),
            cpus: Some(cpus()),
            memory: memory("MemTotal"),
            storage: Some(storage),
            storage_free: Some(free),
            ..Health::default()
        };
        for (name, value) in [
            ("accelerator", accelerator.to_owned()),
            ("acceleratorReason", choice.reason.clone()),
            ("node", self.config.node.clone()),
            ("root", root.display().to_string()),
        ] {
            health.details.insert(name.to_owned(), value);
        }
        if let Some(available) = memory("MemAvailable") {
            health.details.insert("memoryAvailable".to_owned(), available.to_string());
        }
        Ok(health)
    }
}

/// Processors of this host.
pub(super) fn cpus() -> u64 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u64)
}

/// One line of the kernel's account of its memory, in bytes.
pub(super) fn memory(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes * 1024)
}
