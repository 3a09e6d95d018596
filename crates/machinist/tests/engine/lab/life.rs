//! The life of one machine on one platform, with as many engines as a test likes.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use k8s_openapi::api::{core::v1::Secret, events::v1::Event};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use machinist_api::vitistack::{Machine, MachineProvider};
use machinist_apiserver::Identity;
use machinist_core::provider::{Connect, Provider, ProviderResult, ProviderSpec};
use machinist_engine::{Engine, Metrics, Readiness, journal::Journal, trace::Tracer};
use machinist_providers::SimCloud;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{
    Declared, Lab,
    clock::Wound,
    platform::{Platform, SECRET, SECRET_KEY},
    wire::Wire,
};

const PAUSE: Duration = Duration::from_secs(2);
/// What the provider's Secret holds at first; nobody may ever read it anywhere else.
pub(crate) const FIRST_TOKEN: &str = "not-to-be-seen-1";

struct To<P>(Arc<P>);

#[async_trait]
impl<P: Platform> Connect for To<P> {
    async fn connect(&self, spec: &ProviderSpec) -> ProviderResult<Arc<dyn Provider>> {
        self.0.connect(spec).await
    }
}

pub(crate) struct Life<'a, P: Platform = SimCloud> {
    lab: &'a Lab,
    admin: Client,
    pub(crate) wire: Wire,
    pub(crate) platform: Arc<P>,
    clock: Arc<Wound>,
    engines: Vec<JoinHandle<()>>,
    metrics: Metrics,
    pub(crate) patience: Duration,
}

impl<P: Platform> Drop for Life<'_, P> {
    fn drop(&mut self) {
        self.engines.iter().for_each(JoinHandle::abort);
    }
}

impl<'a, P: Platform> Life<'a, P> {
    /// A provider is declared, and one engine runs.
    pub(crate) async fn begin(lab: &'a Lab, platform: P) -> Life<'a, P> {
        let mut life = Life {
            lab,
            admin: Client::new(lab.server.service(Identity::admin()), "default"),
            wire: Wire::new(),
            patience: platform.pace().patience,
            platform: Arc::new(platform),
            clock: Arc::new(Wound::new()),
            engines: Vec::new(),
            metrics: Metrics::default(),
        };
        life.rotate(FIRST_TOKEN).await;
        let provider = json!({
            "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
            "metadata": {"name": "cloud"}, "spec": life.platform.provider(),
        });
        let provider = serde_json::from_value(provider).expect("a provider");
        let made = life
            .providers()
            .create(&PostParams::default(), &provider)
            .await;
        made.expect("created");
        life.add_engine();
        life
    }

    /// The platform wants another token from now on, and the provider's Secret has it.
    pub(crate) async fn rotate(&self, token: &str) {
        self.platform.rotate(token);
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET},
            "stringData": {SECRET_KEY: token},
        });
        let params = PatchParams::apply("lab").force();
        let written = self.secrets();
        let written = written.patch(SECRET, &params, &Patch::Apply(&secret)).await;
        written.expect("written");
    }

    /// The events about the object of this name, as reason and note.
    pub(crate) async fn events(&self, about: &str) -> Vec<(String, String)> {
        let events: Api<Event> = Api::default_namespaced(self.admin.clone());
        let events = events.list(&ListParams::default()).await.expect("events");
        let about = |event: &Event| {
            let name = event.regarding.as_ref().and_then(|to| to.name.as_deref());
            name == Some(about)
        };
        let told = events.items.into_iter().filter(about);
        told.map(|e| (e.reason.unwrap_or_default(), e.note.unwrap_or_default()))
            .collect()
    }

    /// Waits until something holds of the object.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn(&Machine) -> bool) -> Machine {
        let mut waited = Duration::ZERO;
        loop {
            let machine = self.machine().await.expect("the object is there");
            if holds(&machine) {
                return machine;
            }
            assert!(waited < self.patience, "not {what}: {:#?}", machine.status);
            tokio::time::sleep(PAUSE).await;
            waited += PAUSE;
        }
    }

    /// Everything that the engines say to anybody: objects, events and metrics.
    pub(crate) async fn said(&self) -> String {
        let params = ListParams::default();
        let events: Api<Event> = Api::default_namespaced(self.admin.clone());
        let events = events.list(&params).await.expect("events");
        let machines = self.machines().list(&params).await.expect("machines");
        let providers = self.providers().list(&params).await.expect("providers");
        format!(
            "{}\n{}\n{}\n{}\n{:?}",
            json!(events.items),
            json!(machines.items),
            json!(providers.items),
            self.metrics.encode(),
            self.platform.machines().await,
        )
    }

    pub(crate) fn machines(&self) -> Api<Machine> {
        Api::default_namespaced(self.admin.clone())
    }

    pub(crate) fn providers(&self) -> Api<MachineProvider> {
        Api::default_namespaced(self.admin.clone())
    }

    pub(crate) fn secrets(&self) -> Api<Secret> {
        Api::default_namespaced(self.admin.clone())
    }

    pub(crate) fn engines(&self) -> usize {
        self.engines.len()
    }

    /// One more engine, as after a lost lease.
    pub(crate) fn add_engine(&mut self) {
        self.add_engine_over(&self.wire.clone());
    }

    /// One more engine, with a way to the API server of its own.
    pub(crate) fn add_engine_over(&mut self, wire: &Wire) {
        let client = self.lab.client(wire);
        let (platform, clock) = (self.platform.clone(), self.clock.clone());
        let metrics = self.metrics.clone();
        self.engines.push(tokio::spawn(async move {
            // Whoever runs the program starts it again when it ends.
            loop {
                let engine = Engine {
                    client: client.clone(),
                    connect: Arc::new(To(platform.clone())),
                    clock: clock.clone(),
                    metrics: metrics.clone(),
                    readiness: Readiness::default(),
                    tracer: Tracer::default(),
                    journal: Journal::default(),
                };
                let _ = engine.run(std::future::pending()).await;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }));
    }

    /// An engine dies in the midst of whatever it does.
    pub(crate) fn kill_engine(&mut self) {
        if !self.engines.is_empty() {
            self.engines.remove(0).abort();
        }
    }

    pub(crate) fn replace_engine(&mut self) {
        self.kill_engine();
        self.add_engine();
    }

    pub(crate) fn jump_clock(&self, seconds: i64) {
        self.clock.off.fetch_add(seconds, Ordering::Relaxed);
    }

    pub(crate) async fn declare(&self, declared: &Declared) {
        let machine =
            serde_json::from_value(declared.object(&self.platform.machine())).expect("a machine");
        let made = self
            .machines()
            .create(&PostParams::default(), &machine)
            .await;
        made.expect("created");
    }

    pub(crate) async fn change(&self, declared: &Declared) {
        self.patch(declared.patch()).await;
    }

    pub(crate) async fn patch(&self, patch: Value) {
        let params = PatchParams::default();
        let machines = self.machines();
        let patched = machines.patch("m", &params, &Patch::Merge(&patch)).await;
        patched.expect("patched");
    }

    pub(crate) async fn delete(&self) {
        let params = DeleteParams::default();
        self.machines().delete("m", &params).await.expect("asked");
    }

    pub(crate) async fn machine(&self) -> Option<Machine> {
        self.machines().get_opt("m").await.expect("an answer")
    }

    /// Waits until there is one machine, as declared, and the object says so.
    pub(crate) async fn until_as_declared(&self, declared: &Declared) -> Result<(), String> {
        let mut why = String::new();
        let mut waited = Duration::ZERO;
        while waited < self.patience {
            why = match self.judge(declared).await {
                Ok(()) => return Ok(()),
                Err(why) => why,
            };
            tokio::time::sleep(PAUSE).await;
            waited += PAUSE;
        }
        Err(why)
    }

    async fn judge(&self, declared: &Declared) -> Result<(), String> {
        let machine = self.machine().await.ok_or("the object is gone")?;
        let uid = machine.metadata.uid.clone().unwrap_or_default();
        let all = self.platform.machines().await;
        let [facts] = all.as_slice() else {
            return Err(format!("{} machines", all.len()));
        };
        if facts.key.machine() != uid {
            return Err(format!("{:?} belongs to nobody", facts.id));
        }
        if let Some(difference) = declared.differs(facts) {
            return Err(difference);
        }
        let status = machine.status.ok_or("no status")?;
        let is = |kind: &str, value: &str| {
            let mut found = status.conditions.iter().filter(|c| c.type_ == kind);
            found.any(|c| c.status == value)
        };
        let settled = is("Reconciling", "False") && is("Stalled", "False");
        let current = status.observed_generation == machine.metadata.generation;
        let id = status.machine_id.as_deref() == Some(facts.id.as_str());
        match settled && current && id && is("Ready", if declared.runs { "True" } else { "False" })
        {
            true => Ok(()),
            false => Err(format!("the object says {status:?}")),
        }
    }

    /// Waits until object and machine are gone; the provider goes too, for the next life.
    pub(crate) async fn until_gone(&mut self) -> Result<(), String> {
        let mut waited = Duration::ZERO;
        while self.machine().await.is_some() {
            if waited >= self.patience {
                let status = self.machine().await.and_then(|machine| machine.status);
                return Err(format!("the object stays: {status:?}"));
            }
            tokio::time::sleep(PAUSE).await;
            waited += PAUSE;
        }
        // Whatever is still on its way there has its time.
        tokio::time::sleep(self.platform.pace().pause * 5).await;
        match self.platform.leftovers().await.as_slice() {
            [] => Ok(()),
            left => Err(format!("left at the platform: {left:?}")),
        }
    }

    /// Removes everything, whatever state it is in, so that the next life begins anew.
    pub(crate) async fn end(self) {
        self.engines.iter().for_each(JoinHandle::abort);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let bare = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        let params = PatchParams::default();
        let (machines, providers) = (self.machines(), self.providers());
        let _ = machines.delete("m", &DeleteParams::default()).await;
        let _ = machines.patch("m", &params, &bare).await;
        let _ = providers.delete("cloud", &DeleteParams::default()).await;
        let _ = providers.patch("cloud", &params, &bare).await;
    }
}
