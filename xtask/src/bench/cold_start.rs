//! Cold start: from nothing to the first answer to kubectl, beside etcd and kube-apiserver;
//! and the memory of what was started, once it is idle.

use std::{path::Path, process::Stdio, time::Instant};

use anyhow::{Context, Result, bail};
use tokio::process::Command;

use super::{
    figure::{Figure, Target, Unit, median},
    kubernetes,
    machinist::Machinist,
    memory::{self, Memory},
    process::{Tools, warm},
    ready,
};

/// Seconds from the start of the first process.
struct Start {
    ready: f64,
    answered: f64,
    memory: Option<Memory>,
}

/// Measures both sides in turns; the last round of each also shows its memory.
pub(super) async fn measure(tools: &Tools, home: &Path, rounds: u32) -> Result<Vec<Figure>> {
    let (etcd, apiserver) = (
        tools.assets.join("etcd"),
        tools.assets.join("kube-apiserver"),
    );
    for program in [&tools.machinist, &tools.kubectl, &etcd, &apiserver] {
        warm(program)?;
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        eprintln!("bench: cold start, round {round} of {rounds}");
        let last = round == rounds;
        let dir = home.join(format!("machinist-{round}"));
        ours.push(start_machinist(tools, &dir, last).await?);
        let dir = home.join(format!("kubernetes-{round}"));
        theirs.push(start_kubernetes(tools, &dir, last).await?);
    }
    let mut figures = vec![
        seconds(
            "cold start to ready",
            &ours,
            &theirs,
            |start| start.ready,
            Target::Told,
        ),
        seconds(
            "cold start to first kubectl get",
            &ours,
            &theirs,
            |start| start.answered,
            Target::Fraction(20.0),
        ),
    ];
    figures.extend(memory_figures(&ours, &theirs));
    Ok(figures)
}

async fn start_machinist(tools: &Tools, dir: &Path, look: bool) -> Result<Start> {
    let began = Instant::now();
    let mut machinist = Machinist::start(tools, dir)?;
    machinist.ready().await?;
    let ready = began.elapsed().as_secs_f64();
    let cache = dir.join("kubectl-cache");
    ready::until_kubectl_gets(&tools.kubectl, &machinist.kubeconfig(), &cache, "machines").await?;
    let answered = began.elapsed().as_secs_f64();
    let memory = match look {
        true => Some(memory::idle(&mut [&mut machinist.process]).await?),
        false => None,
    };
    Ok(Start {
        ready,
        answered,
        memory,
    })
}

async fn start_kubernetes(tools: &Tools, dir: &Path, look: bool) -> Result<Start> {
    let prepared = kubernetes::prepare(dir)?;
    let began = Instant::now();
    let mut kubernetes = prepared.start(tools).await?;
    kubernetes.ready().await?;
    let ready = began.elapsed().as_secs_f64();
    let cache = dir.join("kubectl-cache");
    let kubeconfig = kubernetes.kubeconfig();
    ready::until_kubectl_gets(&tools.kubectl, &kubeconfig, &cache, "namespaces").await?;
    let answered = began.elapsed().as_secs_f64();
    let memory = match look {
        true => {
            let processes = &mut [&mut kubernetes.apiserver, &mut kubernetes.etcd];
            Some(memory::idle(processes).await?)
        }
        false => None,
    };
    Ok(Start {
        ready,
        answered,
        memory,
    })
}

fn seconds(
    name: &'static str,
    ours: &[Start],
    theirs: &[Start],
    value: impl Fn(&Start) -> f64,
    target: Target,
) -> Figure {
    Figure {
        name,
        unit: Unit::Seconds,
        machinist: ours.iter().map(&value).collect(),
        peer: theirs.iter().map(&value).collect(),
        target,
    }
}

fn memory_figures(ours: &[Start], theirs: &[Start]) -> [Figure; 2] {
    let figure = |name, value: fn(&Memory) -> f64, target| {
        let values = |starts: &[Start]| {
            let seen = starts.iter().filter_map(|start| start.memory.as_ref());
            seen.map(value).collect()
        };
        Figure {
            name,
            unit: Unit::Mebibytes,
            machinist: values(ours),
            peer: values(theirs),
            target,
        }
    };
    [
        figure(
            "idle memory, resident",
            |memory| memory.resident,
            Target::Fraction(10.0),
        ),
        figure(
            "idle memory, proportional",
            |memory| memory.proportional,
            Target::Told,
        ),
    ]
}

/// Seconds that kubectl takes to start and end without asking anybody: it is in both sides.
pub(super) async fn kubectl_alone(tools: &Tools, rounds: u32) -> Result<f64> {
    let mut seconds = Vec::new();
    for _ in 0..rounds {
        let began = Instant::now();
        let status = Command::new(&tools.kubectl)
            .args(["version", "--client"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true)
            .status()
            .await
            .context("cannot run kubectl")?;
        if !status.success() {
            bail!("kubectl version --client ended with {status}");
        }
        seconds.push(began.elapsed().as_secs_f64());
    }
    Ok(median(&seconds))
}
