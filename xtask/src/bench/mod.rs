//! `bench`: Machinist beside its peers on this machine, in one run.
//!
//! Each figure is a ratio or a difference of two measurements that were taken in turns, so
//! that a slow or busy machine slows both. It says when a target is missed and does not
//! fail for it: wall-clock time is no test. It fails when something cannot be measured.

mod build;
mod cold_start;
mod figure;
mod guests;
mod host;
mod kubernetes;
mod load;
mod local;
mod machinist;
mod memory;
mod overhead;
mod placement;
pub(crate) mod process;
mod reaction;
mod ready;
pub(crate) mod stamp;
mod table;

use std::{ffi::OsString, fs, future::Future, path::PathBuf};

use anyhow::{Context, Result, bail};
use tokio::signal::unix::{SignalKind, signal};

use self::{
    figure::{Figure, Target, Unit},
    host::Host,
    load::Part,
    process::Tools,
};

/// The size that the binary stays below.
const MEBIBYTES: f64 = 40.0;
/// The time that a clean build stays below, on two cores.
const BUILD_SECONDS: f64 = 600.0;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Flags {
    /// How many times each start is measured; the median counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Measure only these; may be given several times
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// Measure this binary, instead of the release binary that is built now
    #[arg(long, value_name = "FILE")]
    machinist: Option<PathBuf>,
    /// Also measure a clean release build, which takes minutes
    #[arg(long)]
    build: bool,
}

/// Measures, prints the table and writes it as `bench.json` into cargo's target directory.
pub(crate) fn run(flags: &Flags) -> Result<()> {
    // A failure means that somebody installed one before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(unless_interrupted(measure(flags)))
}

/// Drops the work at a signal, and with it every process and directory that it holds.
async fn unless_interrupted(work: impl Future<Output = Result<()>>) -> Result<()> {
    let mut terminated = signal(SignalKind::terminate()).context("cannot wait for signals")?;
    tokio::select! {
        outcome = work => outcome,
        _ = tokio::signal::ctrl_c() => bail!("interrupted"),
        _ = terminated.recv() => bail!("terminated"),
    }
}

async fn measure(flags: &Flags) -> Result<()> {
    let tools = Tools {
        assets: needed("KUBEBUILDER_ASSETS")?.into(),
        kubectl: needed("MACHINIST_KUBECTL")?.into(),
        image: needed("MACHINIST_GUEST_IMAGE")?.into(),
        machinist: match &flags.machinist {
            Some(file) => file.clone(),
            None => build::release(None).await?,
        },
    };
    let home = tempfile::Builder::new()
        .prefix("machinist-bench-")
        .tempdir();
    let home = home.context("cannot make a temporary directory")?;
    let host = Host::look()?;
    let wanted = |part: Part| flags.only.is_empty() || flags.only.contains(&part);
    let mut figures = Vec::new();
    if wanted(Part::Start) {
        figures.extend(cold_start::measure(&tools, home.path(), flags.rounds).await?);
    }
    if wanted(Part::Placement) {
        figures.push(placement::measure(flags.rounds));
    }
    if wanted(Part::Overhead) {
        figures.push(overhead::measure(&tools, home.path(), flags.rounds).await?);
    }
    if wanted(Part::Reaction) {
        figures.push(reaction::measure(&tools, home.path(), flags.rounds).await?);
    }
    figures.extend(load::measure(&tools, home.path(), flags.rounds, wanted).await?);
    figures.push(size(&tools)?);
    if flags.build {
        figures.push(clean_build().await?);
    }
    let report = table::Report {
        kubectl: cold_start::kubectl_alone(&tools, flags.rounds).await?,
        host: host.ended()?,
        rounds: flags.rounds,
        figures,
    };
    print!("{report}");
    let file = json_file()?;
    let json = serde_json::to_string_pretty(&report.json()).context("cannot encode the report")?;
    fs::write(&file, json + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    println!("written to {}", file.display());
    Ok(())
}

fn needed(variable: &str) -> Result<OsString> {
    std::env::var_os(variable)
        .filter(|value| !value.is_empty())
        .with_context(|| format!("{variable} is not set; run this as `make bench`"))
}

fn size(tools: &Tools) -> Result<Figure> {
    let file = fs::metadata(&tools.machinist).context("cannot look at the release binary")?;
    Ok(Figure {
        name: "binary size",
        unit: Unit::Mebibytes,
        machinist: vec![file.len() as f64 / f64::from(1 << 20)],
        peer: Vec::new(),
        target: Target::Below(MEBIBYTES),
    })
}

async fn clean_build() -> Result<Figure> {
    let target = tempfile::tempdir().context("cannot make a temporary directory")?;
    let began = std::time::Instant::now();
    build::release(Some(target.path())).await?;
    Ok(Figure {
        name: "clean release build",
        unit: Unit::Seconds,
        machinist: vec![began.elapsed().as_secs_f64()],
        peer: Vec::new(),
        target: Target::Below(BUILD_SECONDS),
    })
}

/// Beside the directory that this program is in: the target directory, wherever it was put.
fn json_file() -> Result<PathBuf> {
    let own = std::env::current_exe().context("this program cannot be found")?;
    let target = own.ancestors().nth(2);
    let target = target.context("this program is in no target directory")?;
    Ok(target.join("bench.json"))
}
