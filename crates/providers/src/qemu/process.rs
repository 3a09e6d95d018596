//! The QEMU process of a machine: starting it, knowing whether it lives, and ending it.
//!
//! Life is told by a lock, not by a number: QEMU's standard input is a file that was
//! locked before it was started, so the kernel holds the lock for exactly as long as the
//! process lives, whoever started it and whatever became of them. A process id is only
//! used to send a signal, and only after the process was seen to carry the machine's UUID.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
    process::Stdio,
    time::Duration,
};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::{
    process::{Child, Command},
    time::{Instant, sleep},
};

/// Held by QEMU while it lives.
const RUN_LOCK: &str = "run.lock";
/// Written by QEMU.
pub(super) const PID_FILE: &str = "qemu.pid";
/// What QEMU says on its standard output and error.
pub(super) const LOG: &str = "qemu.log";
const PAUSE: Duration = Duration::from_millis(5);

/// Variables that QEMU or its libraries may need; the others may hold secrets and stay here.
const ENVIRONMENT: [&str; 6] = ["PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "XDG_RUNTIME_DIR"];

/// Whether a QEMU lives in this directory.
///
/// # Errors
/// When that cannot be told.
pub(super) fn lives(dir: &Path) -> io::Result<bool> {
    let file = match File::open(dir.join(RUN_LOCK)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The right to start a QEMU in this directory; `None` when one lives.
///
/// # Errors
/// When the lock cannot be used.
pub(super) async fn claim(dir: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new()
        .create(true)
        .read(true)
        .write(true)
        .truncate(false)
        .mode(0o600)
        .open(dir.join(RUN_LOCK))?;
    // Somebody who only asks whether QEMU lives holds the lock for a moment.
    let deadline = Instant::now() + Duration::from_secs(1);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(None),
            Err(TryLockError::WouldBlock) => sleep(PAUSE).await,
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Starts QEMU in `dir`, in a process group of its own, so that neither the end of this
/// program nor a Ctrl-C at its terminal ends the guest.
///
/// # Errors
/// When the program cannot be started.
pub(super) fn spawn(dir: &Path, binary: &Path, args: &[OsString], claim: File) -> io::Result<Child> {
    let log = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(dir.join(LOG))?;
    let kept = ENVIRONMENT
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    Command::new(binary)
        .args(args)
        .current_dir(dir)
        .env_clear()
        .envs(kept)
        .stdin(Stdio::from(claim))
        .stdout(Stdio::from(log.try_clone()?))
        .stderr(Stdio::from(log))
        .process_group(0)
        .kill_on_drop(false)
        .spawn()
}

/// The id of the machine's process, when the process with the id in the pid file is the
/// machine's own: an id that was given to another process fools nobody.
pub(super) fn identify(dir: &Path, uuid: &str) -> Option<Pid> {
    let text = fs::read_to_string(dir.join(PID_FILE)).ok()?;
    let pid = Pid::from_raw(text.trim().parse().ok()?)?;
    carries(pid, uuid).then_some(pid)
}

fn carries(pid: Pid, uuid: &str) -> bool {
    let Ok(line) = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())) else {
        return false;
    };
    let args: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
    args.windows(2)
        .any(|pair| pair[0] == b"-uuid" && pair[1] == uuid.as_bytes())
}

/// Ends the machine's process at once. `Ok(false)` when there is none that carries the UUID.
///
/// # Errors
/// When the kernel refuses.
pub(super) fn kill(dir: &Path, uuid: &str) -> io::Result<bool> {
    let Some(pid) = identify(dir, uuid) else {
        return Ok(false);
    };
    // The descriptor is bound to the process before the second look, so the signal cannot
    // reach a stranger that was given the same id in between.
    let handle = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) => handle,
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    if !carries(pid, uuid) {
        return Ok(false);
    }
    match pidfd_send_signal(&handle, Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Waits until no QEMU lives in this directory; false when the limit came first.
///
/// # Errors
/// When that cannot be told.
pub(super) async fn wait_gone(dir: &Path, limit: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + limit;
    loop {
        if !lives(dir)? {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        sleep(PAUSE).await;
    }
}

/// The last lines that QEMU wrote, for an error message.
pub(super) fn last_words(dir: &Path) -> String {
    let bytes = fs::read(dir.join(LOG)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(4);
    lines[from..].join("; ")
}
