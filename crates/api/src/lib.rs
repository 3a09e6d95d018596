//! The wire: every kind that Machinist serves, one file a kind, and the CRDs generated from them.
//!
//! Types here say what a manifest may look like; what it means is left to the domain model in
//! `machinist-core`. There is no I/O, no client and no async runtime in this crate.
#![allow(
    clippy::duplicated_attributes,
    reason = "two columns of one type are two columns"
)]

pub mod admission;
pub mod build;
pub mod certificates;
pub mod conditions;
pub mod convert;
pub mod crds;
#[doc(hidden)]
pub mod fuzzing;
pub mod ironcore;
pub mod kupenstack;
pub mod names;
pub mod quantity;
pub mod reference;
mod schema;
pub mod unstructured;
pub mod vitistack;
mod wire_enum;

pub use crds::{crd_yaml, crds};
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
pub use wire_enum::UnknownWord;
