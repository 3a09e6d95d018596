//! The CEL rules of a KubernetesProvider: what each shape requires, and that no concept is said in both.

use schemars::Schema;

use crate::schema::{Rule, add_rules};

/// Rules over the whole spec.
pub(super) fn spec(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::required(
            ".type",
            "has(self.type) || has(self.providerType)",
            "spec.type is required: what makes the clusters, such as talos",
        ),
        Rule::new(
            "!(has(self.type) && has(self.providerType))",
            "spec.type and spec.providerType say the same thing in two forms; keep one of them",
        ).forbids(".providerType"),
        Rule::new(
            "!(has(self.version) && has(self.clusterTemplate) && has(self.clusterTemplate.kubernetesVersion))",
            "spec.version and spec.clusterTemplate.kubernetesVersion say the same thing in two forms; keep one of them",
        ).forbids(".clusterTemplate.kubernetesVersion"),
        Rule::new(
            "!(has(self.networking) && has(self.network))",
            "spec.networking and spec.network say the same thing in two forms; keep one of them",
        ).forbids(".network"),
        Rule::new(
            "!(has(self.clusterTemplate) && has(self.clusterTemplate.controlPlane) && has(self.cluster) && has(self.cluster.controlPlane))",
            "spec.clusterTemplate.controlPlane and spec.cluster.controlPlane say the same thing in two forms; keep one of them",
        ).forbids(".cluster.controlPlane"),
        Rule::new(
            "!(has(self.clusterTemplate) && has(self.clusterTemplate.workers) && has(self.nodePools))",
            "spec.clusterTemplate.workers and spec.nodePools say the same thing in two forms; keep one of them",
        ).forbids(".nodePools"),
        Rule::required(
            ".displayName",
            "!has(self.providerType) || has(self.displayName)",
            "spec.displayName is required with spec.providerType",
        ),
        Rule::required(
            ".version",
            "!has(self.providerType) || has(self.version)",
            "spec.version is required with spec.providerType",
        ),
        Rule::required(
            ".region",
            "!has(self.providerType) || has(self.region)",
            "spec.region is required with spec.providerType",
        ),
        Rule::required(
            ".cluster",
            "!has(self.providerType) || has(self.cluster)",
            "spec.cluster is required with spec.providerType",
        ),
    ];
    add_rules(schema, RULES);
}

/// Rules over the number of nodes in a control plane.
pub(crate) fn odd(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self % 2 == 1",
        "must be odd (1, 3, 5, ...), so that etcd keeps its quorum",
    )];
    add_rules(schema, RULES);
}

/// Rules over a group of nodes.
pub(super) fn node_pool(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "self.minNodes <= self.maxNodes",
            "minNodes must not be larger than maxNodes",
        )
        .counting(".minNodes", "self.minNodes"),
        Rule::new(
            "self.minNodes <= self.desiredNodes && self.desiredNodes <= self.maxNodes",
            "desiredNodes must be from minNodes to maxNodes",
        )
        .counting(".desiredNodes", "self.desiredNodes"),
    ];
    add_rules(schema, RULES);
}

/// Rules over what is installed.
pub(super) fn addons(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!(has(self.ingress) && has(self.ingressController))",
        "spec.addons.ingress and spec.addons.ingressController say the same thing in two forms; keep one of them",
    ).forbids(".ingressController")];
    add_rules(schema, RULES);
}
