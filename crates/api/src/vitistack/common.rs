//! What several kinds say in the same words: references, name servers, verdicts and phases.
//!
//! What is referred to is looked up by those who read the object.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::wire_enum::wire_enum;

/// Names another object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct ObjectRef {
    /// Name of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required, length(min = 1, max = 253))]
    pub name: Option<String>,
    /// Namespace of the object; the namespace of this object when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}

/// Name servers and search domains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dns {
    /// Addresses of the name servers, first choice first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = schema::ips, extend("x-kubernetes-list-type" = "atomic"))]
    pub servers: Vec<String>,
    /// Domains that short names are looked up in, first choice first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), transform = schema::domains, extend("x-kubernetes-list-type" = "atomic"))]
    pub search_domains: Vec<String>,
}

wire_enum! {
    /// What happens to traffic.
    Verdict {
        /// It passes.
        Allow = "allow",
        /// It is dropped.
        Deny = "deny",
    }
}

wire_enum! {
    /// How addresses reach interfaces.
    #[derive(Default)]
    AllocationMethod {
        /// By DHCP.
        #[default]
        Dhcp = "dhcp",
        /// By hand, or by an operator that picks them.
        Static = "static",
    }
}
