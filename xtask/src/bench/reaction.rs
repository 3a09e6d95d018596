//! Reaction: from the end of a guest behind Machinist's back until its Machine says that it does not
//! run. QEMU tells of its end itself.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use futures::{StreamExt as _, pin_mut};
use kube::{
    Api, ResourceExt as _,
    api::{Patch, PatchParams, WatchEvent, WatchParams},
};
use machinist_api::vitistack::{Machine, MachinePhase};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{
    figure::{Figure, Target, Unit},
    guests::Guests,
    local::{self, PID_FILE},
    machinist::Machinist,
    process::Tools,
    stamp::until_read,
};

const NAME: &str = "reaction";
const LOOK: Duration = Duration::from_millis(5);
const PATIENCE: Duration = Duration::from_secs(120);
/// A guest is up again within a second, so that more rounds cost little.
const ROUNDS: u32 = 3;

pub(super) async fn measure(tools: &Tools, home: &Path, rounds: u32) -> Result<Figure> {
    let dir = home.join("reaction");
    // Dropped after the control plane, which would start its guest again.
    let _guests = Guests::new(&dir);
    let mut machinist = Machinist::start(tools, &dir)?;
    let client = machinist.ready().await?;
    let provider = local::declare(&client, json!({})).await?;
    let machines: Api<Machine> = Api::namespaced(client, local::NAMESPACE);
    let machine = local::machine(NAME, &tools.image);
    let params = PatchParams::apply("bench");
    let applied = machines.patch(NAME, &params, &Patch::Apply(&machine)).await;
    let uid = applied.context("cannot apply a machine")?.uid();
    let uid = uid.context("the machine has no UID")?;
    let root = machinist.data.join("qemu").join(provider);
    let file = root.join("machines").join(uid).join(PID_FILE);
    let mut seen = Vec::new();
    for round in 1..=rounds * ROUNDS {
        eprintln!("bench: reaction, round {round} of {}", rounds * ROUNDS);
        machinist.process.check()?;
        let version = until_running(&machines).await?;
        let pid = until_read(&file).await?;
        let pid = pid.trim().parse().ok().and_then(Pid::from_raw);
        let pid = pid.context("QEMU's pid file holds no number")?;
        let stopped = stopped(&machines, &version, pid);
        let stopped = timeout(PATIENCE, stopped).await;
        seen.push(stopped.context("the end of the guest was not seen")??);
    }
    Ok(Figure {
        name: "reaction: guest ended to status",
        unit: Unit::Milliseconds,
        machinist: seen,
        peer: Vec::new(),
        target: Target::Below(100.0),
    })
}

/// Ends the guest; gives the milliseconds until its Machine does not say Running any more.
async fn stopped(machines: &Api<Machine>, version: &str, pid: Pid) -> Result<f64> {
    let params = WatchParams::default().fields(&format!("metadata.name={NAME}"));
    let events = machines.watch(&params, version).await;
    let events = events.context("cannot watch the machine")?;
    pin_mut!(events);
    let began = Instant::now();
    kill_process(pid, Signal::TERM).context("cannot end the guest")?;
    while let Some(event) = events.next().await {
        if let WatchEvent::Modified(machine) = event.context("the watch failed")?
            && phase(&machine) != Some(MachinePhase::Running)
        {
            return Ok(began.elapsed().as_secs_f64() * 1e3);
        }
    }
    bail!("the watch ended")
}

/// Waits until the machine runs; gives the version of its object.
async fn until_running(machines: &Api<Machine>) -> Result<String> {
    let began = Instant::now();
    loop {
        let machine = machines.get(NAME).await.context("cannot get the machine")?;
        if phase(&machine) == Some(MachinePhase::Running) {
            return machine.resource_version().context("it has no version");
        }
        if began.elapsed() > PATIENCE {
            bail!(
                "the machine did not run within {PATIENCE:?}: {:?}",
                machine.status
            );
        }
        sleep(LOOK).await;
    }
}

fn phase(machine: &Machine) -> Option<MachinePhase> {
    machine.status.as_ref().and_then(|status| status.phase)
}
