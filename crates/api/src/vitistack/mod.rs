//! `vitistack.io/v1alpha1`: the superset of its documented shapes.
//!
//! The shapes share no path with different meanings, so every documented manifest is accepted as
//! it is printed. What is required follows from the shape that a manifest uses, and one concept in
//! two shapes is refused, both by the CEL rules beside each kind.

pub mod common;
pub mod kubernetes_cluster;
pub mod kubernetes_provider;
pub mod kubevirt_config;
pub mod load_balancer;
pub mod machine;
pub mod machine_class;
pub mod machine_provider;
pub mod network_configuration;
pub mod network_namespace;
pub mod proxmox_config;
pub mod requirements;
pub mod stack;

use crate::schema::metadata_name;

pub use kubernetes_cluster::{KubernetesCluster, KubernetesClusterSpec, KubernetesClusterStatus};
pub use kubernetes_provider::{
    KubernetesProvider, KubernetesProviderPhase, KubernetesProviderSpec, KubernetesProviderStatus,
};
pub use kubevirt_config::{KubevirtConfig, KubevirtConfigSpec, KubevirtConfigStatus};
pub use load_balancer::{LoadBalancer, LoadBalancerSpec, LoadBalancerStatus};
pub use machine::{Machine, MachinePhase, MachineSpec, MachineStatus, PowerState};
pub use machine_class::{MachineClass, MachineClassSpec, MachineClassStatus};
pub use machine_provider::{
    MachineProvider, MachineProviderSpec, MachineProviderStatus, ProviderPhase, ProviderType,
};

pub use network_configuration::{
    NetworkConfiguration, NetworkConfigurationSpec, NetworkConfigurationStatus,
};
pub use network_namespace::{NetworkNamespace, NetworkNamespaceSpec, NetworkNamespaceStatus};
pub use proxmox_config::{ProxmoxConfig, ProxmoxConfigSpec, ProxmoxConfigStatus};
pub use stack::{StackPhase, Vitistack, VitistackSpec, VitistackStatus};

/// API group of the family.
pub const GROUP: &str = "vitistack.io";
/// Version of the family's kinds.
pub const VERSION: &str = "v1alpha1";
