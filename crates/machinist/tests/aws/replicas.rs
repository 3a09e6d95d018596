//! Two replicas of the operator on a real Kubernetes; the one that works is killed while its create
//! is under way.

use std::{fs, time::Duration};

use serde_json::json;

use crate::{
    cloud::Fault,
    platform::{Platform, moto},
    support::{
        Kubectl, Sandbox,
        kube::{self as real, Cluster},
        peers,
        replica::Service,
        wait_for,
    },
};

/// Longer than the test: whoever waits for this answer is dead by then.
const NEVER: Duration = Duration::from_secs(3600);

#[test]
fn a_replica_that_is_killed_in_the_midst_of_a_create_leaves_one_machine_to_the_other() {
    let Some(moto) = moto() else {
        return;
    };
    let (one, two) = (Sandbox::new(), Sandbox::new());
    let Some(cluster) = Cluster::start(&one) else {
        return;
    };
    let Some(kubectl) = Kubectl::current(&one, &cluster.kubeconfig()) else {
        return;
    };
    let runtime = real::runtime();
    let platform = runtime.block_on(Platform::new(moto));
    let documented = |name: &str| {
        let path = peers::tree().join("crates/api/tests/manifests").join(name);
        fs::read_to_string(path).unwrap()
    };
    let holder = || {
        let words = "get lease machinist -n default -o jsonpath={.spec.holderIdentity}";
        kubectl.run(words, &[]).stdout.trim().to_owned()
    };
    let service = Service::open();
    let replica = |sandbox| {
        let place = ["--lease-namespace", "default"];
        service.replica(sandbox, &cluster.kubeconfig(), &place)
    };
    let first = replica(&one);
    wait_for("the first replica to work", || match holder() {
        nobody if nobody.is_empty() => Err(first.stderr()),
        _ => Ok(()),
    });
    let worked = holder();
    let second = replica(&two);
    platform
        .proxy
        .fault_next("RunInstances", Fault::Delay(NEVER));
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "aws-credentials", "namespace": "default"},
        "stringData": platform.moto.keys(),
    });
    kubectl.feed_ok("apply", &secret.to_string());
    let provider = platform.documented_provider();
    kubectl.feed_ok("apply", &provider);
    kubectl.feed_ok("apply", &documented("machine-a-aws.yaml"));
    let machine = kubectl.get("machines.vitistack.io web-aws");
    let uid = machine["metadata"]["uid"].as_str().unwrap();
    wait_for("the create to take effect", || {
        match runtime.block_on(platform.instances(uid)).len() {
            0 => Err(first.stderr()),
            _ => Ok(()),
        }
    });
    first.kill();
    wait_for("the other to make it good", || {
        let machine = kubectl.get("machines.vitistack.io web-aws");
        match machine["status"]["phase"].as_str() {
            Some("Running") => Ok(()),
            _ => Err((machine, second.stderr())),
        }
    });
    assert_ne!(holder(), worked);
    let held = runtime.block_on(platform.instances(uid));
    assert_eq!(held.len(), 1, "{held:?}");
    kubectl.ok("delete machines.vitistack.io web-aws --timeout=180s");
    assert_eq!(runtime.block_on(platform.instances(uid)), []);
    let volumes = runtime.block_on(platform.volumes(uid));
    assert_eq!(volumes, Vec::<String>::new());
}
