//! The file of a backup: a head of lines that a person can read, the files of the data directory
//! that clients rely on, the snapshot of the store, and a SHA-256 of all that came before it.
//!
//! It holds Secrets and private keys, so only its owner may read it. It is written under another
//! name and gets its own when it is whole. Leaves to others: where the snapshot comes from, and
//! what becomes of what is read.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use machinist_store::{SnapshotError, SnapshotHead, SnapshotReader};
use sha2::{Digest, Sha256};

const MAGIC: &str = "machinist-backup";
const FORMAT: u32 = 1;
const SUM: u64 = 32;
/// The head is a few lines; a longer one is none.
const LONGEST_LINE: u64 = 512;
/// Certificates and keys are small, and there are few of them.
const LARGEST_FILE: usize = 1 << 20;
const MOST_FILES: usize = 1000;

/// Why a file is no backup, or could not become one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BackupError {
    #[error("it cannot be read or written")]
    Io(#[from] io::Error),
    #[error("it is no backup of Machinist")]
    Foreign,
    #[error(
        "it has format {0}, and this machinist knows formats up to {FORMAT}: use a newer machinist"
    )]
    Newer(u32),
    #[error("it is damaged or cut short: its checksum is another")]
    Sum,
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    #[error("its snapshot of the store cannot be used")]
    Snapshot(#[from] SnapshotError),
}

/// A file of the data directory, by its path in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
}

/// What a backup says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// When it was made, as RFC 3339 has it.
    pub(crate) created: String,
    /// The version of the program that made it.
    pub(crate) program: String,
}

/// A backup in the making; without [`Draft::finish`] nothing is left of it.
pub(crate) struct Draft {
    target: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
    sum: Sha256,
}

impl Draft {
    /// Begins a backup with everything but the snapshot.
    pub(crate) fn new(target: &Path, head: &Head, kept: &[Kept]) -> io::Result<Draft> {
        let mut part = target.as_os_str().to_owned();
        part.push(format!(".{}.part", std::process::id()));
        let part = PathBuf::from(part);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&part)?;
        let mut draft = Draft {
            target: target.to_owned(),
            part,
            file: BufWriter::new(file),
            sum: Sha256::new(),
        };
        let Head { created, program } = head;
        let files = kept.len();
        let lines =
            format!("{MAGIC} {FORMAT}\ncreated {created}\nprogram {program}\nfiles {files}\n\n");
        draft.add(lines.as_bytes())?;
        for Kept { name, content } in kept {
            for size in [name.len(), content.len()] {
                draft.add(&(size as u32).to_le_bytes())?;
            }
            draft.add(name.as_bytes())?;
            draft.add(content)?;
        }
        Ok(draft)
    }

    /// Adds bytes of the snapshot.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.file.write_all(bytes)
    }

    /// Ends the backup, reads all of it back, and gives it its name.
    pub(crate) fn finish(mut self) -> Result<SnapshotHead, BackupError> {
        let sum = self.sum.clone().finalize();
        self.file.write_all(&sum)?;
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        let mut backup = Backup::open(&self.part)?;
        let mut snapshot = backup.snapshot()?;
        while snapshot.entry()?.is_some() {}
        fs::rename(&self.part, &self.target)?;
        sync_directory(&self.target)?;
        Ok(snapshot.head().clone())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a success there is none under this name.
        let _ = fs::remove_file(&self.part);
    }
}

fn sync_directory(of: &Path) -> io::Result<()> {
    match of.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => File::open(dir)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

/// A backup that was found whole.
#[derive(Debug)]
pub(crate) struct Backup {
    pub(crate) head: Head,
    pub(crate) kept: Vec<Kept>,
    /// Stands where the snapshot begins.
    file: BufReader<File>,
    /// How long the snapshot is.
    length: u64,
}

impl Backup {
    /// Reads the file once to see that it is whole, and then what comes before the snapshot.
    pub(crate) fn open(path: &Path) -> Result<Backup, BackupError> {
        let mut file = BufReader::new(File::open(path)?);
        let length = file.get_ref().metadata()?.len();
        check_format(&mut file)?;
        file.seek(SeekFrom::Start(0))?;
        let body = length.checked_sub(SUM).ok_or(BackupError::Sum)?;
        let mut sum = Sha256::new();
        io::copy(&mut (&mut file).take(body), &mut sum)?;
        let mut found = Vec::new();
        file.read_to_end(&mut found)?;
        if found[..] != sum.finalize()[..] {
            return Err(BackupError::Sum);
        }
        file.seek(SeekFrom::Start(0))?;
        let mut rest = file.take(body);
        let (head, files) = read_head(&mut rest)?;
        let mut kept = Vec::new();
        for _ in 0..files {
            kept.push(read_kept(&mut rest)?);
        }
        Ok(Backup {
            head,
            kept,
            length: rest.limit(),
            file: rest.into_inner(),
        })
    }

    /// The snapshot of the store.
    pub(crate) fn snapshot(&mut self) -> Result<SnapshotReader<impl BufRead + '_>, SnapshotError> {
        SnapshotReader::new((&mut self.file).take(self.length))
    }
}

/// The first line says what the rest means, so it is looked at even before the sum.
fn check_format(source: &mut impl BufRead) -> Result<(), BackupError> {
    let first = line(source)?;
    let format = first
        .strip_prefix(MAGIC)
        .and_then(|rest| rest.strip_prefix(' '));
    match format.and_then(|format| format.parse().ok()) {
        Some(FORMAT) => Ok(()),
        Some(found) if found > FORMAT => Err(BackupError::Newer(found)),
        _ => Err(BackupError::Foreign),
    }
}

fn read_head(source: &mut impl BufRead) -> Result<(Head, usize), BackupError> {
    check_format(source)?;
    let mut field = |name: &str| {
        let line = line(source)?;
        let value = line
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(' '));
        value
            .map(str::to_owned)
            .ok_or(BackupError::Damaged("its head"))
    };
    let head = Head {
        created: field("created")?,
        program: field("program")?,
    };
    let files = field("files")?
        .parse()
        .ok()
        .filter(|files| *files <= MOST_FILES);
    let files = files.ok_or(BackupError::Damaged("its head"))?;
    match line(source)?.as_str() {
        "" => Ok((head, files)),
        _ => Err(BackupError::Damaged("its head")),
    }
}

fn read_kept(source: &mut impl Read) -> Result<Kept, BackupError> {
    let mut size = || -> Result<usize, BackupError> {
        let mut bytes = [0; 4];
        source.read_exact(&mut bytes)?;
        let size = u32::from_le_bytes(bytes) as usize;
        let sound = size <= LARGEST_FILE;
        sound
            .then_some(size)
            .ok_or(BackupError::Damaged("a file of it is too large"))
    };
    let (mut name, mut content) = (vec![0; size()?], vec![0; size()?]);
    source.read_exact(&mut name)?;
    source.read_exact(&mut content)?;
    let name = String::from_utf8(name).map_err(|_| BackupError::Damaged("a name in it"))?;
    // A name must not lead out of the directory that it is restored into.
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    match name.split('/').all(is_plain) {
        true => Ok(Kept { name, content }),
        false => Err(BackupError::Damaged("a name in it")),
    }
}

fn line(source: &mut impl BufRead) -> Result<String, BackupError> {
    let mut line = Vec::new();
    source.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    match line.pop() {
        Some(b'\n') => String::from_utf8(line).map_err(|_| BackupError::Foreign),
        _ => Err(BackupError::Foreign),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use machinist_store::{Expect, Store};

    use super::*;

    fn kept() -> Vec<Kept> {
        vec![Kept {
            name: "pki/ca.crt".into(),
            content: b"a certificate".to_vec(),
        }]
    }

    fn head() -> Head {
        Head {
            created: "2026-11-16T00:00:00Z".into(),
            program: "0.1.0".into(),
        }
    }

    /// A small backup in a directory.
    async fn made(dir: &Path, kept: &[Kept]) -> PathBuf {
        let store = Store::memory();
        for key in ["a", "b"] {
            store.put(key, "1".into(), Expect::Any).await.unwrap();
        }
        let path = dir.join("backup");
        let mut draft = Draft::new(&path, &head(), kept).unwrap();
        for piece in store.snapshot() {
            draft.add(&piece).unwrap();
        }
        assert_eq!(draft.finish().unwrap().entries, 2);
        path
    }

    #[tokio::test]
    async fn a_backup_reads_back_what_was_written_and_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let path = made(dir.path(), &kept()).await;
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            fs::read_dir(dir.path()).unwrap().count(),
            1,
            "no part is left"
        );
        let mut backup = Backup::open(&path).unwrap();
        assert_eq!((backup.head.clone(), backup.kept.clone()), (head(), kept()));
        let mut snapshot = backup.snapshot().unwrap();
        let mut keys = Vec::new();
        while let Some(entry) = snapshot.entry().unwrap() {
            keys.push(entry.key.to_string());
        }
        assert_eq!(keys, ["a", "b"]);
    }

    #[tokio::test]
    async fn every_changed_byte_and_every_cut_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = made(dir.path(), &kept()).await;
        let sound = fs::read(&path).unwrap();
        for place in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[place] ^= 0x11;
            fs::write(&path, damaged).unwrap();
            assert!(Backup::open(&path).is_err(), "byte {place}");
        }
        for length in 0..sound.len() {
            fs::write(&path, &sound[..length]).unwrap();
            assert!(Backup::open(&path).is_err(), "cut to {length}");
        }
        fs::write(&path, [&sound[..], b"more"].concat()).unwrap();
        assert!(matches!(Backup::open(&path), Err(BackupError::Sum)));
        fs::write(&path, "machinist-backup 2\nwhatever").unwrap();
        assert!(matches!(Backup::open(&path), Err(BackupError::Newer(2))));
        fs::write(&path, "something else\n").unwrap();
        assert!(matches!(Backup::open(&path), Err(BackupError::Foreign)));
    }

    #[tokio::test]
    async fn a_name_that_leads_elsewhere_is_refused() {
        for name in ["../outside", "/etc/passwd", "pki/../../outside", ""] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("backup");
            let content = Vec::new();
            let name = name.to_owned();
            let mut draft = Draft::new(&path, &head(), &[Kept { name, content }]).unwrap();
            for piece in Store::memory().snapshot() {
                draft.add(&piece).unwrap();
            }
            // The sum is right, and still it is not taken.
            assert!(matches!(draft.finish(), Err(BackupError::Damaged(_))));
        }
    }

    #[test]
    fn a_snapshot_that_broke_off_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("backup");
        let mut draft = Draft::new(&path, &head(), &[]).unwrap();
        draft
            .add(&Store::memory().snapshot().next().unwrap())
            .unwrap();
        assert!(draft.finish().is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
