//! `conformance`: the Kubernetes end-to-end tests that need no node, against `machinist up`.
//!
//! Which specs there are, and why some are left out, is data: `tests/conformance/specs.json`. The
//! tests themselves are built from the pinned Go module, unchanged. A run that passes writes
//! `docs/conformance.md`.

mod report;
mod specs;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};

use self::specs::Spec;
use crate::bench::process::Process;
use crate::tree;

/// A server that has not come up after so long will not.
const PATIENCE: Duration = Duration::from_secs(120);
/// Specs wait more than they work, so a few share a core.
const AT_ONCE: &str = "4";

/// Runs every spec of the list that is not left out; fails if one of them does.
pub(crate) fn run() -> Result<()> {
    let assets = needed("MACHINIST_CONFORMANCE")?;
    let kubectl = needed("MACHINIST_KUBECTL")?;
    let specs = specs::load()?;
    let home = tempfile::Builder::new()
        .prefix("machinist-conformance-")
        .tempdir();
    let home = home.context("cannot make a temporary directory")?;
    let (_server, kubeconfig) = serve(&machinist()?, home.path())?;

    let began = Instant::now();
    let results = run_specs(&assets, &kubectl, &kubeconfig, home.path(), &specs)?;
    let outcome = report::compare(&specs, &results);
    print!("{outcome}");
    println!("{} s", began.elapsed().as_secs());
    if !outcome.is_good() {
        // The log tells what the specs said; it outlives the run that failed.
        let kept = home.keep();
        bail!("some specs failed; see {}", kept.join("e2e.log").display());
    }
    let document = tree::folder("docs")?.join("conformance.md");
    fs::write(&document, report::document(&specs)).context("cannot write the document")?;
    Ok(())
}

fn needed(variable: &str) -> Result<PathBuf> {
    let value = std::env::var_os(variable).filter(|value| !value.is_empty());
    let value = value.map(PathBuf::from);
    value.with_context(|| format!("{variable} is not set; run this as `make conformance`"))
}

/// Builds the binary as the tests do, and says where it is.
fn machinist() -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "-p", "machinist", "--locked", "--quiet"]);
    let built = cargo.status().context("cannot run cargo")?;
    ensure!(built.success(), "the binary does not build");
    let this = std::env::current_exe().context("this program has no path")?;
    Ok(this.with_file_name("machinist"))
}

/// Starts a control plane without any provider and waits until it serves.
fn serve(machinist: &Path, home: &Path) -> Result<(Process, PathBuf)> {
    let data = home.join("data");
    let mut command = Command::new(machinist);
    command
        .args(["up", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(&data);
    let mut server = Process::start("machinist", &mut command, home)?;
    let began = Instant::now();
    loop {
        server.check()?;
        let said = fs::read_to_string(home.join("machinist.log")).unwrap_or_default();
        if said.contains(" serves ") {
            return Ok((server, data.join("kubeconfig")));
        }
        if began.elapsed() > PATIENCE {
            bail!("the control plane does not serve: {said}");
        }
        pause();
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "between two looks at a log; nothing rests on how long it is"
)]
fn pause() {
    sleep(Duration::from_millis(50));
}

/// Runs the specs and reads what became of each.
fn run_specs(
    assets: &Path,
    kubectl: &Path,
    kubeconfig: &Path,
    home: &Path,
    specs: &[Spec],
) -> Result<report::Results> {
    let log = home.join("e2e.log");
    let output = fs::File::create(&log).context("cannot make a log")?;
    let errors = output.try_clone().context("cannot share a log")?;
    let flag = |name: &str, path: &Path| format!("--{name}={}", path.display());
    let status = Command::new(assets.join("ginkgo"))
        .args(["--procs", AT_ONCE, "--keep-going", "--no-color"])
        .args(["--json-report", "report.json"])
        .arg(format!("--focus={}", specs::focus(specs)))
        .arg(assets.join("e2e.test"))
        // A spec is about the API alone: there is no cloud, and no node to wait for.
        .args(["--", "--provider=skeleton", "--num-nodes=0"])
        .arg("--allowed-not-ready-nodes=-1")
        .arg(flag("kubectl-path", kubectl))
        .arg(flag("kubeconfig", kubeconfig))
        .current_dir(home)
        .stdout(output)
        .stderr(errors)
        .status()
        .context("cannot run the specs")?;
    let text = fs::read_to_string(home.join("report.json"))
        .with_context(|| format!("no report ({status}); see {}", log.display()))?;
    report::read(&text)
}
