//! IronCore: machines, and the volumes, networks and addresses that they use, in five API groups.
//!
//! Upstream serves these kinds from an API server of its own; here they are definitions, with the
//! rules that upstream's server checks as schema and CEL. What needs a look at other objects, and
//! what is filled in from them, is left to the engine.

pub mod common;
pub mod compute;
pub mod ipam;
pub mod networking;
pub mod quota;
pub mod storage;

pub use common::{
    Condition, IpFamily, LabelSelector, LabelSelectorOperator, LabelSelectorRequirement,
    LocalObjectReference, LocalUidReference, ResourceList, SecretKeySelector, Taint, TaintEffect,
    TemplateMetadata, Toleration, TolerationOperator, UidReference,
};

/// Version of the family's kinds.
pub const VERSION: &str = "v1alpha1";
