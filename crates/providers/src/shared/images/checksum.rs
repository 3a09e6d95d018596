//! SHA-256 sums of files, as people write them.

use std::{fs::File, io, path::Path};

use sha2::{Digest, Sha256 as Hasher};

use super::ImageError;

/// A SHA-256 sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sha256(String);

impl Sha256 {
    /// Reads `sha256:<hex>` or `<hex>`.
    ///
    /// # Errors
    /// When the text has no such form.
    pub fn parse(text: &str) -> Result<Sha256, ImageError> {
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        let plain = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        match plain {
            true => Ok(Sha256(hex.to_ascii_lowercase())),
            false => Err(ImageError::ChecksumForm(text.to_owned())),
        }
    }

    /// The sum of some bytes.
    pub fn of(bytes: &[u8]) -> Sha256 {
        Sha256::from_hasher(Hasher::new_with_prefix(bytes))
    }

    pub(super) fn from_hasher(hasher: Hasher) -> Sha256 {
        Sha256(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The sum in lower-case hexadecimal digits.
    pub fn hex(&self) -> &str {
        &self.0
    }

    /// Checks that a file has this sum.
    ///
    /// # Errors
    /// When it has another, or cannot be read.
    pub fn check(&self, path: &Path) -> Result<(), ImageError> {
        let mut hasher = Hasher::new();
        hash_file(path, &mut hasher).map_err(|source| ImageError::Io {
            what: "read",
            path: path.to_owned(),
            source,
        })?;
        self.compare(&Sha256::from_hasher(hasher))
    }

    pub(super) fn compare(&self, actual: &Sha256) -> Result<(), ImageError> {
        match self == actual {
            true => Ok(()),
            false => Err(ImageError::Checksum {
                expected: self.0.clone(),
                actual: actual.0.clone(),
            }),
        }
    }
}

/// Feeds a whole file to a hasher.
pub(super) fn hash_file(path: &Path, hasher: &mut Hasher) -> io::Result<u64> {
    io::copy(&mut File::open(path)?, hasher)
}
