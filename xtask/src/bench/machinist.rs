//! `machinist up` in a directory of its own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use kube::Client;

use super::{
    process::{Process, Tools, free_port},
    ready,
};

/// A control plane that was just started.
#[derive(Debug)]
pub(super) struct Machinist {
    pub(super) process: Process,
    pub(super) data: PathBuf,
}

impl Machinist {
    /// Starts it in `dir`, which must be new.
    pub(super) fn start(tools: &Tools, dir: &Path) -> Result<Machinist> {
        fs::create_dir(dir).context("cannot make a directory")?;
        Machinist::run(tools, dir, &[])
    }

    /// Starts it in `dir` on what it has stored there.
    pub(super) fn start_again(tools: &Tools, dir: &Path) -> Result<Machinist> {
        Machinist::run(tools, dir, &[])
    }

    /// Starts store and API alone in `dir`, which may hold them already.
    pub(super) fn start_api(tools: &Tools, dir: &Path) -> Result<Machinist> {
        fs::create_dir_all(dir).context("cannot make a directory")?;
        Machinist::run(tools, dir, &["--api-only"])
    }

    fn run(tools: &Tools, dir: &Path, flags: &[&str]) -> Result<Machinist> {
        let data = dir.join("data");
        let mut command = Command::new(&tools.machinist);
        command
            .args(["up", "--listen", &format!("127.0.0.1:{}", free_port()?)])
            .arg("--data-dir")
            .arg(&data)
            .args(flags);
        let process = Process::start("machinist", &mut command, dir)?;
        Ok(Machinist { process, data })
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.data.join("kubeconfig")
    }

    pub(super) async fn ready(&mut self) -> Result<Client> {
        let kubeconfig = self.kubeconfig();
        ready::until_ready(&kubeconfig, &mut self.process).await
    }
}
