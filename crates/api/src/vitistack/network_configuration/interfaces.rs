//! The interfaces of one machine, and the addresses that were given to them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::vitistack::common::AllocationMethod;

/// One interface of a machine, with its addresses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AllocatedInterface {
    /// Name of the interface, unique within the machine.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// MAC address of the interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::mac)]
    pub mac_address: Option<String>,
    /// IPv4 addresses of the interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = schema::ips, extend("x-kubernetes-list-type" = "atomic"))]
    pub ipv4_addresses: Vec<String>,
    /// IPv6 addresses of the interface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), transform = schema::ips, extend("x-kubernetes-list-type" = "atomic"))]
    pub ipv6_addresses: Vec<String>,
    /// VLAN ID that the interface is on, as a string.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4), regex(pattern = r"^[0-9]{1,4}$"))]
    pub vlan: Option<String>,
    /// IPv4 address range that the interface is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub ipv4_subnet: Option<String>,
    /// IPv6 address range that the interface is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub ipv6_subnet: Option<String>,
    /// IPv4 address of the default gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub ipv4_gateway: Option<String>,
    /// IPv6 address of the default gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub ipv6_gateway: Option<String>,
    /// Addresses of the name servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = schema::ips, extend("x-kubernetes-list-type" = "atomic"))]
    pub dns: Vec<String>,
    /// Whether the address is reserved at the DHCP server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dhcp_reserved: Option<bool>,
    /// Whether an address was given to the interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_allocated: Option<bool>,
    /// How the address was given: dhcp or static.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation_method: Option<AllocationMethod>,
    /// When the address may be given to another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation_expiry: Option<Time>,
}
