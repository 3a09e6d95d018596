//! A control plane in which something is about to go wrong at the provider.

use kube::{
    Api, Client,
    api::{DynamicObject, GroupVersionKind, Patch, PatchParams},
    core::ApiResource,
};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::{Sandbox, Up, kube as real, manifests, wait_for};

/// A control plane with a provider and a machine, and a look at both.
pub struct Scene {
    pub up: Up,
    runtime: Runtime,
    client: Client,
}

impl Scene {
    /// Opens it with this manifest; programs are searched in `path`, if one is given.
    pub fn open(sandbox: &Sandbox, path: Option<&str>, manifest: &str) -> Scene {
        let file = sandbox.write("scene.yaml", manifest);
        let mut command = sandbox.machinist("up");
        command.arg("-f").arg(file);
        if let Some(path) = path {
            command.env("PATH", path);
        }
        let up = sandbox.serve(&mut command);
        let runtime = real::runtime();
        let client = runtime.block_on(real::client(&up.kubeconfig())).unwrap();
        Scene {
            up,
            runtime,
            client,
        }
    }

    fn api(&self, kind: &str) -> Api<DynamicObject> {
        let gvk = GroupVersionKind::gvk("vitistack.io", "v1alpha1", kind);
        Api::namespaced_with(self.client.clone(), "default", &ApiResource::from_gvk(&gvk))
    }

    /// What an object says of itself.
    pub fn status(&self, kind: &str, name: &str) -> Value {
        let found = self.runtime.block_on(self.api(kind).get_opt(name)).unwrap();
        found
            .map(|object| object.data["status"].clone())
            .unwrap_or_default()
    }

    /// Waits until a condition has this status and its message says all of these.
    #[track_caller]
    pub fn expect(&self, kind: &str, name: &str, condition: (&str, &str), said: &[&str]) -> Value {
        wait_for(&format!("{kind} {name} to have {condition:?}"), || {
            let status = self.status(kind, name);
            let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
            let found = conditions
                .into_iter()
                .find(|c| c["type"] == condition.0)
                .unwrap_or_default();
            let message = found["message"].as_str().unwrap_or_default();
            let good =
                found["status"] == condition.1 && said.iter().all(|text| message.contains(text));
            good.then_some(status.clone()).ok_or(status)
        })
    }

    /// Changes an object as a person would.
    pub fn patch(&self, kind: &str, name: &str, patch: &Value) {
        let params = PatchParams::default();
        let api = self.api(kind);
        self.runtime
            .block_on(api.patch(name, &params, &Patch::Merge(patch)))
            .unwrap();
    }
}

/// A local QEMU, and the machine `web` whose disk begins as this image.
pub fn qemu_scene(image: &str) -> String {
    [
        manifests::provider("qemu"),
        manifests::machine("web", "qemu", image),
    ]
    .join("---\n")
}
