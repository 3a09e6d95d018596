//! A gzipped tar that only its owner may read, whole or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use jiff::Timestamp;
use tar::{Builder, Header};

/// An archive in the making.
pub(super) struct Archive {
    builder: Builder<GzEncoder<File>>,
    directory: String,
    time: u64,
    temporary: PathBuf,
    path: PathBuf,
}

impl Archive {
    /// Begins one; everything in it lies in one directory of this name.
    pub(super) fn create(path: &Path, directory: &str, now: Timestamp) -> io::Result<Archive> {
        let temporary = path.with_extension("part");
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        Ok(Archive {
            builder: Builder::new(GzEncoder::new(file, Compression::default())),
            directory: directory.to_owned(),
            time: u64::try_from(now.as_second()).unwrap_or_default(),
            temporary,
            path: path.to_owned(),
        })
    }

    /// Adds a file.
    pub(super) fn add(&mut self, name: &str, text: &str) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(self.time);
        let name = format!("{}/{name}", self.directory);
        self.builder.append_data(&mut header, name, text.as_bytes())
    }

    /// Ends it, and gives it its name.
    pub(super) fn finish(self) -> io::Result<()> {
        let file = self.builder.into_inner()?.finish()?;
        file.sync_all()?;
        fs::rename(&self.temporary, &self.path)
    }
}
