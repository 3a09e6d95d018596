//! Overhead: from the apply of a Machine to its QEMU process, beside the same QEMU command
//! started by hand.
//!
//! Both are measured until the same point: the first instruction of the process, told by
//! [`Stamper`]. What QEMU does after that is the same on both sides.

use std::{
    ffi::OsString,
    fs,
    os::unix::ffi::OsStringExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use kube::{
    Api, ResourceExt as _,
    api::{DeleteParams, Patch, PatchParams},
};
use machinist_api::vitistack::Machine;
use serde_json::json;
use tokio::time::sleep;

use super::{
    figure::{Figure, Target, Unit},
    guests::Guests,
    local::{self, PID_FILE},
    machinist::Machinist,
    process::{Process, Tools, warm},
    stamp::{self, Stamper, milliseconds, until_read},
};

const QEMU: &str = "qemu-system-x86_64";
const LOOK: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(120);
/// A start by hand takes milliseconds, so that more rounds cost little.
const ROUNDS: u32 = 3;

/// Measures both sides in turns.
pub(super) async fn measure(tools: &Tools, home: &Path, rounds: u32) -> Result<Figure> {
    let qemu = stamp::find(QEMU)?;
    warm(&qemu)?;
    warm(&tools.image)?;
    let dir = home.join("overhead");
    // Dropped after the control plane, which would start its guests again.
    let _guests = Guests::new(&dir);
    let mut machinist = Machinist::start(tools, &dir)?;
    let client = machinist.ready().await?;
    let stamper = Stamper::new(&dir.join("stamper"), &qemu)?;
    let provider = local::declare(&client, json!({ "binary": stamper.script })).await?;
    let bench = Bench {
        machines: Api::namespaced(client, local::NAMESPACE),
        image: &tools.image,
        root: machinist.data.join("qemu").join(provider),
        stamper,
    };
    let rounds = rounds * ROUNDS;
    let (mut applied, mut by_hand) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("bench: overhead, round {round} of {rounds}");
        machinist.process.check()?;
        let copy = dir.join(format!("by-hand-{round}"));
        let (overhead, arguments) = bench.apply(&format!("bench-{round}"), &copy).await?;
        applied.push(overhead);
        by_hand.push(bench.start_by_hand(&copy, &arguments).await?);
    }
    Ok(Figure {
        name: "overhead: apply to QEMU process",
        unit: Unit::Milliseconds,
        machinist: applied,
        peer: by_hand,
        target: Target::More(100.0),
    })
}

struct Bench<'a> {
    machines: Api<Machine>,
    image: &'a Path,
    /// Where the provider keeps its machines and images.
    root: PathBuf,
    stamper: Stamper,
}

impl Bench<'_> {
    /// Applies a machine, keeps a copy of its directory and its command line, and deletes it.
    /// Returns the milliseconds until its QEMU was started.
    async fn apply(&self, name: &str, copy: &Path) -> Result<(f64, Vec<OsString>)> {
        let machine = local::machine(name, self.image);
        let began = stamp::now();
        let applied = self
            .machines
            .patch(name, &PatchParams::apply("bench"), &Patch::Apply(&machine))
            .await
            .context("cannot apply a machine")?;
        let uid = applied.uid().context("the machine has no UID")?;
        let dir = self.root.join("machines").join(&uid);
        let pid = until_read(&dir.join(PID_FILE)).await?;
        let pid: u32 = pid
            .trim()
            .parse()
            .context("QEMU's pid file holds no number")?;
        let started = self.stamper.started(pid).await?;
        let arguments = arguments(pid)?;
        // The overlay names its image by a path that leads out of the machine's directory.
        copy_files(&self.root.join("images"), &copy.join("images"))?;
        copy_files(&dir, &copy.join("machines").join("copy"))?;
        self.delete(name).await?;
        Ok((milliseconds(began, started), arguments))
    }

    async fn delete(&self, name: &str) -> Result<()> {
        let deleted = self.machines.delete(name, &DeleteParams::default()).await;
        deleted.context("cannot delete a machine")?;
        let began = Instant::now();
        loop {
            let machine = self.machines.get_opt(name).await;
            if machine.context("cannot get a machine")?.is_none() {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                bail!("machine {name} was not gone within {PATIENCE:?}");
            }
            sleep(LOOK).await;
        }
    }

    /// Starts the same command in the copy. Returns the milliseconds until it was started.
    async fn start_by_hand(&self, copy: &Path, arguments: &[OsString]) -> Result<f64> {
        let dir = copy.join("machines").join("copy");
        let mut command = Command::new(&self.stamper.script);
        command.args(arguments).current_dir(&dir);
        let began = stamp::now();
        let mut qemu = Process::start("qemu", &mut command, copy)?;
        let started = self.stamper.started(qemu.id()).await?;
        // Proof that the command works here too: QEMU writes its id when it is set up.
        until_read(&dir.join(PID_FILE)).await?;
        qemu.check()?;
        Ok(milliseconds(began, started))
    }
}

/// The arguments that a process was started with, without its program.
fn arguments(pid: u32) -> Result<Vec<OsString>> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).context("QEMU has no command line")?;
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    let words = line.split(|byte| *byte == 0).skip(1);
    Ok(words
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect())
}

/// Copies the files of a directory, and nothing that a process made for talking to others.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).context("cannot make a directory")?;
    for entry in fs::read_dir(from).context("cannot list a directory")? {
        let entry = entry.context("cannot list a directory")?;
        let ours = entry.file_name() == PID_FILE;
        if !ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            fs::copy(entry.path(), to.join(entry.file_name())).context("cannot copy a file")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_of_a_process_is_read_back() {
        let expected: Vec<OsString> = std::env::args_os().skip(1).collect();
        assert_eq!(arguments(std::process::id()).unwrap(), expected);
    }

    #[test]
    fn a_copy_has_the_files_and_not_the_pid() {
        let home = tempfile::tempdir().unwrap();
        let from = home.path().join("from");
        fs::create_dir_all(from.join("directory")).unwrap();
        fs::write(from.join("disk"), "data").unwrap();
        fs::write(from.join(PID_FILE), "1").unwrap();
        let to = home.path().join("to");
        copy_files(&from, &to).unwrap();
        let copied = fs::read_dir(&to)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        assert_eq!(copied.collect::<Vec<_>>(), ["disk"]);
    }
}
