//! Disks, from `spec.disks` or `spec.storage`.

use machinist_api::vitistack::machine::{MachineSpec, VolumeType};

use super::{LowerError, quantity_bytes};
use crate::machine::Disk;

const GIB: u64 = 1 << 30;

/// The disks, boot disk first. A declaration without disks has one of the image's size. `encrypted`
/// is what holds for disks that do not say.
pub(super) fn lower(machine: &MachineSpec, encrypted: bool) -> Result<Vec<Disk>, LowerError> {
    let mut disks = match machine.storage.as_ref() {
        Some(_) => from_storage(machine, encrypted)?,
        None => from_disks(machine, encrypted)?,
    };
    if disks.is_empty() {
        disks.push(boot_disk("root", None, encrypted));
    }
    // Stable: only the boot disk moves.
    disks.sort_by_key(|disk| !disk.boot);
    Ok(disks)
}

fn boot_disk(name: &str, size: Option<u64>, encrypted: bool) -> Disk {
    Disk {
        name: name.into(),
        size,
        class: None,
        boot: true,
        encrypted,
        iops: None,
        throughput: None,
    }
}

fn from_disks(machine: &MachineSpec, encrypted: bool) -> Result<Vec<Disk>, LowerError> {
    let number = |value: Option<i32>| value.and_then(|value| u32::try_from(value).ok());
    let mut disks: Vec<Disk> = machine
        .disks
        .iter()
        .map(|disk| Disk {
            name: disk.name.clone(),
            // Every operator of this API has read GB as GiB; so do we.
            size: number(disk.size_gb).map(|size| u64::from(size) * GIB),
            class: disk.type_.clone(),
            boot: disk.boot.unwrap_or(false),
            encrypted: disk.encrypted.unwrap_or(encrypted),
            iops: number(disk.iops),
            throughput: number(disk.throughput),
        })
        .collect();
    let boot = disks.iter().filter(|disk| disk.boot).count();
    if boot > 1 {
        let names: Vec<&str> = disks
            .iter()
            .filter(|d| d.boot)
            .map(|d| d.name.as_str())
            .collect();
        return Err(LowerError::new(
            "spec.disks",
            names,
            "only one disk may have boot: true",
        ));
    }
    if boot == 0
        && let Some(first) = disks.first_mut()
    {
        first.boot = true;
    }
    Ok(disks)
}

fn from_storage(machine: &MachineSpec, encrypted: bool) -> Result<Vec<Disk>, LowerError> {
    let Some(storage) = machine.storage.as_ref() else {
        return Ok(Vec::new());
    };
    let size = |field: String, text: Option<&str>| match text {
        Some(text) => quantity_bytes(&field, text).map(Some),
        None => Ok(None),
    };
    let root = storage.root_volume.as_ref();
    let mut disk = boot_disk(
        "root",
        size(
            "spec.storage.rootVolume.size".into(),
            root.and_then(|root| root.size.as_deref()),
        )?,
        encrypted,
    );
    disk.class = root.and_then(|root| {
        root.storage_class
            .clone()
            .or(root.type_.map(VolumeType::as_str).map(str::to_owned))
    });
    let mut disks = vec![disk];
    for (index, volume) in storage.data_volumes.iter().enumerate() {
        let field = format!("spec.storage.dataVolumes[{index}].size");
        disks.push(Disk {
            boot: false,
            class: volume.storage_class.clone(),
            ..boot_disk(
                &volume.name,
                size(field, volume.size.as_deref())?,
                encrypted,
            )
        });
    }
    Ok(disks)
}
