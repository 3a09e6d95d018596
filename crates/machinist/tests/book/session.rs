//! One page in a shell, in an empty home, with the programs that its reader has.

use std::{
    fs::{self, File},
    os::unix::{fs::symlink, process::CommandExt},
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::{
    page::Page,
    support::{Sandbox, kube::Cluster, peers, wait_for},
};

/// How a page ended.
pub(crate) enum Ended {
    /// As many blocks ran.
    Well(usize),
    /// A peer is absent, which was said.
    Skipped,
    /// Which page, and what it printed.
    Badly(String),
}

/// What every session begins with. Ports are free ones, since several tests run at once; all else is
/// as the page says.
const PRELUDE: &str = r#"
set -euo pipefail
machinist() {
  case $1 in
    up) command machinist up --listen 127.0.0.1:0 "${@:2}" ;;
    operator) command machinist operator --listen 127.0.0.1:0 --webhook-listen 127.0.0.1:0 "${@:2}" ;;
    *) command machinist "$@" ;;
  esac
}
await() {
  for _ in $(seq 600); do
    if grep -q "$2" "$1"; then return; fi
    sleep 0.2
  done
  echo "$1 never said $2:"; cat "$1"; exit 98
}
"#;

/// Runs a page to its end, and ends whatever it started.
pub(crate) fn run(name: &str, page: &Page) -> Ended {
    let Some(kubectl) = peers::peer("MACHINIST_KUBECTL") else {
        return Ended::Skipped;
    };
    let sandbox = Sandbox::new();
    let home = sandbox.path("home");
    let programs = sandbox.path("programs");
    fs::create_dir(&home).unwrap();
    fs::create_dir(&programs).unwrap();
    symlink(kubectl, programs.join("kubectl")).unwrap();
    symlink(env!("CARGO_BIN_EXE_machinist"), programs.join("machinist")).unwrap();
    let mut cluster = None;
    if page.cluster {
        let Some(started) = Cluster::with_controllers(&sandbox) else {
            return Ended::Skipped;
        };
        fs::create_dir(home.join(".kube")).unwrap();
        fs::copy(started.kubeconfig(), home.join(".kube/config")).unwrap();
        cluster = Some(started);
    }
    let script: String = page.blocks.iter().map(|block| block.script()).collect();
    let script = sandbox.write("page.sh", &format!("{PRELUDE}{script}"));
    let output = sandbox.path("output");
    let out = File::create(&output).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut child = Command::new("bash")
        .arg(script)
        .current_dir(&home)
        .env_clear()
        .env("HOME", &home)
        .env("PATH", format!("{}:{path}", programs.display()))
        .stdin(Stdio::null())
        .stderr(out.try_clone().unwrap())
        .stdout(out)
        .process_group(0)
        .spawn()
        .unwrap();
    let group = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .unwrap();
    let guard = Group(group);
    let status = wait_for(&format!("the commands of {name}"), || {
        child
            .try_wait()
            .unwrap()
            .ok_or_else(|| fs::read_to_string(&output).unwrap_or_default())
    });
    drop(guard);
    drop(cluster);
    let printed = fs::read_to_string(&output).unwrap_or_default();
    match status.success() {
        true => Ended::Well(page.blocks.iter().filter(|block| block.is_run()).count()),
        false => Ended::Badly(format!("docs/{name}: {status}\n{printed}")),
    }
}

/// Everything that a page started; it ends with this.
struct Group(Pid);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}
