//! Every kind that Machinist serves, and the status that its objects are born with; one line a kind.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON,
};
use kube::CustomResourceExt;
use serde_json::{Value, json};

use crate::ironcore::{compute, ipam, networking as net, quota, storage};
use crate::kupenstack as ks;
use crate::vitistack as vs;

/// A kind's definition, and the status of a new object; none where nobody reports on the kind.
type Kind = (CustomResourceDefinition, Option<Value>);

/// Every kind, in any order.
pub(super) fn all() -> Vec<Kind> {
    vec![
        (
            vs::Machine::crd(),
            phase(vs::MachinePhase::default().as_str()),
        ),
        (
            vs::MachineProvider::crd(),
            phase(vs::ProviderPhase::default().as_str()),
        ),
        (vs::KubernetesCluster::crd(), phase("Pending")),
        (vs::KubernetesProvider::crd(), unready()),
        (vs::KubevirtConfig::crd(), phase("Pending")),
        (vs::LoadBalancer::crd(), phase("Pending")),
        (vs::MachineClass::crd(), None),
        (vs::NetworkConfiguration::crd(), unready()),
        (vs::NetworkNamespace::crd(), phase("Pending")),
        (vs::ProxmoxConfig::crd(), unready()),
        (
            vs::Vitistack::crd(),
            phase(vs::StackPhase::default().as_str()),
        ),
        (compute::Machine::crd(), state("Pending")),
        (compute::MachineClass::crd(), None),
        (bare(compute::MachinePool::crd()), state("Pending")),
        (bare(storage::Volume::crd()), state("Pending")),
        (storage::VolumeClass::crd(), None),
        (bare(storage::VolumePool::crd()), state("Pending")),
        (storage::VolumeSnapshot::crd(), state("Pending")),
        (bare(net::Network::crd()), state("Pending")),
        (net::NetworkInterface::crd(), state("Pending")),
        (net::VirtualIp::crd(), unseen(json!({}))),
        (net::NatGateway::crd(), unseen(json!({}))),
        (net::LoadBalancer::crd(), unseen(json!({}))),
        (net::NetworkPolicy::crd(), unseen(json!({}))),
        (ipam::Prefix::crd(), phase("Pending")),
        (ipam::PrefixAllocation::crd(), phase("Pending")),
        (bare(quota::ResourceQuota::crd()), unseen(json!({}))),
        (bare(ks::Flavor::crd()), shared(json!({}))),
        (bare(ks::Image::crd()), shared(json!({ "ready": false }))),
        (bare(ks::KeyPair::crd()), shared(json!({}))),
        (
            ks::VirtualMachine::crd(),
            unseen(json!({ "phase": "Pending", "restartCount": 0 })),
        ),
        (
            bare(ks::VirtualNetwork::crd()),
            unseen(json!({ "ready": false, "gatewayName": "none" })),
        ),
        (
            ks::Volume::crd(),
            unseen(json!({ "ready": false, "inUse": false })),
        ),
    ]
}

/// The status of an object that nobody has looked at yet.
fn unseen(mut status: Value) -> Option<Value> {
    status["observedGeneration"] = (-1).into();
    Some(status)
}

/// The same for a kind with a phase.
fn phase(phase: &str) -> Option<Value> {
    unseen(json!({ "phase": phase }))
}

/// The same for a kind with a state.
fn state(state: &str) -> Option<Value> {
    unseen(json!({ "state": state }))
}

/// The same for a kind that also says whether it can be used.
fn unready() -> Option<Value> {
    unseen(json!({ "phase": "Pending", "ready": false }))
}

/// The same for a kind that says who uses it.
fn shared(mut status: Value) -> Option<Value> {
    status["usage"] = json!({ "inUse": false });
    unseen(status)
}

/// The kind with a spec that may be left out as a whole, because nothing in it is required.
fn bare(mut crd: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut crd.spec.versions {
        if let Some(spec) = super::property(version, "spec") {
            spec.default = Some(JSON(json!({})));
        }
    }
    crd
}
