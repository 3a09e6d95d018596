//! Programs that are measured: started in a process group of their own, ended with it.

use std::{
    fs::{self, File},
    io,
    net::TcpListener,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// What is needed to measure.
#[derive(Debug)]
pub(super) struct Tools {
    /// The directory of etcd and kube-apiserver.
    pub(super) assets: PathBuf,
    pub(super) kubectl: PathBuf,
    /// The guest's image.
    pub(super) image: PathBuf,
    /// The release binary.
    pub(super) machinist: PathBuf,
}

/// A running program; it and what it started are killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a program whose output goes to `NAME.log` in `dir`.
    pub(crate) fn start(name: &'static str, command: &mut Command, dir: &Path) -> Result<Process> {
        let log = dir.join(format!("{name}.log"));
        let output = File::create(&log).with_context(|| format!("cannot make {name}'s log"))?;
        let errors = output.try_clone().context("cannot share a log")?;
        let child = command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        Ok(Process { name, child, log })
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The seconds that its threads were on a processor so far; those that ended are not counted.
    pub(super) fn processor_time(&self) -> Result<f64> {
        let threads = format!("/proc/{}/task", self.child.id());
        let threads = fs::read_dir(threads).context("cannot read a program's threads")?;
        let mut nanoseconds = 0.0;
        for thread in threads {
            let path = thread.context("cannot read a thread")?.path();
            // A thread may end between the two looks.
            let text = fs::read_to_string(path.join("schedstat")).unwrap_or_default();
            let first = text.split(' ').next().unwrap_or_default();
            nanoseconds += first.parse::<f64>().unwrap_or_default();
        }
        Ok(nanoseconds / 1e9)
    }

    /// Asks the program to end and waits until it has.
    pub(super) async fn end(&mut self) -> Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            kill_process(pid, Signal::TERM).context("cannot end a program")?;
        }
        while self
            .child
            .try_wait()
            .context("cannot wait for a program")?
            .is_none()
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// Fails with the end of its log when the program has ended.
    pub(crate) fn check(&mut self) -> Result<()> {
        match self.child.try_wait().context("cannot wait for a program")? {
            None => Ok(()),
            Some(status) => {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let end = lines[lines.len().saturating_sub(20)..].join("\n");
                bail!("{} ended with {status}:\n{end}", self.name)
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // It may have ended by itself.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// A port on loopback that nobody listens on now.
pub(super) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("there is no free port")?;
    let address = listener.local_addr().context("a listener has no address")?;
    Ok(address.port())
}

/// Reads a program once, so that no side pays for a cold disk.
pub(super) fn warm(program: &Path) -> Result<()> {
    let read = || io::copy(&mut File::open(program)?, &mut io::sink());
    read().with_context(|| format!("cannot read {}", program.display()))?;
    Ok(())
}
