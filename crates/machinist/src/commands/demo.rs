//! `machinist demo`: the whole path once, with the time that each part took, and nothing left behind.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt};
use kube::{
    Api,
    api::DeleteParams,
    runtime::{WatchStreamExt, watcher},
};
use machinist_api::vitistack::{Machine, MachinePhase};

use super::console::console_log;
use crate::{
    cli,
    control_plane::{self, ControlPlane, Extras},
    data_dir::DataDir,
    failure::{self, Outcome},
    manifests::{self, Manifest},
};

mod leftovers;
mod timeline;

use leftovers::Leftovers;
use timeline::Timeline;

/// How often a file or process is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Runs it in a directory of its own, which is removed at the end.
pub(crate) async fn run(flags: cli::Demo) -> Outcome {
    let mut manifests = manifests::read(&flags.filename)?;
    let home = Home::new()?;
    let dir = DataDir::at(home.0.clone(), flags.images.as_deref());
    let _claim = dir.claim()?;
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let listener = control_plane::bind(address).await?;
    let mut plane = ControlPlane::start(&dir, Extras::default()).await?;
    let url = plane.serve(&dir, listener).await?;
    println!("machinist {} serves {url}", env!("CARGO_PKG_VERSION"));
    let client = plane.client.clone();
    let outcome = tokio::select! {
        outcome = act(&flags, &client, &mut manifests) => outcome,
        failure = plane.failed() => Err(failure),
    };
    if outcome.is_err() {
        // Whatever went wrong, no guest may outlive the demo.
        let limit = Duration::from_secs(30);
        let _ = tokio::time::timeout(limit, delete_all(&plane.client, &manifests)).await;
    }
    plane.stop().await;
    outcome
}

/// A directory that goes when it is no longer needed.
struct Home(PathBuf);

impl Home {
    fn new() -> Outcome<Home> {
        let path = std::env::temp_dir().join(format!("machinist-demo-{}", std::process::id()));
        std::fs::create_dir_all(&path)
            .map_err(|e| failure::configuration(format!("could not make {}", path.display()), e))?;
        Ok(Home(path))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn act(flags: &cli::Demo, client: &kube::Client, manifests: &mut [Manifest]) -> Outcome {
    let limit = Duration::from_secs(flags.timeout);
    // The provider is applied first and found ready, as it is on a control plane that runs.
    let applied = Instant::now();
    manifests::apply(client, manifests).await?;
    let accepted = Instant::now();
    let name = machine_name(manifests)?;
    println!("machine/{} accepted", name.1);
    let running = within(limit, "the machine to run", running(client, &name)).await?;
    let seen_running = Instant::now();
    println!("machine/{} is running", name.1);
    let log = console_log(&running)?;
    within(
        limit,
        "the guest's marker on its console",
        marker(&log, &flags.marker),
    )
    .await?;
    let up = Instant::now();
    println!("machine/{} printed {:?}", name.1, flags.marker);
    let before = Leftovers::of(&running)?;
    let timeline = Timeline {
        applied,
        accepted,
        started: before.process_started(),
        running: seen_running,
        up,
    };
    print!("\n{timeline}\n");
    within(limit, "the machine to go", delete_all(client, manifests)).await?;
    let left = before.still_there();
    if !left.is_empty() {
        return Err(failure::internal_plain(format!(
            "left behind: {}",
            left.join(", ")
        )));
    }
    println!("{}", before.proof());
    Ok(())
}

fn machine_name(manifests: &[Manifest]) -> Outcome<(String, String)> {
    let machine = manifests.iter().find(|manifest| manifest.kind == "Machine");
    let machine = machine.ok_or_else(|| failure::user_plain("the manifest holds no Machine"))?;
    Ok((
        machine
            .namespace
            .clone()
            .unwrap_or_else(|| "default".into()),
        machine.name.clone(),
    ))
}

async fn within<T>(
    limit: Duration,
    what: &str,
    work: impl Future<Output = Outcome<T>>,
) -> Outcome<T> {
    match tokio::time::timeout(limit, work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(failure::refused_plain(format!(
            "waited {} s for {what}",
            limit.as_secs()
        ))),
    }
}

async fn running(client: &kube::Client, (namespace, name): &(String, String)) -> Outcome<Machine> {
    let api: Api<Machine> = Api::namespaced(client.clone(), namespace);
    let only = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let mut changes = watcher(api, only)
        .default_backoff()
        .applied_objects()
        .boxed();
    while let Some(machine) = changes
        .try_next()
        .await
        .map_err(|e| failure::internal("could not watch the machine", e))?
    {
        let status = machine.status.clone().unwrap_or_default();
        match status.phase {
            Some(MachinePhase::Running) => return Ok(machine),
            Some(MachinePhase::Failed) => {
                return Err(failure::refused_plain(format!(
                    "machine/{name} failed: {}",
                    status.message.unwrap_or_default()
                )));
            }
            _ => {}
        }
    }
    Err(failure::internal_plain("the watch ended"))
}

async fn marker(log: &Path, marker: &str) -> Outcome {
    loop {
        let printed = std::fs::read(log).unwrap_or_default();
        if String::from_utf8_lossy(&printed).contains(marker) {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn delete_all(client: &kube::Client, manifests: &[Manifest]) -> Outcome {
    for manifest in manifests
        .iter()
        .filter(|manifest| manifest.kind == "Machine")
    {
        let namespace = manifest.namespace.as_deref().unwrap_or("default");
        let api: Api<Machine> = Api::namespaced(client.clone(), namespace);
        match api.delete(&manifest.name, &DeleteParams::default()).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(e) => return Err(failure::refused("could not delete the machine", e)),
        }
        loop {
            let left = api.get_opt(&manifest.name).await;
            if left
                .map_err(|e| failure::refused("could not read the machine", e))?
                .is_none()
            {
                break;
            }
            tokio::time::sleep(LOOK).await;
        }
        println!("machine/{} deleted", manifest.name);
    }
    Ok(())
}
