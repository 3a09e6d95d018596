//! What an image file is, read from its own first bytes: never from its name.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use super::ImageError;

/// How the bytes of an image are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// QEMU's copy-on-write format.
    Qcow2,
    /// The disk itself.
    Raw,
}

impl Format {
    /// The name that QEMU's tools know it by.
    pub fn name(self) -> &'static str {
        match self {
            Format::Qcow2 => "qcow2",
            Format::Raw => "raw",
        }
    }
}

/// Leading bytes of packed files, which would otherwise pass for raw disks.
const PACKED: [(&[u8], &str); 4] = [
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
];

/// Reads the format and the size that a guest would see.
///
/// # Errors
/// When the file cannot be read, is packed, or depends on another file.
pub fn inspect(path: &Path) -> Result<(Format, u64), ImageError> {
    let fault = |source| ImageError::Io {
        what: "read",
        path: path.to_owned(),
        source,
    };
    let unusable = |reason: String| ImageError::Unusable {
        path: path.to_owned(),
        reason,
    };
    let mut file = File::open(path).map_err(fault)?;
    let length = file.metadata().map_err(fault)?.len();
    let mut head = Vec::with_capacity(104);
    Read::take(&mut file, 104)
        .read_to_end(&mut head)
        .map_err(fault)?;

    if let Some((_, name)) = PACKED.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(unusable(format!("it is packed with {name}; unpack it first")));
    }
    if !head.starts_with(b"QFI\xfb") {
        return match length {
            0 => Err(unusable("it is empty".to_owned())),
            _ => Ok((Format::Raw, length)),
        };
    }
    let backing = number(&head, 8).map_err(fault)?;
    let size = number(&head, 24).map_err(fault)?;
    // A backing or data file is named by the image itself: whoever made the image would
    // choose which file of this host the guest reads.
    if backing != 0 {
        return Err(unusable("it needs a backing file; flatten it first (qemu-img convert)".into()));
    }
    let version = number(&head, 0).map_err(fault)? & 0xffff_ffff;
    if version >= 3 && number(&head, 72).map_err(fault)? & 0b100 != 0 {
        return Err(unusable("it keeps its data in another file; flatten it first (qemu-img convert)".into()));
    }
    Ok((Format::Qcow2, size))
}

fn number(head: &[u8], at: usize) -> io::Result<u64> {
    head.get(at..at + 8)
        .and_then(|bytes| bytes.try_into().ok())
        .map(u64::from_be_bytes)
        .ok_or_else(|| io::Error::new(io::ErrorKind::UnexpectedEof, "the qcow2 header is cut off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(content: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("image");
        std::fs::write(&path, content).unwrap();
        (dir, path)
    }

    fn qcow2(backing: u64, size: u64, incompatible: u64) -> Vec<u8> {
        let mut head = vec![0; 104];
        head[0..4].copy_from_slice(b"QFI\xfb");
        head[7] = 3;
        head[8..16].copy_from_slice(&backing.to_be_bytes());
        head[24..32].copy_from_slice(&size.to_be_bytes());
        head[72..80].copy_from_slice(&incompatible.to_be_bytes());
        head
    }

    #[test]
    fn format_and_size_come_from_the_content() {
        let (_dir, path) = write(&qcow2(0, 5 << 30, 0));
        assert_eq!(inspect(&path).unwrap(), (Format::Qcow2, 5 << 30));
        let (_dir, path) = write(&[7; 1024]);
        assert_eq!(inspect(&path).unwrap(), (Format::Raw, 1024));
    }

    #[test]
    fn images_that_lean_on_other_files_or_are_packed_are_refused() {
        for content in [
            qcow2(600, 1, 0),
            qcow2(0, 1, 0b100),
            b"\x1f\x8bzzz".to_vec(),
            Vec::new(),
            b"QFI\xfb\0\0".to_vec(),
        ] {
            let (_dir, path) = write(&content);
            assert!(inspect(&path).is_err(), "{content:?}");
        }
    }
}
