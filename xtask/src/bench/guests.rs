//! Guests outlive the control plane that started them, and must not outlive a measurement.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// How long the kernel may take to end them.
const PATIENCE: Duration = Duration::from_secs(10);

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
        let began = Instant::now();
        // Until none is left: their directory is removed next.
        while began.elapsed() < PATIENCE {
            let processes = self.processes();
            if processes.is_empty() {
                return;
            }
            for process in processes {
                // It may have ended by itself.
                let _ = kill_process(process, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
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
