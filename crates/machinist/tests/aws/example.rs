//! The documented example, as it is printed, but for three things that it leaves open: where EC2
//! is, which image is Ubuntu, and the Secret; and for the documented machine's instance type, which
//! the documented provider does not offer.

use std::fs;

use kube::{
    Api,
    api::{DeleteParams, DynamicObject, GroupVersionKind},
    core::ApiResource,
};
use serde_json::json;

use crate::{
    platform::{Platform, moto},
    support::{Sandbox, kube as real, peers, scene::Scene, wait_for},
};

#[test]
fn the_documented_example_runs_and_leaves_nothing() {
    let Some(moto) = moto() else {
        return;
    };
    let runtime = real::runtime();
    let platform = runtime.block_on(Platform::new(moto));
    let documented = |name: &str| {
        let path = peers::tree().join("crates/api/tests/manifests").join(name);
        fs::read_to_string(path).unwrap()
    };
    let provider = platform.documented_provider();
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "aws-credentials", "namespace": "default"},
        "stringData": platform.moto.keys(),
    });
    let machine = documented("machine-a-aws.yaml");
    let machine = machine.replace(
        "  name: web-aws\nspec",
        "  name: web-aws\n  namespace: default\nspec",
    );
    let manifest = [secret.to_string() + "\n", provider, machine].join("---\n");
    let sandbox = Sandbox::new();
    let scene = Scene::open(&sandbox, None, &manifest);
    let status = scene.expect("Machine", "web-aws", ("Ready", "True"), &[]);
    assert_eq!(status["phase"], "Running", "{status:#}");
    let id = status["machineID"].as_str().expect("an id").to_owned();
    let zone = "us-west-2a";
    assert_eq!(status["providerID"], format!("aws:///{zone}/{id}"));
    assert_eq!(status["state"], "running");
    assert_eq!(
        (&status["cpus"], &status["memory"]),
        (&json!(2), &json!(4_294_967_296_u64))
    );
    assert_eq!(status["architecture"], "amd64", "{status:#}");
    for filled in [
        "privateIPAddresses",
        "publicIPAddresses",
        "disks",
        "networkInterfaces",
    ] {
        assert!(
            !status[filled].as_array().unwrap().is_empty(),
            "{filled}: {status:#}"
        );
    }
    assert!(status["creationTime"].is_string(), "{status:#}");
    scene.expect("MachineProvider", "aws-us-west-2", ("Ready", "True"), &[]);
    let client = runtime
        .block_on(real::client(&scene.up.kubeconfig()))
        .unwrap();
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(
        "vitistack.io",
        "v1alpha1",
        "Machine",
    ));
    let machines: Api<DynamicObject> = Api::namespaced_with(client, "default", &kind);
    let found = runtime.block_on(machines.get("web-aws")).unwrap();
    let uid = found.metadata.uid.unwrap();
    assert_eq!(runtime.block_on(platform.instances(&uid)).len(), 1);
    assert_eq!(platform.proxy.done("RunInstances"), 1);
    let params = DeleteParams::default();
    runtime
        .block_on(machines.delete("web-aws", &params))
        .unwrap();
    wait_for("the machine to go", || {
        match runtime.block_on(machines.get_opt("web-aws")).unwrap() {
            None => Ok(()),
            Some(there) => Err(there.data["status"].clone()),
        }
    });
    assert_eq!(runtime.block_on(platform.instances(&uid)), []);
    assert_eq!(
        runtime.block_on(platform.volumes(&uid)),
        Vec::<String>::new()
    );
    let said = scene.up.stdout() + &scene.up.stderr();
    assert!(
        !said.contains(platform.moto.secret()),
        "a secret was printed"
    );
}
