//! How a network's addresses are given out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::schema;
use crate::vitistack::common::Dns;
use crate::wire_enum::wire_enum;

/// How a network's addresses are given out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::ipam)]
pub struct Ipam {
    /// What gives out addresses: static, dhcp, kea or external.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<IpamType>,
    /// Address range of the network in CIDR notation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub subnet: Option<String>,
    /// Address of the default gateway, which is in the subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub gateway: Option<String>,
    /// Name servers and search domains of the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns: Option<Dns>,
    /// How the network's DHCP server works; give either this or spec.dhcp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dhcp: Option<DhcpConfig>,
}

wire_enum! {
    /// What gives out addresses.
    IpamType {
        /// Nobody: they are written by hand.
        Static = "static",
        /// A DHCP server.
        Dhcp = "dhcp",
        /// Kea.
        Kea = "kea",
        /// Something that Machinist does not know.
        External = "external",
    }
}

/// How a DHCP server works.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::dhcp)]
pub struct DhcpConfig {
    /// Whether the DHCP server answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// First address of the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub pool_start: Option<String>,
    /// Last address of the pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub pool_end: Option<String>,
    /// How long an address is lent, such as 12h.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::duration)]
    pub lease_time: Option<String>,
    /// Addresses that are kept for machines, by MAC address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["macAddress"]))]
    pub reservations: Vec<DhcpReservation>,
}

/// One address that is kept for a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DhcpReservation {
    /// MAC address of the machine's interface.
    #[schemars(transform = schema::mac)]
    pub mac_address: String,
    /// Address that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub ip_address: Option<String>,
    /// Host name that the machine is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?$")
    )]
    pub hostname: Option<String>,
}
