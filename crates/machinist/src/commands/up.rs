//! `machinist up`: a control plane on this machine, until Ctrl-C.

use std::path::Path;

use kube::ResourceExt;
use machinist_api::vitistack::Machine;
use machinist_apiserver::{AuditOptions, LogFile};
use machinist_engine::Metrics;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    cli,
    control_plane::{self, ControlPlane, Extras},
    data_dir::{self, DataDir},
    failure::{self, Outcome},
    manifests, progress,
    telemetry::Telemetry,
};

/// Runs it. What can be refused without a server is refused before one starts.
pub(crate) async fn run(flags: cli::Up) -> Outcome {
    let mut manifests = manifests::read(&flags.filename)?;
    let metrics = Metrics::default();
    let telemetry = Telemetry::start(&flags.tracing, &metrics)?;
    let dir = DataDir::resolve(&flags.data)?;
    let mut claim = dir.claim()?;
    let listener = control_plane::bind(flags.listen).await?;
    let extras = Extras {
        audit: audit(&flags.audit)?,
        metrics,
        tracer: telemetry.tracer.clone(),
        journal: telemetry.journal.clone(),
    };
    let mut plane = match flags.api_only {
        true => ControlPlane::start_api(&dir, extras).await?,
        false => ControlPlane::start(&dir, extras).await?,
    };
    let url = plane.serve(&dir, listener).await?;
    claim.announce(&url)?;
    if let Some(file) = &flags.write_kubeconfig {
        copy_kubeconfig(&dir, file)?;
    }
    println!("machinist {} serves {url}", env!("CARGO_PKG_VERSION"));
    println!("  data        {}", dir.root().display());
    println!("  kubeconfig  {}", dir.kubeconfig().display());
    println!();
    let work = async {
        manifests::apply(&plane.client, &mut manifests).await?;
        let ready = progress::follow(&plane.client, &plane.downloads, &manifests).await?;
        print_next(&dir, &ready);
        Ok(())
    };
    let outcome = tokio::select! {
        outcome = work => outcome,
        _ = interrupted() => Ok(()),
    };
    let outcome = match outcome {
        Ok(()) => tokio::select! {
            failure = plane.failed() => Err(failure),
            _ = interrupted() => Ok(()),
        },
        Err(failure) => Err(failure),
    };
    plane.stop().await;
    telemetry.stop().await;
    drop(claim);
    outcome
}

/// What is to be written down of requests.
fn audit(flags: &cli::Audit) -> Outcome<Option<AuditOptions>> {
    let Some(path) = &flags.audit_log_path else {
        return Ok(None);
    };
    let policy = match &flags.audit_policy_file {
        None => None,
        Some(file) => Some(std::fs::read_to_string(file).map_err(|e| {
            let what = format!("could not read the audit policy {}", file.display());
            failure::configuration(what, e)
        })?),
    };
    Ok(Some(AuditOptions {
        log: LogFile {
            path: path.clone(),
            max_size: flags.audit_log_maxsize,
            max_backups: flags.audit_log_maxbackup,
        },
        policy,
    }))
}

fn copy_kubeconfig(dir: &DataDir, file: &Path) -> Outcome {
    let content = std::fs::read(dir.kubeconfig())
        .map_err(|e| failure::internal("could not read the kubeconfig", e))?;
    data_dir::write_private(file, &content)
}

/// What a person would type next.
fn print_next(dir: &DataDir, ready: &[Machine]) {
    let kubectl = format!("kubectl --kubeconfig {}", dir.kubeconfig().display());
    let example = ready.first();
    println!();
    println!("Next:");
    println!("  {kubectl} get machines");
    if let Some(machine) = example {
        let name = machine.name_any();
        let data = dir.root().display();
        // As it was called: it may not be in the PATH.
        let machinist = std::env::args()
            .next()
            .unwrap_or_else(|| "machinist".into());
        println!("  {machinist} console {name} --data-dir {data}");
        println!("  {kubectl} delete machine {name}");
    }
    println!();
    println!("Ctrl-C ends the control plane and leaves the machines running.");
}

/// Ctrl-C or SIGTERM.
pub(crate) async fn interrupted() {
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}
