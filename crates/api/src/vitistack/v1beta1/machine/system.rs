//! What runs inside a machine, v1beta1: operating system and image.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::vitistack::machine::OsType;
use crate::wire_enum::wire_enum;

wire_enum! {
    /// CPU architecture of a machine, each under one name.
    Architecture {
        /// 64-bit x86.
        Amd64 = "amd64",
        /// 64-bit Arm.
        Arm64 = "arm64",
    }
}

/// The operating system of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Os {
    /// Type of the operating system: linux, windows or freebsd.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_: Option<OsType>,
    /// Distribution, such as ubuntu, centos or windows-server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub distribution: Option<String>,
    /// Version of the distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub version: Option<String>,
    /// CPU architecture: amd64 or arm64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
}

/// The image that the machine is made from, named in one way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = rules::image)]
pub struct Image {
    /// The platform's own ID of the image, or the name of one of the provider's images.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub id: Option<String>,
    /// Image family or marketplace image, of which the newest is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub family: Option<String>,
    /// URL of a cloud image.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub url: Option<String>,
    /// Name of a template of the platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub template: Option<String>,
    /// URL of an installation medium.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4096))]
    pub iso: Option<String>,
}
