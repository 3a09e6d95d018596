//! Programs that end by themselves, within a limit; and the QEMU processes of a directory.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
    sync::mpsc,
};

use rustix::process::{Pid, Signal, kill_process};

use super::wait::PATIENCE;

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// Its exit code; a signal has none.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

/// Runs a program to its end; one that does not end in time is killed and fails the test.
#[track_caller]
pub fn run(command: &mut Command) -> Finished {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match receiver.recv_timeout(PATIENCE) {
        Ok(output) => {
            let output = output.unwrap();
            Finished {
                status: output.status,
                stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            }
        }
        Err(_) => {
            signal(pid, Signal::KILL);
            panic!("{command:?} did not end within {} s", PATIENCE.as_secs());
        }
    }
}

/// Sends a signal to a process that the test started.
pub fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).unwrap();
    let _ = kill_process(pid, signal);
}

/// A QEMU that runs a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qemu {
    pub pid: u32,
    pub uuid: String,
}

/// Every QEMU that carries a machine's UUID and works in a directory below this one.
pub fn qemus(below: &Path) -> Vec<Qemu> {
    let below = below.canonicalize().unwrap();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| {
        let directory: PathBuf = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<String> = line
            .split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect();
        let at = words.iter().position(|word| word == "-uuid")?;
        let uuid = words.get(at + 1)?.clone();
        directory.starts_with(&below).then_some(Qemu { pid, uuid })
    })
    .collect()
}
