//! The two servers of the load, made ready for machines.

use std::{fs, path::Path, time::Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::wire::Door;
use crate::bench::{
    kubernetes::{self, Kubernetes},
    machinist::Machinist,
    process::{Process, Tools},
};

/// One side.
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) door: Door,
    /// How many machines were created on it, which also numbers them.
    pub(super) created: usize,
    programs: Programs,
}

enum Programs {
    Machinist(Machinist),
    Kubernetes(Kubernetes),
}

impl Server {
    /// Machinist without its engine: nobody but the client writes.
    pub(super) async fn machinist(tools: &Tools, dir: &Path) -> Result<Server> {
        let mut machinist = Machinist::start_api(tools, dir)?;
        machinist.ready().await?;
        Ok(Server {
            name: "machinist",
            door: Door::new(&machinist.kubeconfig()).await?,
            created: 0,
            programs: Programs::Machinist(machinist),
        })
    }

    /// Ends it as a user would and starts it again on what it has stored; gives the seconds
    /// until it was ready again.
    pub(super) async fn restart(&mut self, tools: &Tools, dir: &Path) -> Result<f64> {
        self.restart_as(|| Machinist::start_api(tools, dir)).await
    }

    /// The same, with its engine.
    pub(super) async fn restart_with_engine(&mut self, tools: &Tools, dir: &Path) -> Result<f64> {
        self.restart_as(|| Machinist::start_again(tools, dir)).await
    }

    async fn restart_as(&mut self, start: impl FnOnce() -> Result<Machinist>) -> Result<f64> {
        if let Programs::Machinist(machinist) = &mut self.programs {
            machinist.process.end().await?;
            // The lock and the announcement of the old process are gone with it.
            let _ = fs::remove_file(machinist.kubeconfig());
        }
        let began = Instant::now();
        let mut machinist = start()?;
        machinist.ready().await?;
        let seconds = began.elapsed().as_secs_f64();
        self.door = Door::new(&machinist.kubeconfig()).await?;
        self.programs = Programs::Machinist(machinist);
        Ok(seconds)
    }

    async fn kubernetes(tools: &Tools, dir: &Path) -> Result<Server> {
        let prepared = kubernetes::prepare(dir)?.durable();
        let mut kubernetes = prepared.start(tools).await?;
        kubernetes.ready().await?;
        let door = Door::new(&kubernetes.kubeconfig()).await?;
        install(&door).await?;
        Ok(Server {
            name: "kube-apiserver",
            door,
            created: 0,
            programs: Programs::Kubernetes(kubernetes),
        })
    }

    /// The seconds that its programs have spent on a processor.
    pub(super) fn processor_time(&mut self) -> Result<f64> {
        let processes = self.processes();
        processes.iter().map(|p| p.processor_time()).sum()
    }

    pub(super) fn processes(&mut self) -> Vec<&mut Process> {
        match &mut self.programs {
            Programs::Machinist(machinist) => vec![&mut machinist.process],
            Programs::Kubernetes(both) => vec![&mut both.apiserver, &mut both.etcd],
        }
    }
}

/// Both sides.
pub(super) struct Pair {
    pub(super) ours: Server,
    pub(super) theirs: Server,
}

impl Pair {
    pub(super) async fn start(tools: &Tools, home: &Path) -> Result<Pair> {
        let dir = home.join("load");
        fs::create_dir(&dir).context("cannot make a directory")?;
        Ok(Pair {
            ours: Server::machinist(tools, &dir.join("machinist")).await?,
            theirs: Server::kubernetes(tools, &dir.join("kubernetes")).await?,
        })
    }
}

/// Creates our definitions and waits until machines are served.
async fn install(door: &Door) -> Result<()> {
    let mut connection = door.connect().await?;
    for definition in machinist_api::crds::crds() {
        let mut body = serde_json::to_value(&definition).context("cannot encode a definition")?;
        if let Some(fields) = body.as_object_mut() {
            fields.retain(|name, _| name != "status");
        }
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        connection
            .ask("POST", path, body.to_string().as_bytes())
            .await?;
    }
    let began = std::time::Instant::now();
    loop {
        let answer = connection.ask("GET", super::machine::MACHINES, &[]).await;
        match answer {
            Ok(list) => {
                let _: Value = serde_json::from_slice(&list).context("a list that is no JSON")?;
                return Ok(());
            }
            Err(error) if began.elapsed() > crate::bench::ready::PATIENCE => return Err(error),
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    }
}
