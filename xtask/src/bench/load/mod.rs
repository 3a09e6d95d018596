//! Both API servers under load: creates, lists, watches, memory.
//!
//! One Machinist (store and API, without engine) and one kube-apiserver with etcd run side by
//! side; they are asked in turns, by the same client. Both sync every write to the same disk.

mod admission;
mod arrival;
mod creates;
mod events;
mod fan_out;
mod fleet;
mod floor;
mod gate;
mod http2;
mod lists;
mod machine;
mod many;
mod server;
mod wire;

use std::path::Path;

use anyhow::{Result, bail};

use super::{figure::Figure, memory, process::Tools};
use fan_out::Way;
use server::{Pair, Server};

/// How many machines the lists, the watches and the memory are measured with.
const MACHINES: usize = 10_000;

/// A group of figures that can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Cold start and idle memory
    Start,
    /// From apply to the QEMU process
    Overhead,
    /// From the end of a guest to its Machine's status
    Reaction,
    /// Choosing among 1,000 providers
    Placement,
    /// Judging one machine, on Machinist alone
    Admission,
    /// Quotas and checks of providers at admission, on Machinist alone
    Gate,
    /// Creates a second and their latency
    Creates,
    /// Memory with 10,000 machines and 100 watchers
    Memory,
    /// Lists, and gets while lists run
    Lists,
    /// One write to 1,000 watchers
    Watches,
    /// 100,000 machines, on Machinist alone
    Many,
    /// 10,000 machines on the simulator
    Fleet,
    /// The same with 100,000, beside 10,000
    LargeFleet,
}

/// Measures what is wanted of it.
pub(super) async fn measure(
    tools: &Tools,
    home: &Path,
    rounds: u32,
    wanted: impl Fn(Part) -> bool,
) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let parts = [Part::Creates, Part::Memory, Part::Lists, Part::Watches];
    let alone = [
        Part::Admission,
        Part::Gate,
        Part::Many,
        Part::Fleet,
        Part::LargeFleet,
    ];
    if cfg!(debug_assertions) && alone.into_iter().chain(parts).any(&wanted) {
        bail!("a client that is not optimised would be measured: run this as `make bench`");
    }
    if wanted(Part::Admission) {
        let mut server = Server::machinist(tools, &home.join("admission")).await?;
        figures.push(admission::measure(&mut server, rounds).await?);
    }
    if wanted(Part::Gate) {
        let mut server = Server::machinist(tools, &home.join("gate")).await?;
        figures.push(gate::measure(&mut server, rounds).await?);
    }
    if parts.into_iter().any(&wanted) {
        let mut pair = Pair::start(tools, home).await?;
        if wanted(Part::Creates) {
            figures.extend(creates::measure(&mut pair, rounds).await?);
        }
        creates::fill(&mut pair.ours, MACHINES).await?;
        creates::fill(&mut pair.theirs, MACHINES).await?;
        if wanted(Part::Memory) {
            figures.push(memory_figure(&mut pair).await?);
        }
        if wanted(Part::Lists) {
            figures.extend(lists::measure(&mut pair, rounds).await?);
        }
        if wanted(Part::Watches) {
            figures.extend(fan_out::measure(&mut pair, rounds).await?);
        }
    }
    if wanted(Part::Many) {
        figures.extend(many::measure(tools, home).await?);
    }
    if wanted(Part::Fleet) || wanted(Part::LargeFleet) {
        figures.extend(fleet::measure(tools, home, wanted(Part::LargeFleet)).await?);
    }
    Ok(figures)
}

/// Memory before anything was listed, so that no side keeps what a list needed.
async fn memory_figure(pair: &mut Pair) -> Result<Figure> {
    use super::figure::{Target, Unit};
    eprintln!(
        "bench: memory with {MACHINES} machines and {} watchers",
        fan_out::FEW
    );
    let watching = fan_out::open(&pair.ours.door, Way::Http1, fan_out::FEW).await?;
    let ours = memory::idle(&mut pair.ours.processes()).await?;
    drop(watching);
    let watching = fan_out::open(&pair.theirs.door, Way::Http1, fan_out::FEW).await?;
    let theirs = memory::idle(&mut pair.theirs.processes()).await?;
    drop(watching);
    Ok(Figure {
        name: "memory, 10,000 machines, 100 watchers",
        unit: Unit::Mebibytes,
        machinist: vec![ours.resident],
        peer: vec![theirs.resident],
        target: Target::Fraction(10.0),
    })
}
