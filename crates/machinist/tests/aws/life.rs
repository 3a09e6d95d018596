//! The life of one machine on EC2: an API server in this process, an engine that may die, and a
//! proxy that may make any call go wrong. In real time, because moto knows no other.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use k8s_openapi::api::core::v1::{Event, Secret};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use machinist_api::vitistack::{Machine, MachineProvider};
use machinist_apiserver::{ApiServer, Identity, Options, Store};
use machinist_core::provider::{Connect, Provider, ProviderResult, ProviderSpec};
use machinist_engine::{Engine, Metrics, Readiness, SystemClock, journal::Journal, trace::Tracer};
use machinist_providers::{Aws, AwsConfig};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::Instant};

use crate::{
    cloud::{IMAGE, Moto, REGION},
    platform::Platform,
};

/// Generous: the machine that runs this may be busy.
const PATIENCE: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_millis(50);
/// The limit of a call, as the provider declares it.
pub(crate) const CALL_LIMIT: &str = "3s";

struct Ec2;

#[async_trait]
impl Connect for Ec2 {
    async fn connect(&self, spec: &ProviderSpec) -> ProviderResult<Arc<dyn Provider>> {
        let config = AwsConfig {
            settling: Duration::from_millis(500),
            ..AwsConfig::of(spec)?
        };
        Ok(Arc::new(Aws::new(config)?))
    }
}

/// What is declared of the machine, as far as scenarios change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) runs: bool,
    pub(crate) kind: &'static str,
    pub(crate) data: bool,
    pub(crate) tag: Option<&'static str>,
}

impl Default for Declared {
    fn default() -> Declared {
        Declared {
            runs: true,
            kind: "t3.micro",
            data: false,
            tag: None,
        }
    }
}

impl Declared {
    fn spec(&self) -> Value {
        let mut disks = vec![json!({"name": "root", "sizeGB": 8, "boot": true})];
        disks.extend(
            self.data
                .then(|| json!({"name": "data", "sizeGB": 1, "type": "gp3"})),
        );
        json!({
            "powerState": if self.runs { "Running" } else { "Stopped" },
            "instanceType": self.kind,
            "disks": disks,
            "tags": self.tag.map(|tag| json!({"tag": tag})).unwrap_or_else(|| json!({})),
        })
    }

    fn object(&self) -> Value {
        let mut spec = self.spec();
        spec["name"] = json!("m");
        spec["os"] = json!({
            "family": "linux", "distribution": "debian", "version": "12", "imageID": IMAGE,
        });
        spec["userData"] = json!("#!/bin/sh\ntrue\n");
        spec["providerConfig"] = json!({"name": "aws", "region": REGION});
        json!({
            "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine",
            "metadata": {"name": "m"}, "spec": spec,
        })
    }
}

pub(crate) struct Life {
    client: Client,
    pub(crate) platform: Platform,
    engine: JoinHandle<()>,
    uid: String,
    _server: ApiServer,
}

impl Drop for Life {
    fn drop(&mut self) {
        self.engine.abort();
    }
}

impl Life {
    /// A provider with its Secret is declared, and an engine runs.
    pub(crate) async fn begin(moto: Arc<Moto>) -> Life {
        let crds = machinist_api::crds().into_iter().map(|crd| json!(crd));
        let options = Options {
            crds: crds.collect(),
            ..Options::default()
        };
        let server = ApiServer::new(Store::memory(), options)
            .await
            .expect("a server");
        let client = Client::new(server.service(Identity::admin()), "default");
        let platform = Platform::new(moto).await;
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"},
            "stringData": platform.moto.keys(),
        });
        let provider = json!({
            "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
            "metadata": {"name": "cloud"},
            "spec": {
                "type": "aws", "region": REGION,
                "config": {"endpoint": platform.proxy.endpoint(), "timeout": CALL_LIMIT},
                "authentication": {"type": "apikey", "apiKey": {"secretRef": {"name": "keys", "key": "access-key-id"}}},
            },
        });
        let (params, ns) = (PostParams::default(), client.clone());
        let secrets: Api<Secret> = Api::default_namespaced(ns.clone());
        secrets
            .create(&params, &serde_json::from_value(secret).unwrap())
            .await
            .unwrap();
        let providers: Api<MachineProvider> = Api::default_namespaced(ns);
        providers
            .create(&params, &serde_json::from_value(provider).unwrap())
            .await
            .unwrap();
        Life {
            engine: start(&client),
            client,
            platform,
            uid: String::new(),
            _server: server,
        }
    }

    fn machines(&self) -> Api<Machine> {
        Api::default_namespaced(self.client.clone())
    }

    pub(crate) async fn declare(&mut self, declared: &Declared) {
        let machine = serde_json::from_value(declared.object()).expect("a machine");
        let made = self
            .machines()
            .create(&PostParams::default(), &machine)
            .await
            .expect("made");
        self.uid = made.metadata.uid.unwrap_or_default();
    }

    pub(crate) async fn change(&self, declared: &Declared) {
        let mut spec = declared.spec();
        if declared.tag.is_none() {
            spec["tags"] = json!(null);
        }
        let patch = Patch::Merge(json!({"spec": spec}));
        let machines = self.machines();
        machines
            .patch("m", &PatchParams::default(), &patch)
            .await
            .expect("patched");
    }

    /// Writes the next keys into the Secret, which makes a new connection.
    pub(crate) async fn rotate(&self) {
        let patch = Patch::Merge(json!({"stringData": self.platform.moto.next_keys()}));
        let secrets: Api<Secret> = Api::default_namespaced(self.client.clone());
        secrets
            .patch("keys", &PatchParams::default(), &patch)
            .await
            .expect("patched");
    }

    /// Waits until a call is signed with the next keys.
    pub(crate) async fn until_rotated(&self) -> Result<(), String> {
        let next = &self.platform.moto.next_keys()["access-key-id"];
        let deadline = Instant::now() + PATIENCE;
        while !self.platform.proxy.calls().iter().any(|c| c.key == *next) {
            if Instant::now() > deadline {
                return Err("the next keys are not used".to_owned());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    pub(crate) async fn delete(&self) {
        self.machines()
            .delete("m", &DeleteParams::default())
            .await
            .expect("asked");
    }

    /// The engine dies in the midst of whatever it does.
    pub(crate) async fn end_engine(&mut self) {
        let engine = std::mem::replace(&mut self.engine, tokio::spawn(async {}));
        engine.abort();
        let _ = engine.await;
    }

    /// It dies, and another takes over.
    pub(crate) async fn replace_engine(&mut self) {
        self.end_engine().await;
        self.engine = start(&self.client);
    }

    /// Waits until there is one machine, as declared, and the object says so.
    pub(crate) async fn until_as_declared(&self, declared: &Declared) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.judge(declared).await {
                Ok(()) => return Ok(()),
                Err(why) if Instant::now() > deadline => return Err(why),
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    /// Waits until object, instance and volumes are gone.
    pub(crate) async fn until_gone(&self) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        while let Some(machine) = self.machines().get_opt("m").await.expect("an answer") {
            if Instant::now() > deadline {
                return Err(format!("the object stays: {:?}", machine.status));
            }
            tokio::time::sleep(PAUSE).await;
        }
        let (instances, volumes) = self.held().await;
        match instances.is_empty() && volumes.is_empty() {
            true => Ok(()),
            false => Err(format!("left at the platform: {instances:?} {volumes:?}")),
        }
    }

    async fn held(&self) -> (Vec<crate::platform::Held>, Vec<String>) {
        let instances = self.platform.instances(&self.uid).await;
        (instances, self.platform.volumes(&self.uid).await)
    }

    async fn judge(&self, declared: &Declared) -> Result<(), String> {
        let machine = self.machines().get_opt("m").await.expect("an answer");
        let machine = machine.ok_or("the object is gone")?;
        let status = machine.status.clone().ok_or("no status")?;
        let is = |kind: &str, value: &str| {
            let mut found = status.conditions.iter().filter(|c| c.type_ == kind);
            found.any(|c| c.status == value)
        };
        let ready = if declared.runs { "True" } else { "False" };
        let current = status.observed_generation == machine.metadata.generation;
        if !(current && is("Reconciling", "False") && is("Stalled", "False") && is("Ready", ready))
        {
            return Err(format!("the object says {status:?}"));
        }
        let (instances, volumes) = self.held().await;
        let [instance] = instances.as_slice() else {
            return Err(format!("{} instances", instances.len()));
        };
        let state = if declared.runs { "running" } else { "stopped" };
        let tag = instance.tags.get("tag").map(String::as_str);
        let disks = if declared.data { 2 } else { 1 };
        let as_declared = instance.state == state
            && instance.kind == declared.kind
            && tag == declared.tag
            && volumes.len() == disks
            && status.machine_id.as_ref() == Some(&instance.id);
        match as_declared {
            true => Ok(()),
            false => Err(format!(
                "{instance:?} with {volumes:?} differs from {declared:?}"
            )),
        }
    }

    /// Whether a secret shows in anything that can be read beside the Secret itself.
    pub(crate) async fn tells_secrets(&self) -> bool {
        let events: Api<Event> = Api::all(self.client.clone());
        let events = events.list(&Default::default()).await.expect("events");
        let providers: Api<MachineProvider> = Api::all(self.client.clone());
        let providers = providers
            .list(&Default::default())
            .await
            .expect("providers");
        let machines = self
            .machines()
            .list(&Default::default())
            .await
            .expect("machines");
        let all = json!([events, providers, machines]).to_string();
        let next = self.platform.moto.next_keys();
        let mut secrets = vec![self.platform.moto.secret()];
        secrets.extend(next.get("secret-access-key").map(String::as_str));
        secrets.into_iter().any(|secret| all.contains(secret))
    }
}

fn start(client: &Client) -> JoinHandle<()> {
    let client = client.clone();
    tokio::spawn(async move {
        // Whoever runs the program starts it again when it ends.
        loop {
            let engine = Engine {
                client: client.clone(),
                connect: Arc::new(Ec2),
                clock: Arc::new(SystemClock),
                metrics: Metrics::default(),
                readiness: Readiness::default(),
                tracer: Tracer::default(),
                journal: Journal::default(),
            };
            let _ = engine.run(std::future::pending()).await;
            tokio::time::sleep(PAUSE).await;
        }
    })
}
