//! The file that events are written to, by a thread of its own. Nothing waits for it: when it
//! cannot keep up or the disk is full, lines are lost and counted, and the server goes on.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How many lines may wait to be written.
const WAITING: usize = 10_000;
/// A file is cut at this size when no other is asked for, in megabytes.
const DEFAULT_SIZE: u64 = 100;

/// Where events go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// The file; `-` is standard output.
    pub path: PathBuf,
    /// At how many megabytes a file is set aside for a new one; 0 means 100.
    pub max_size: u64,
    /// How many files that were set aside are kept; 0 means all.
    pub max_backups: usize,
}

/// The way to the thread that writes.
#[derive(Debug)]
pub(super) struct Sink {
    lines: Option<SyncSender<String>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    lost: Arc<AtomicU64>,
}

impl Sink {
    /// Opens the file and starts to write.
    pub(super) fn open(file: LogFile) -> io::Result<Self> {
        let mut writer = Writer::new(file);
        // A path that cannot be written to is told at the start, not at the first event.
        writer.open()?;
        let lost = Arc::new(AtomicU64::new(0));
        let (lines, waiting) = sync_channel(WAITING);
        let thread = {
            let lost = lost.clone();
            std::thread::Builder::new()
                .name("audit".into())
                .spawn(move || write_all(&waiting, writer, &lost))?
        };
        Ok(Self {
            lines: Some(lines),
            thread: Mutex::new(Some(thread)),
            lost,
        })
    }

    /// Hands a line over, or loses it.
    pub(super) fn write(&self, line: String) {
        let handed_over = self
            .lines
            .as_ref()
            .is_some_and(|lines| lines.try_send(line).is_ok());
        if !handed_over {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        // Without a sender the thread writes what waits, and ends.
        self.lines = None;
        let thread = self
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

fn write_all(lines: &Receiver<String>, mut writer: Writer, lost: &AtomicU64) {
    let mut failing = false;
    while let Ok(line) = lines.recv() {
        match writer.write(&line) {
            Ok(()) => {
                let count = lost.swap(0, Ordering::Relaxed);
                if count > 0 {
                    tracing::warn!(count, "lines of the audit log were lost");
                }
                failing = false;
            }
            Err(error) => {
                lost.fetch_add(1, Ordering::Relaxed);
                // Once for each trouble: a full disk must not fill the other log as well.
                if !failing {
                    let path = writer.file.path.display();
                    tracing::error!(%path, %error, "the audit log cannot be written");
                }
                failing = true;
            }
        }
    }
}

/// A file that is set aside when it is large.
#[derive(Debug)]
struct Writer {
    file: LogFile,
    open: Option<File>,
    size: u64,
    /// Whether the last line was cut short, so that the next must not be appended to it.
    torn: bool,
}

impl Writer {
    fn new(file: LogFile) -> Self {
        Self {
            file,
            open: None,
            size: 0,
            torn: false,
        }
    }

    fn limit(&self) -> u64 {
        let megabytes = match self.file.max_size {
            0 => DEFAULT_SIZE,
            size => size,
        };
        megabytes * 1024 * 1024
    }

    fn open(&mut self) -> io::Result<()> {
        if self.file.path.as_os_str() == "-" || self.open.is_some() {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&self.file.path)?;
        self.size = file.metadata()?.len();
        self.open = Some(file);
        Ok(())
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.file.path.as_os_str() == "-" {
            return writeln!(io::stdout(), "{line}");
        }
        let length = line.len() as u64 + 1;
        self.open()?;
        if self.size > 0 && self.size + length > self.limit() {
            self.open = None;
            set_aside(&self.file)?;
            self.torn = false;
            self.open()?;
        }
        let start = if std::mem::replace(&mut self.torn, true) {
            "\n"
        } else {
            ""
        };
        let written = match &mut self.open {
            Some(file) => file.write_all(format!("{start}{line}\n").as_bytes()),
            None => Ok(()),
        };
        if written.is_err() {
            // The file may be another one next time: somebody may have made room.
            self.open = None;
        } else {
            self.torn = false;
            self.size += length;
        }
        written
    }
}

/// Renames the file by the time, and deletes the oldest of those that were renamed before.
fn set_aside(file: &LogFile) -> io::Result<()> {
    let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S.%f");
    let (stem, extension) = name_parts(&file.path);
    let aside = file
        .path
        .with_file_name(format!("{stem}-{time}{extension}"));
    std::fs::rename(&file.path, aside)?;
    if file.max_backups == 0 {
        return Ok(());
    }
    let directory = match file.path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let (prefix, suffix) = (format!("{stem}-20"), extension);
    let mut kept: Vec<PathBuf> = std::fs::read_dir(directory)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(&prefix) && name.ends_with(&suffix))
        })
        .collect();
    // The names begin alike and go on with the time.
    kept.sort();
    let surplus = kept.len().saturating_sub(file.max_backups);
    for old in kept.into_iter().take(surplus) {
        std::fs::remove_file(old)?;
    }
    Ok(())
}

fn name_parts(path: &Path) -> (String, String) {
    let text = |part: Option<&std::ffi::OsStr>| {
        part.map(|part| part.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    let extension = text(path.extension());
    let dot = if extension.is_empty() { "" } else { "." };
    (text(path.file_stem()), format!("{dot}{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_files_are_set_aside_and_the_oldest_go() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        let sink = Sink::open(LogFile {
            path: path.clone(),
            max_size: 1,
            max_backups: 2,
        })
        .unwrap();
        let line = "x".repeat(400_000);
        for _ in 0..11 {
            sink.write(line.clone());
        }
        drop(sink);
        let mut sizes: Vec<u64> = std::fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .collect();
        sizes.sort_unstable();
        // Two lines a file: the eleventh is alone, and of five full files two are left.
        assert_eq!(sizes, [400_001, 800_002, 800_002]);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 400_001);
    }

    #[test]
    fn a_disk_that_is_full_stops_nobody() {
        // Everything that is written to this device fails for want of space.
        let full = Path::new("/dev/full");
        if !full.exists() {
            println!("skipped: no /dev/full");
            return;
        }
        let sink = Sink::open(LogFile {
            path: full.into(),
            max_size: 0,
            max_backups: 0,
        })
        .unwrap();
        for _ in 0..3 * WAITING {
            sink.write("line".into());
        }
        drop(sink);
    }

    #[test]
    fn a_line_that_was_cut_short_does_not_spoil_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.log");
        let file = LogFile {
            path: path.clone(),
            max_size: 0,
            max_backups: 0,
        };
        let mut writer = Writer::new(file);
        writer.write("one").unwrap();
        std::fs::write(&path, "one\ntw").unwrap();
        writer.torn = true;
        writer.write("three").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntw\nthree\n");
    }
}
