//! Guests outlive the control plane that started them, and must not outlive a measurement.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io,
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

/// How long the kernel may take to end one.
const PATIENCE: Timespec = Timespec {
    tv_sec: 10,
    tv_nsec: 0,
};

/// Every QEMU below a directory; each is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Guests {
    root: PathBuf,
}

impl Guests {
    /// Answers for the guests whose working directories are below `root`.
    pub(super) fn new(root: &Path) -> Guests {
        Guests {
            root: root.to_owned(),
        }
    }

    fn processes(&self) -> Vec<Pid> {
        // The kernel shows working directories without links in their paths.
        let Ok(root) = self.root.canonicalize() else {
            return Vec::new();
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter(|entry| {
                fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&root))
            })
            .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
            .collect()
    }
}

impl Drop for Guests {
    fn drop(&mut self) {
        for process in self.processes() {
            // It may have ended by itself.
            let _ = end(process);
        }
    }
}

/// Kills a process and waits until it is gone: its directory is removed next.
fn end(process: Pid) -> io::Result<()> {
    let handle = pidfd_open(process, PidfdFlags::empty())?;
    pidfd_send_signal(&handle, Signal::KILL)?;
    let ended = PollFd::new(&handle, PollFlags::IN);
    poll(&mut [ended], Some(&PATIENCE)).map(drop)
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt as _, process::Command};

    use super::*;

    #[test]
    fn what_works_below_the_directory_is_ended_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let (inside, outside) = (home.path().join("in/machine"), home.path().join("out"));
        fs::create_dir_all(&inside).unwrap();
        fs::create_dir_all(&outside).unwrap();
        let sleep = |dir| {
            Command::new("sleep")
                .arg("600")
                .current_dir(dir)
                .spawn()
                .unwrap()
        };
        let (mut guest, mut other) = (sleep(inside), sleep(outside));
        drop(Guests::new(&home.path().join("in")));
        assert_eq!(guest.wait().unwrap().signal(), Some(Signal::KILL.as_raw()));
        let lives = other.try_wait().unwrap().is_none();
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(lives, "a process elsewhere was ended too");
    }
}
