//! Kubernetes API machinery over the store, generic over kinds.

pub mod schema;
