//! What a machine consists of on this host, and what of it is still there.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use machinist_api::vitistack::Machine;

use crate::failure::{self, Outcome};

/// The traces of one machine.
pub(super) struct Leftovers {
    pid: i32,
    started: Option<Instant>,
    directory: PathBuf,
    port: Option<u16>,
    taps_before: Vec<String>,
}

impl Leftovers {
    /// Reads them from a running machine's status and the host.
    pub(super) fn of(machine: &Machine) -> Outcome<Leftovers> {
        let status = machine.status.clone().unwrap_or_default();
        let detail = |name: &str| {
            let value = status
                .provider_status
                .get(name)
                .and_then(|value| value.as_str());
            value.map(str::to_owned)
        };
        let missing =
            |name: &str| failure::internal_plain(format!("status.providerStatus has no {name}"));
        let pid = detail("pid").and_then(|pid| pid.parse().ok());
        let pid = pid.ok_or_else(|| missing("pid"))?;
        let directory = detail("directory").ok_or_else(|| missing("directory"))?;
        Ok(Leftovers {
            pid,
            started: started(pid),
            directory: directory.into(),
            port: detail("sshPort").and_then(|port| port.parse().ok()),
            taps_before: taps(),
        })
    }

    /// When the process was started.
    pub(super) fn process_started(&self) -> Option<Instant> {
        self.started
    }

    /// What of it is still there.
    pub(super) fn still_there(&self) -> Vec<String> {
        let mut left = Vec::new();
        if is_qemu(self.pid) {
            left.push(format!("QEMU process {}", self.pid));
        }
        left.extend(processes_in(&self.directory).map(|pid| format!("process {pid}")));
        if self.directory.exists() {
            left.push(format!("directory {}", self.directory.display()));
        }
        if let Some(port) = self.port
            && TcpListener::bind(("127.0.0.1", port)).is_err()
        {
            left.push(format!("port {port}"));
        }
        let taps = taps()
            .into_iter()
            .filter(|tap| !self.taps_before.contains(tap));
        left.extend(taps.map(|tap| format!("interface {tap}")));
        left
    }

    /// What was looked for and is gone.
    pub(super) fn proof(&self) -> String {
        let port = self
            .port
            .map(|port| port.to_string())
            .unwrap_or_else(|| "none".into());
        format!(
            "Nothing is left: no QEMU process (was {}), no disk ({}), no tap, no port (was {port}).",
            self.pid,
            self.directory.display()
        )
    }
}

/// When a process was started, to a hundredth of a second, which is how the kernel keeps it.
fn started(pid: i32) -> Option<Instant> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may hold anything; what follows it is plain. Field 22 is the start.
    let after_name = stat.rsplit_once(')')?.1;
    let ticks: u64 = after_name.split_whitespace().nth(19)?.parse().ok()?;
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    let per_second = rustix::param::clock_ticks_per_second();
    let age = uptime - ticks as f64 / per_second as f64;
    Instant::now().checked_sub(Duration::try_from_secs_f64(age).ok()?)
}

fn is_qemu(pid: i32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains("qemu")
}

/// Processes whose working directory is, or was, this one.
fn processes_in(directory: &Path) -> impl Iterator<Item = String> {
    let directory = directory.to_owned();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(move |entry| {
        let cwd = fs::read_link(entry.path().join("cwd")).ok()?;
        let there = cwd.starts_with(&directory);
        there.then(|| entry.file_name().to_string_lossy().into_owned())
    })
}

fn taps() -> Vec<String> {
    let all = fs::read_dir("/sys/class/net")
        .into_iter()
        .flatten()
        .flatten();
    all.filter(|entry| entry.path().join("tun_flags").exists())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}
