//! A machine's disks: overlays over an image, or empty, made by `qemu-img`.

use std::{
    ffi::OsString,
    fs::File,
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use machinist_core::{machine::DiskFacts, provider::ProviderError};
use tokio::process::Command;

use super::{
    binary, error,
    layout::DirLock,
    record::{AskedDisk, Plug, Record},
};
use crate::shared::{
    files::human_size,
    images::{Format, ImageError, inspect},
};

/// QEMU's tools count in sectors.
pub(super) const UNIT: u64 = 512;

/// The image that the boot disk is made from.
#[derive(Debug, Clone)]
pub(super) struct Base {
    /// Its file in the image cache.
    pub path: PathBuf,
    pub format: Format,
    /// What the guest would see, in bytes.
    pub size: u64,
}

impl Base {
    pub(super) fn open(path: PathBuf) -> Result<Base, ImageError> {
        let (format, size) = inspect(&path)?;
        Ok(Base { path, format, size })
    }
}

/// The file of the disk in this slot.
pub(super) fn file_name(slot: u8) -> String {
    format!("disk-{slot}.qcow2")
}

/// Refuses sizes that cannot be; `base` is of the first disk.
pub(super) fn check(record: &Record, base: Option<&Base>) -> Result<(), ProviderError> {
    for (place, disk) in record.asked.disks.iter().enumerate() {
        let image = base.filter(|_| place == 0);
        let rejected = |value: String, reason: String| ProviderError::Rejected {
            field: "disks.size",
            value,
            reason,
        };
        match (disk.size, image) {
            (Some(size), Some(image)) if size < image.size => {
                return Err(rejected(
                    human_size(size),
                    format!(
                        "disk {} is smaller than its image, which needs {}",
                        disk.name,
                        human_size(image.size)
                    ),
                ));
            }
            (None, None) | (Some(0), None) => {
                return Err(rejected(
                    "none".to_owned(),
                    format!(
                        "disk {} has no image to take its size from; declare a size",
                        disk.name
                    ),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Makes every disk.
pub(super) async fn make(
    dir: &Path,
    record: &Record,
    base: Option<&Base>,
    lock: &DirLock,
) -> Result<(), ProviderError> {
    for (place, disk) in record.asked.disks.iter().enumerate() {
        let base = base.filter(|_| place == 0);
        make_one(dir, disk, &file_name(disk.slot()), base, lock).await?;
    }
    Ok(())
}

/// Makes one disk in this file.
pub(super) async fn make_one(
    dir: &Path,
    disk: &AskedDisk,
    file: &str,
    base: Option<&Base>,
    lock: &DirLock,
) -> Result<(), ProviderError> {
    let mut arguments: Vec<OsString> = ["create", "-q", "-f", "qcow2"].map(Into::into).into();
    if let Some(base) = base {
        // Relative to the overlay, so that a data directory can be moved as a whole.
        let name = base.path.file_name().unwrap_or_default();
        arguments.extend([
            "-b".into(),
            Path::new("../../images").join(name).into(),
            "-F".into(),
            base.format.name().into(),
        ]);
    }
    arguments.push(file.into());
    if let Some(size) = disk.size.or(base.map(|base| base.size)) {
        arguments.push(size.next_multiple_of(UNIT).to_string().into());
    }
    image_tool(dir, &disk.name, arguments, lock).await
}

/// Makes the disk of a machine that is down larger.
pub(super) async fn grow(
    dir: &Path,
    disk: &AskedDisk,
    size: u64,
    lock: &DirLock,
) -> Result<(), ProviderError> {
    let arguments = [
        "resize".into(),
        "-q".into(),
        "-f".into(),
        "qcow2".into(),
        file_name(disk.slot()).into(),
        size.next_multiple_of(UNIT).to_string().into(),
    ];
    image_tool(dir, &disk.name, arguments.into(), lock).await
}

async fn image_tool(
    dir: &Path,
    name: &str,
    arguments: Vec<OsString>,
    lock: &DirLock,
) -> Result<(), ProviderError> {
    let fault = |source| ProviderError::transport("cannot run qemu-img", source);
    // A killed control plane leaves this program running: nobody else may take the
    // directory before it is done.
    let output = Command::new(binary::image_tool()?)
        .args(arguments)
        .current_dir(dir)
        .stdin(lock.lend().map_err(fault)?)
        .output()
        .await
        .map_err(fault)?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if words.contains("No space left on device") {
        return Err(error::full(dir, "make a disk in"));
    }
    Err(ProviderError::transport(
        format!("qemu-img could not make disk {name}"),
        words,
    ))
}

/// What the disks are now. One that is not in yet is none.
pub(super) fn facts(dir: &Path, record: &Record) -> Vec<DiskFacts> {
    let of = |asked: &AskedDisk| {
        let path = dir.join(file_name(asked.slot()));
        DiskFacts {
            name: asked.name.clone(),
            device: Some(path.display().to_string()),
            size: virtual_size(&path).or(asked.size),
            used: path.metadata().ok().map(|stat| stat.blocks() * 512),
            class: Some("qcow2".to_owned()),
            boot: asked.boot,
        }
    };
    let there = record.asked.disks.iter();
    there
        .filter(|disk| disk.plug != Plug::Attaching)
        .map(of)
        .collect()
}

/// The size in the overlay's own header; QEMU's lock does not keep us from reading it.
fn virtual_size(path: &Path) -> Option<u64> {
    let mut head = [0; 32];
    File::open(path).ok()?.read_exact(&mut head).ok()?;
    let size = head[24..32].try_into().ok()?;
    head.starts_with(b"QFI\xfb")
        .then(|| u64::from_be_bytes(size))
}
