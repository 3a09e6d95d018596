//! What cannot be carried out here is refused before anything is made.

use std::{collections::BTreeSet, net::Ipv4Addr};

use machinist_core::{
    machine::{Architecture, Firmware, Want},
    provider::{ProviderError, ProviderResult},
};

use super::{config::QemuConfig, firmware, probe};
use crate::shared::files::human_size;

/// Less is not enough for any firmware.
const LEAST_MEMORY: u64 = 16 << 20;
/// More than this the machine type has no interrupts for.
const MOST_CPUS: u32 = 255;
/// More than this the machine type has no slots for.
pub(super) const MOST_DISKS: usize = 12;

/// Checks a declaration against this host.
pub(super) fn check(want: &Want, config: &QemuConfig) -> ProviderResult<()> {
    if want.architecture != Architecture::Amd64 {
        return Err(rejected(
            "architecture",
            "arm64",
            "this provider runs amd64 guests only",
        ));
    }
    size(want.cpu.count(), want.memory, config)?;
    disks(want)?;
    nics(want)?;
    if let Firmware::Uefi { secure_boot } = want.firmware {
        firmware::find(secure_boot)?;
    }
    Ok(())
}

/// Checks processors and memory against this host.
pub(super) fn size(count: u32, bytes: u64, config: &QemuConfig) -> ProviderResult<()> {
    cpus(count, config)?;
    memory(bytes)
}

fn cpus(count: u32, config: &QemuConfig) -> ProviderResult<()> {
    if count == 0 || count > MOST_CPUS {
        let reason = format!("a machine has 1 to {MOST_CPUS} processors here");
        return Err(rejected("cpu", count, &reason));
    }
    let host = probe::cpus();
    let most = host.saturating_mul(u64::from(config.cpu_overcommit.max(1)));
    if u64::from(count) > most {
        return Err(ProviderError::NoCapacity {
            reason: format!(
                "{count} processors were asked for; this host has {host} and gives a machine at most {most}"
            ),
        });
    }
    Ok(())
}

fn memory(bytes: u64) -> ProviderResult<()> {
    if bytes < LEAST_MEMORY {
        let reason = format!("a machine needs at least {}", human_size(LEAST_MEMORY));
        return Err(rejected("memory", human_size(bytes), &reason));
    }
    match probe::memory("MemAvailable") {
        Some(available) if bytes > available => Err(ProviderError::NoCapacity {
            reason: format!(
                "{} of memory were asked for; this host has {} available",
                human_size(bytes),
                human_size(available)
            ),
        }),
        _ => Ok(()),
    }
}

fn disks(want: &Want) -> ProviderResult<()> {
    if want.disks.len() > MOST_DISKS {
        let reason = format!("a machine has at most {MOST_DISKS} disks here");
        return Err(rejected("disks", want.disks.len(), &reason));
    }
    let mut names = BTreeSet::new();
    for disk in &want.disks {
        if !names.insert(&disk.name) {
            return Err(rejected(
                "disks.name",
                &disk.name,
                "two disks have this name",
            ));
        }
        if disk.encrypted {
            let reason = "this provider does not encrypt disks; put its data directory on an encrypted file system, or do not ask for it";
            return Err(rejected("disks.encrypted", &disk.name, reason));
        }
    }
    Ok(())
}

fn nics(want: &Want) -> ProviderResult<()> {
    for nic in &want.nics {
        if let Some(address) = &nic.address
            && address.parse::<Ipv4Addr>().is_err()
        {
            return Err(rejected("nics.address", address, "not an IPv4 address"));
        }
    }
    Ok(())
}

fn rejected(field: &'static str, value: impl ToString, reason: &str) -> ProviderError {
    ProviderError::Rejected {
        field,
        value: value.to_string(),
        reason: reason.to_owned(),
    }
}
