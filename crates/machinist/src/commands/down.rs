//! `machinist down`: every machine of a control plane is removed, and the control plane ended.

use std::time::Duration;

use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, ListParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use machinist_api::vitistack::Machine;

use crate::{
    cli,
    control_plane::{ControlPlane, Extras},
    data_dir::{DataDir, Holder},
    failure::{self, Outcome},
};

/// Runs it: through the control plane that is up, or through one of its own.
pub(crate) async fn run(flags: cli::Down) -> Outcome {
    let dir = DataDir::resolve(&flags.data)?;
    if !dir.root().exists() {
        println!("There is nothing in {}.", dir.root().display());
        return Ok(());
    }
    let limit = Duration::from_secs(flags.timeout);
    match dir.holder() {
        Some(holder) => {
            remove_all(&connect(&dir).await?, limit).await?;
            end(&holder)
        }
        None => {
            let _claim = dir.claim()?;
            let plane = ControlPlane::start(&dir, Extras::default()).await?;
            let outcome = remove_all(&plane.client, limit).await;
            plane.stop().await;
            outcome
        }
    }
}

/// A client for the control plane that is up.
pub(crate) async fn connect(dir: &DataDir) -> Outcome<Client> {
    let path = dir.kubeconfig();
    let kubeconfig = Kubeconfig::read_from(&path)
        .map_err(|e| failure::configuration(format!("could not read {}", path.display()), e))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|e| failure::configuration(format!("could not use {}", path.display()), e))?;
    Client::try_from(config).map_err(|e| failure::configuration("could not make a client", e))
}

async fn remove_all(client: &Client, limit: Duration) -> Outcome {
    let machines: Api<Machine> = Api::all(client.clone());
    let found = list(&machines).await?;
    for machine in &found {
        let namespace = machine.namespace().unwrap_or_default();
        let api: Api<Machine> = Api::namespaced(client.clone(), &namespace);
        match api
            .delete(&machine.name_any(), &DeleteParams::default())
            .await
        {
            Ok(_) => println!("machine/{} is being removed", machine.name_any()),
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(e) => return Err(failure::refused("could not delete a machine", e)),
        }
    }
    let gone = async {
        loop {
            let left = list(&machines).await?;
            if left.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    match tokio::time::timeout(limit, gone).await {
        Ok(outcome) => {
            outcome?;
            match found.len() {
                1 => println!("1 machine removed."),
                count => println!("{count} machines removed."),
            }
            Ok(())
        }
        Err(_) => Err(still_there(&list(&machines).await?, limit)),
    }
}

async fn list(machines: &Api<Machine>) -> Outcome<Vec<Machine>> {
    let list = machines.list(&ListParams::default()).await;
    let list = list.map_err(|e| failure::refused("could not list machines", e))?;
    Ok(list.items)
}

fn still_there(machines: &[Machine], limit: Duration) -> failure::Failure {
    let why: Vec<String> = machines
        .iter()
        .map(|machine| {
            let status = machine.status.clone().unwrap_or_default();
            format!(
                "{}: {}",
                machine.name_any(),
                status.message.unwrap_or_default()
            )
        })
        .collect();
    failure::refused_plain(format!(
        "after {} s there are still machines: {}",
        limit.as_secs(),
        why.join("; ")
    ))
}

/// Asks the control plane that is up to end.
fn end(holder: &Holder) -> Outcome {
    let pid = rustix::process::Pid::from_raw(holder.pid);
    let ended = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM));
    match ended {
        Some(Ok(())) | Some(Err(rustix::io::Errno::SRCH)) | None => Ok(()),
        Some(Err(e)) => Err(failure::configuration(
            format!("could not end the control plane (pid {})", holder.pid),
            e,
        )),
    }
}
