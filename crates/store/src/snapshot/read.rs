//! Reading a snapshot: whole, of a known format, and with the sum that was written, or not at all.

use std::io::{self, BufRead, Read};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::{ENTRY, FORMAT, MAGIC, SUM, SnapshotHead};
use crate::types::{Entry, Revision};

/// The head is a few lines; a longer one is none.
const LONGEST_LINE: u64 = 512;
/// No key or value is longer; what says so is damaged, and must not make anyone reserve memory.
const LARGEST: usize = 64 << 20;

/// Why bytes are no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// They could not be read.
    #[error("the snapshot cannot be read")]
    Io(#[source] io::Error),
    /// They begin with something else.
    #[error("this is no snapshot of a store")]
    Foreign,
    /// A later version of this program wrote them.
    #[error(
        "the snapshot has format {found}, and this program knows formats up to {FORMAT}: use a newer version of the program"
    )]
    Newer {
        /// The format of the snapshot.
        found: u32,
    },
    /// There are fewer than there should be.
    #[error("the snapshot is cut short")]
    Short,
    /// They are not what was written.
    #[error("the snapshot is damaged: {0}")]
    Damaged(&'static str),
}

impl From<io::Error> for SnapshotError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Short,
            _ => Self::Io(error),
        }
    }
}

/// A snapshot on its way in.
#[derive(Debug)]
pub struct SnapshotReader<R> {
    source: Summed<R>,
    head: SnapshotHead,
    left: u64,
    last: Option<Box<str>>,
}

/// Bytes that are summed as they are read.
#[derive(Debug)]
struct Summed<R> {
    source: R,
    sum: Sha256,
}

impl<R: BufRead> Summed<R> {
    fn line(&mut self) -> Result<String, SnapshotError> {
        let mut line = Vec::new();
        (&mut self.source)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?;
        self.sum.update(&line);
        match line.pop() {
            Some(b'\n') => String::from_utf8(line).map_err(|_| SnapshotError::Foreign),
            Some(_) if line.len() as u64 + 1 == LONGEST_LINE => Err(SnapshotError::Foreign),
            _ => Err(SnapshotError::Short),
        }
    }

    fn bytes(&mut self, size: usize) -> Result<Vec<u8>, SnapshotError> {
        let mut bytes = vec![0; size];
        self.source.read_exact(&mut bytes)?;
        self.sum.update(&bytes);
        Ok(bytes)
    }
}

impl<R: BufRead> SnapshotReader<R> {
    /// Reads the head.
    ///
    /// # Errors
    /// When there is none, or one of a later format.
    pub fn new(source: R) -> Result<Self, SnapshotError> {
        let sum = Sha256::new();
        let mut source = Summed { source, sum };
        let first = source.line()?;
        let format = first
            .strip_prefix(MAGIC)
            .and_then(|rest| rest.strip_prefix(' '));
        match format.and_then(|format| format.parse().ok()) {
            Some(FORMAT) => {}
            Some(found) if found > FORMAT => return Err(SnapshotError::Newer { found }),
            _ => return Err(SnapshotError::Foreign),
        }
        let mut field = |name: &str| {
            let line = source.line()?;
            let value = line
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix(' '));
            value
                .map(str::to_owned)
                .ok_or(SnapshotError::Damaged("its head"))
        };
        let uid = field("uid")?;
        let number = |text: String| text.parse().map_err(|_| SnapshotError::Damaged("its head"));
        let revision = Revision(number(field("revision")?)?);
        let entries = number(field("entries")?)?;
        if !source.line()?.is_empty() {
            return Err(SnapshotError::Damaged("its head"));
        }
        Ok(Self {
            source,
            left: entries,
            head: SnapshotHead {
                uid,
                revision,
                entries,
            },
            last: None,
        })
    }

    /// What it says about itself.
    pub fn head(&self) -> &SnapshotHead {
        &self.head
    }

    /// The next entry; after the last one the sum is checked.
    ///
    /// # Errors
    /// When the entry, or after the last one the sum, is not what was written.
    pub fn entry(&mut self) -> Result<Option<Entry>, SnapshotError> {
        if self.left == 0 {
            return self.check().map(|()| None);
        }
        let header = self.source.bytes(ENTRY)?;
        let number = |from: usize, to: usize| {
            header[from..to]
                .iter()
                .rev()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        let (key, value) = (number(0, 4) as usize, number(4, 8) as usize);
        if key > LARGEST || value > LARGEST {
            return Err(SnapshotError::Damaged("an entry is too large"));
        }
        let key = String::from_utf8(self.source.bytes(key)?);
        let key = key.map_err(|_| SnapshotError::Damaged("a key is no text"))?;
        let entry = Entry {
            key: key.into(),
            value: Bytes::from(self.source.bytes(value)?),
            created: Revision(number(8, 16)),
            modified: Revision(number(16, 24)),
        };
        let in_order = self.last.as_deref().is_none_or(|last| last < &*entry.key);
        let possible = entry.created <= entry.modified && entry.modified <= self.head.revision;
        if !in_order || !possible || entry.created == Revision::ZERO {
            return Err(SnapshotError::Damaged("an entry is out of place"));
        }
        self.last = Some((&*entry.key).into());
        self.left -= 1;
        Ok(Some(entry))
    }

    fn check(&mut self) -> Result<(), SnapshotError> {
        let expected = self.source.sum.clone().finalize();
        let mut found = [0; SUM];
        self.source.source.read_exact(&mut found)?;
        match found[..] == expected[..] {
            true => Ok(()),
            false => Err(SnapshotError::Damaged("its sum is another")),
        }
    }
}
