//! Files that a crash never leaves half written, and how much room there is for them.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A name beside `path` that nobody else uses, for content that is renamed into place.
pub fn temporary_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}-{count}.tmp", std::process::id()))
}

/// Replaces `path` with `content`, readable by the owner alone. A reader, and whoever
/// looks after a crash, sees the old content or the new, never a part.
///
/// # Errors
/// When the file system refuses; the old content is then still there.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let temporary = temporary_beside(path);
    let written = write_synced(&temporary, content)
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| sync_parent(path));
    if written.is_err() {
        // The temporary file is of no use to anybody; the first error is what matters.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Makes a rename or a removal in the directory that holds `path` durable.
///
/// # Errors
/// When the directory cannot be opened or synced.
pub fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Total and free bytes of the file system that holds `path`, as an ordinary user sees them.
///
/// # Errors
/// When the path is not there.
pub fn space(path: &Path) -> io::Result<(u64, u64)> {
    let stat = rustix::fs::statvfs(path)?;
    Ok((
        stat.f_blocks.saturating_mul(stat.f_frsize),
        stat.f_bavail.saturating_mul(stat.f_frsize),
    ))
}

/// Whether the error says that the disk is full.
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// Bytes in a form that people read.
pub fn human_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut rest = bytes;
    while unit + 1 < UNITS.len() && rest >= 1024 && rest.is_multiple_of(1024) {
        rest /= 1024;
        unit += 1;
    }
    if rest < 10_240 || unit + 1 == UNITS.len() {
        return format!("{rest} {}", UNITS[unit]);
    }
    // Not a round number: one decimal of the largest fitting unit is enough to act on.
    let mut tenths = u128::from(bytes) * 10;
    let mut unit = 0;
    while unit + 1 < UNITS.len() && tenths >= 10_240 {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atomic_write_replaces_and_leaves_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("record.json");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let names: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "only the file itself remains: {names:?}");
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(human_size(0), "0 B");
        assert_eq!(human_size(10 << 30), "10 GiB");
        assert_eq!(human_size(1536 << 20), "1536 MiB");
        assert_eq!(human_size((10 << 30) + 12_345), "10.0 GiB");
    }
}
