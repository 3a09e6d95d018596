//! Where addresses come from: written down, or made for what needs them and gone with it.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::virtual_ip::PublicType;
use crate::ironcore::common::{
    IpFamily, LocalObjectReference, LocalUidReference, TemplateMetadata,
};
use crate::ironcore::ipam::{PrefixSpec, PrefixTemplate};
use crate::schema::{self, Rule, add_rules};
use crate::wire_enum::wire_enum;

wire_enum! {
    /// What becomes of an address when what it was made for goes.
    ReclaimPolicy {
        /// It stays.
        Retain = "Retain",
        /// It goes too.
        Delete = "Delete",
    }
}

/// Where one address comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = value_or_ephemeral)]
pub struct IpSource {
    /// The address itself; give either this or ephemeral.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::ip)]
    pub value: Option<String>,
    /// Address that is taken from a Prefix; give either this or value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<EphemeralIp>,
}

/// An address that is taken from a Prefix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EphemeralIp {
    /// What the Prefix of the one address is made from.
    pub prefix_template: IpTemplate,
}

/// What the Prefix of one address is made from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IpTemplate {
    /// Labels and annotations of the prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// What the prefix should be: a single address; family and length follow from where it is used unless given.
    #[schemars(transform = single_address)]
    pub spec: PrefixSpec,
}

/// Where a range of addresses comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = value_or_ephemeral)]
pub struct PrefixSource {
    /// The range itself; give either this or ephemeral.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cidr)]
    pub value: Option<String>,
    /// Range that is taken from a Prefix; give either this or value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<EphemeralPrefix>,
}

/// A range that is taken from a Prefix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EphemeralPrefix {
    /// What the Prefix is made from.
    pub prefix_template: PrefixTemplate,
}

/// Where a public address comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(transform = reference_or_ephemeral)]
pub struct VirtualIpSource {
    /// VirtualIP that is used; give either this or ephemeral.
    #[serde(rename = "virtualIPRef", skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::label_reference)]
    pub virtual_ip_ref: Option<LocalObjectReference>,
    /// VirtualIP that is made with the interface; give either this or virtualIPRef.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<EphemeralVirtualIp>,
}

/// A VirtualIP that is made with the interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EphemeralVirtualIp {
    /// What the VirtualIP is made from.
    #[serde(rename = "virtualIPTemplate")]
    pub virtual_ip_template: VirtualIpTemplate,
}

/// What a VirtualIP is made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VirtualIpTemplate {
    /// Labels and annotations of the VirtualIP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMetadata>,
    /// What the VirtualIP should be.
    pub spec: EphemeralVirtualIpSpec,
}

/// What a VirtualIP that is made with an interface should be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EphemeralVirtualIpSpec {
    /// Kind of address: Public.
    #[serde(rename = "type")]
    pub type_: PublicType,
    /// Family of the address: IPv4 or IPv6.
    pub ip_family: IpFamily,
    /// What the address leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::label_reference)]
    pub target_ref: Option<LocalUidReference>,
    /// What becomes of the address when the interface goes: Retain or Delete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reclaim_policy: Option<ReclaimPolicy>,
}

fn value_or_ephemeral(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "has(self.value) != has(self.ephemeral)",
        "an address needs one source: give either value or ephemeral",
    )
    .demanded()];
    add_rules(schema, RULES);
}

fn reference_or_ephemeral(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "has(self.virtualIPRef) != has(self.ephemeral)",
        "virtualIP needs one source: give either virtualIPRef or ephemeral",
    )
    .demanded()];
    add_rules(schema, RULES);
}

/// A prefix of one address. What any other prefix must say follows here from where it stands, so
/// its rules do not apply.
fn single_address(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!has(self.prefix) || !isCIDR(self.prefix) || cidr(self.prefix).prefixLength() \
             == (cidr(self.prefix).ip().family() == 4 ? 32 : 128)",
            "prefix must be a single address, such as 10.0.0.7/32",
        )
        .about(".prefix", "self.prefix"),
        Rule::new(
            "!has(self.prefixLength) || self.prefixLength == 128 \
             || (self.prefixLength == 32 && (!has(self.ipFamily) || self.ipFamily == 'IPv4'))",
            "prefixLength must be that of a single address: 32 with IPv4, 128 with IPv6",
        )
        .counting(".prefixLength", "self.prefixLength"),
    ];
    schema.remove("x-kubernetes-validations");
    add_rules(schema, RULES);
}
