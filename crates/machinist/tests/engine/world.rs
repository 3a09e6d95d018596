//! An API server, an engine and a simulated platform in one process.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use machinist_api::vitistack::{Machine, MachinePhase, MachineProvider};
use machinist_apiserver::{ApiServer, Identity, Options, Store};
use machinist_core::provider::{Access, Connect, Provider, ProviderResult, ProviderSpec};
use machinist_engine::{Engine, Metrics, Readiness, SystemClock, journal::Journal, trace::Tracer};
use machinist_providers::{Aws, AwsConfig, Sim, SimCloud, SimOptions, Tokens, Way, sim::Verb};
use serde_json::json;
use tokio::task::JoinHandle;

/// Generous: the machine that runs this may be busy.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

struct OneCloud(SimCloud);

#[async_trait]
impl Connect for OneCloud {
    async fn connect(&self, spec: &ProviderSpec) -> ProviderResult<Arc<dyn Provider>> {
        let cloud = self.0.clone();
        Ok(match &spec.access {
            Access::OAuth2(client) => {
                let tokens = Tokens::new(client.clone(), Way::of(spec)?)?;
                Arc::new(Sim::with_tokens(cloud, tokens))
            }
            _ if spec.kind == "aws" => Arc::new(Aws::new(AwsConfig::of(spec)?)?),
            _ => Arc::new(Sim::new(cloud)),
        })
    }
}

pub(crate) struct World {
    pub(crate) client: Client,
    pub(crate) cloud: SimCloud,
    pub(crate) engine: JoinHandle<()>,
    _server: ApiServer,
}

impl World {
    pub(crate) async fn new(options: SimOptions) -> World {
        let options_of_server = Options {
            crds: crate::lab::definitions(),
            ..Options::default()
        };
        let server = ApiServer::new(Store::memory(), options_of_server)
            .await
            .expect("the server starts");
        let client = Client::new(server.service(Identity::admin()), "default");
        let cloud = SimCloud::new(options);
        let world = World {
            engine: start(&client, &cloud),
            client,
            cloud,
            _server: server,
        };
        let provider = json!({
            "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
            "metadata": {"name": "cloud"}, "spec": {"type": "sim", "region": "here"},
        });
        let provider = serde_json::from_value(provider).expect("a provider");
        let api = world.providers();
        api.create(&PostParams::default(), &provider)
            .await
            .expect("created");
        world
    }

    pub(crate) fn machines(&self) -> Api<Machine> {
        Api::default_namespaced(self.client.clone())
    }

    pub(crate) fn providers(&self) -> Api<MachineProvider> {
        Api::default_namespaced(self.client.clone())
    }

    pub(crate) async fn declare(&self, name: &str) -> Machine {
        let machine = small_machine(name);
        let api = self.machines();
        api.create(&PostParams::default(), &machine)
            .await
            .expect("created")
    }

    pub(crate) async fn patch(&self, name: &str, patch: serde_json::Value) {
        let api = self.machines();
        let patch = Patch::Merge(&patch);
        api.patch(name, &PatchParams::default(), &patch)
            .await
            .expect("patched");
    }

    /// Waits until the machine, or its absence, is as wanted.
    pub(crate) async fn until(
        &self,
        name: &str,
        wanted: impl Fn(Option<&Machine>) -> bool,
    ) -> Option<Machine> {
        let api = self.machines();
        let look = async {
            loop {
                let machine = api.get_opt(name).await.expect("an answer");
                if wanted(machine.as_ref()) {
                    return machine;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let found = tokio::time::timeout(LIMIT, look).await;
        match found {
            Ok(machine) => machine,
            Err(_) => {
                let machine = api.get_opt(name).await.expect("an answer");
                let status = machine.and_then(|machine| machine.status);
                unreachable!("waited too long; the status is {status:#?}")
            }
        }
    }

    pub(crate) async fn until_phase(&self, name: &str, phase: MachinePhase) -> Machine {
        let is = |machine: Option<&Machine>| phase_of(machine) == Some(phase);
        self.until(name, is).await.expect("a machine")
    }

    /// Runs another engine that is told to end after so long; returns when it did.
    pub(crate) async fn run_for(&self, life: Duration) {
        let engine = engine(&self.client, &self.cloud);
        let ended = tokio::time::timeout(LIMIT, engine.run(tokio::time::sleep(life))).await;
        ended.expect("ended in time").expect("without error");
    }

    /// The engine dies at once, as by a signal, and another takes over.
    pub(crate) async fn replace_engine(&mut self) {
        self.engine.abort();
        let _ = (&mut self.engine).await;
        self.engine = start(&self.client, &self.cloud);
    }

    /// Has the engine look at the machine once more, and waits until it did.
    pub(crate) async fn look_again(&self, name: &str) {
        let finds = || {
            self.cloud
                .calls()
                .iter()
                .filter(|call| call.verb == Verb::Find)
                .count()
        };
        let before = finds();
        self.patch(name, json!({"metadata": {"labels": {"look": "again"}}}))
            .await;
        let looked = async {
            while finds() == before {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(LIMIT, looked)
            .await
            .expect("looked in time");
        self.until_phase(name, MachinePhase::Running).await;
    }

    pub(crate) async fn delete_and_prove(&self, name: &str) {
        let api = self.machines();
        api.delete(name, &DeleteParams::default())
            .await
            .expect("deleted");
        self.until(name, |machine| machine.is_none()).await;
        assert_eq!(self.cloud.count(), 0, "something is left at the platform");
    }
}

fn engine(client: &Client, cloud: &SimCloud) -> Engine {
    Engine {
        client: client.clone(),
        connect: Arc::new(OneCloud(cloud.clone())),
        clock: Arc::new(SystemClock),
        metrics: Metrics::default(),
        readiness: Readiness::default(),
        tracer: Tracer::default(),
        journal: Journal::default(),
    }
}

fn start(client: &Client, cloud: &SimCloud) -> JoinHandle<()> {
    let engine = engine(client, cloud);
    tokio::spawn(async move {
        engine
            .run(std::future::pending())
            .await
            .expect("the engine runs");
    })
}

pub(crate) fn phase_of(machine: Option<&Machine>) -> Option<MachinePhase> {
    machine?.status.as_ref()?.phase
}

/// The condition of this type.
pub(crate) fn condition(machine: &Machine, kind: &str) -> Option<Condition> {
    let conditions = &machine.status.as_ref()?.conditions;
    conditions.iter().find(|c| c.type_ == kind).cloned()
}

/// The least that declares a machine on the simulated platform.
pub(crate) fn small_machine(name: &str) -> Machine {
    let machine = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine", "metadata": {"name": name},
        "spec": {
            "name": name, "instanceType": "small",
            "os": {"family": "linux", "distribution": "debian", "version": "12", "imageID": "debian"},
            "providerConfig": {"name": "sim", "region": "here"},
        },
    });
    serde_json::from_value(machine).expect("a machine")
}
