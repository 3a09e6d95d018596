//! Kubernetes API machinery over the store, generic over kinds.

pub mod apply;
pub mod patch;
pub mod schema;
