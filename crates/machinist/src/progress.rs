//! Progress of machines on the terminal: a line a change, a spinner while something is under way.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use kube::{
    Api, Client, ResourceExt,
    runtime::{WatchStreamExt, watcher},
};
use machinist_api::{
    conditions,
    vitistack::{Machine, MachinePhase},
};

use crate::{
    downloads::Downloads,
    failure::{self, Outcome},
    manifests::Manifest,
};

/// Machines, by namespace and name.
type Names = HashSet<(String, String)>;

/// What was last shown of a machine.
type Shown = (Option<MachinePhase>, bool, Option<String>);

/// Shows the machines of these manifests until each is ready or has failed. Returns those that
/// are ready, or that are stopped as declared.
pub(crate) async fn follow(
    client: &Client,
    downloads: &Downloads,
    manifests: &[Manifest],
) -> Outcome<Vec<Machine>> {
    let mut waiting: Names = manifests
        .iter()
        .filter(|manifest| manifest.kind == "Machine")
        .map(|m| (m.namespace.clone().unwrap_or_default(), m.name.clone()))
        .collect();
    let mut settled = Vec::new();
    if waiting.is_empty() {
        return Ok(settled);
    }
    let began = Instant::now();
    let bars = MultiProgress::new();
    let spinner = bars.add(spinner());
    let drawing = downloads.draw(bars.clone());
    let mut drawing = std::pin::pin!(drawing);
    let api: Api<Machine> = Api::all(client.clone());
    let mut changes = watcher(api, watcher::Config::default())
        .default_backoff()
        .applied_objects()
        .boxed();
    let mut shown: HashMap<String, Shown> = HashMap::new();
    while !waiting.is_empty() {
        let change = tokio::select! {
            change = changes.try_next() => change,
            () = &mut drawing => continue,
        };
        let change = change.map_err(|e| failure::internal("could not watch machines", e))?;
        let Some(machine) = change else { break };
        let name = (machine.namespace().unwrap_or_default(), machine.name_any());
        if !waiting.contains(&name) {
            continue;
        }
        show(&spinner, &machine, &mut shown, began.elapsed());
        if let Some(good) = verdict(&machine) {
            waiting.remove(&name);
            if good {
                settled.push(machine);
            }
        }
    }
    spinner.finish_and_clear();
    Ok(settled)
}

fn spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}

/// Whether a machine has come to rest, and well.
fn verdict(machine: &Machine) -> Option<bool> {
    let status = machine.status.as_ref()?;
    if status.observed_generation != machine.metadata.generation {
        return None;
    }
    match status.phase? {
        MachinePhase::Running if conditions::is_true(&status.conditions, conditions::READY) => {
            Some(true)
        }
        MachinePhase::Stopped => Some(true),
        MachinePhase::Failed => Some(false),
        MachinePhase::Running
        | MachinePhase::Pending
        | MachinePhase::Creating
        | MachinePhase::Stopping
        | MachinePhase::Terminating
        | MachinePhase::Terminated => None,
    }
}

fn show(
    spinner: &ProgressBar,
    machine: &Machine,
    shown: &mut HashMap<String, Shown>,
    elapsed: Duration,
) {
    let status = machine.status.clone().unwrap_or_default();
    let message = status.message.clone().unwrap_or_default();
    spinner.set_message(format!("{}: {message}", machine.name_any()));
    let ready = conditions::is_true(&status.conditions, conditions::READY);
    let address = status.ip_addresses.first().cloned();
    let now = (status.phase, ready, address.clone());
    let key = machine.uid().unwrap_or_default();
    if shown.get(&key) == Some(&now) {
        return;
    }
    shown.insert(key, now);
    let phase = status.phase.unwrap_or_default();
    let line = format!(
        "{:>7.2}s  machine/{}  {:<11} {:<16} {}",
        elapsed.as_secs_f64(),
        machine.name_any(),
        phase,
        address.unwrap_or_default(),
        message,
    );
    // Without a terminal the spinner swallows what it is told to print.
    match spinner.is_hidden() {
        true => println!("{}", line.trim_end()),
        false => spinner.println(line.trim_end()),
    }
}
