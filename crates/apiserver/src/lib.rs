//! Kubernetes API machinery over the store, generic over kinds.

pub mod openapi;
pub mod schema;
pub mod table;
