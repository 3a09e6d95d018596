//! The CEL rules of a KubernetesCluster: what each form requires, and that no concept is said in two.

use schemars::Schema;

use crate::schema::{Rule, add_rules};

/// Rules over the whole spec.
pub(super) fn spec(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "has(self.data) == has(self.topology)",
            "spec.data and spec.topology go together; give both or neither",
        ).demanded(),
        Rule::new(
            "has(self.topology) || has(self.controlPlane)",
            "spec describes no cluster; give spec.data and spec.topology, or spec.controlPlane",
        ).demanded(),
        Rule::new(
            "!(has(self.topology) && has(self.controlPlane))",
            "spec.topology.controlplane and spec.controlPlane say the same thing in two forms; keep one of them",
        ).forbids(".controlPlane"),
        Rule::new(
            "!(has(self.topology) && has(self.workers))",
            "spec.topology.workers and spec.workers say the same thing in two forms; keep one of them",
        ).forbids(".workers"),
        Rule::new(
            "!(has(self.topology) && has(self.kubernetesVersion))",
            "spec.topology.version and spec.kubernetesVersion say the same thing in two forms; keep one of them",
        ).forbids(".kubernetesVersion"),
        Rule::new(
            "!(has(self.data) && has(self.providerRef))",
            "spec.data.provider and spec.providerRef say the same thing in two forms; keep one of them",
        ).forbids(".providerRef"),
        Rule::new(
            "!(has(self.data) && has(self.clusterName))",
            "spec.data.clusterId and spec.clusterName say the same thing in two forms; keep one of them",
        ).forbids(".clusterName"),
        Rule::new(
            "!(has(self.networking) && has(self.networking.podCIDR) && has(self.podSubnets))",
            "spec.networking.podCIDR and spec.podSubnets say the same thing in two forms; keep one of them",
        ).forbids(".podSubnets"),
        Rule::new(
            "!(has(self.networking) && has(self.networking.serviceCIDR) && has(self.serviceSubnets))",
            "spec.networking.serviceCIDR and spec.serviceSubnets say the same thing in two forms; keep one of them",
        ).forbids(".serviceSubnets"),
    ];
    add_rules(schema, RULES);
}

/// Rules over how a group of nodes grows and shrinks.
pub(super) fn scaling(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self.minReplicas <= self.maxReplicas",
        "minReplicas must not be larger than maxReplicas",
    )
    .counting(".minReplicas", "self.minReplicas")];
    add_rules(schema, RULES);
}
