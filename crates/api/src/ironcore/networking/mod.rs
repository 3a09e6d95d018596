//! `networking.ironcore.dev`: networks, what is attached to them, and what guards and joins them.

mod interface_rules;
mod load_balancer;
mod nat_gateway;
mod network;
mod network_interface;
mod network_policy;
mod policy_peer;
mod sources;
mod virtual_ip;

pub use load_balancer::{
    LoadBalancer, LoadBalancerPort, LoadBalancerSpec, LoadBalancerStatus, LoadBalancerType,
    Protocol,
};
pub use nat_gateway::{NatGateway, NatGatewaySpec, NatGatewayStatus};
pub use network::{
    Network, NetworkPeering, NetworkPeeringState, NetworkPeeringStatus, NetworkReference,
    NetworkSpec, NetworkState, NetworkStatus, PeeringPrefix, PeeringPrefixStatus,
};
pub use network_interface::{
    NetworkInterface, NetworkInterfaceSpec, NetworkInterfaceState, NetworkInterfaceStatus,
    NetworkInterfaceTemplate,
};
pub use network_policy::{
    NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicySpec,
    NetworkPolicyStatus, PolicyType,
};
pub use policy_peer::{IpBlock, NetworkPolicyPeer, NetworkPolicyPort, ObjectSelector, PeerKind};
pub use sources::{
    EphemeralIp, EphemeralPrefix, EphemeralVirtualIp, EphemeralVirtualIpSpec, IpSource, IpTemplate,
    PrefixSource, ReclaimPolicy, VirtualIpSource, VirtualIpTemplate,
};
pub use virtual_ip::{PublicType, VirtualIp, VirtualIpSpec, VirtualIpStatus};

/// API group of these kinds.
pub const GROUP: &str = "networking.ironcore.dev";
