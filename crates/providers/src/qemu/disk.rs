//! A machine's disks: overlays over an image, or empty, made by `qemu-img`.

use std::{
    fs::File,
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use machinist_core::{machine::DiskFacts, provider::ProviderError};
use tokio::process::Command;

use super::{binary, error, record::Record};
use crate::shared::{
    files::human_size,
    images::{Format, ImageError, inspect},
};

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

/// The file of the disk at this place.
pub(super) fn file_name(place: usize) -> String {
    format!("disk-{place}.qcow2")
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
                    format!("disk {} has no image to take its size from; declare a size", disk.name),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Makes every disk.
pub(super) async fn make(dir: &Path, record: &Record, base: Option<&Base>) -> Result<(), ProviderError> {
    for (place, disk) in record.asked.disks.iter().enumerate() {
        let mut command = Command::new(binary::image_tool()?);
        command.args(["create", "-q", "-f", "qcow2"]);
        if let Some(base) = base.filter(|_| place == 0) {
            // Relative to the overlay, so that a data directory can be moved as a whole.
            let name = base.path.file_name().unwrap_or_default();
            command
                .arg("-b")
                .arg(Path::new("../../images").join(name))
                .args(["-F", base.format.name()]);
        }
        command.arg(file_name(place));
        let image_size = base.filter(|_| place == 0).map(|base| base.size);
        if let Some(size) = disk.size.or(image_size) {
            // QEMU's tools count in sectors.
            command.arg(size.next_multiple_of(512).to_string());
        }
        let output = command
            .current_dir(dir)
            .stdin(Stdio::null())
            .output()
            .await
            .map_err(|source| ProviderError::transport("cannot run qemu-img", source))?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            if words.contains("No space left on device") {
                return Err(error::full(&dir.join(file_name(place)), "create"));
            }
            return Err(ProviderError::transport(
                format!("qemu-img could not create disk {}", disk.name),
                words,
            ));
        }
    }
    Ok(())
}

/// What the disks are now.
pub(super) fn facts(dir: &Path, record: &Record) -> Vec<DiskFacts> {
    let of = |(place, asked): (usize, &super::record::AskedDisk)| {
        let path = dir.join(file_name(place));
        DiskFacts {
            name: asked.name.clone(),
            device: Some(path.display().to_string()),
            size: virtual_size(&path).or(asked.size),
            used: path.metadata().ok().map(|stat| stat.blocks() * 512),
            class: Some("qcow2".to_owned()),
        }
    };
    record.asked.disks.iter().enumerate().map(of).collect()
}

/// The size in the overlay's own header; QEMU's lock does not keep us from reading it.
fn virtual_size(path: &Path) -> Option<u64> {
    let mut head = [0; 32];
    File::open(path).ok()?.read_exact(&mut head).ok()?;
    let size = head[24..32].try_into().ok()?;
    head.starts_with(b"QFI\xfb").then(|| u64::from_be_bytes(size))
}
