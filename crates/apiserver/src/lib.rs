//! Kubernetes API machinery over the store, generic over kinds.
//!
//! An [`ApiServer`] is a tower service over a [`Store`]: kubectl reaches it over TLS, the engine
//! in the same process without a socket, and neither can tell it from Kubernetes for the kinds
//! that it serves. A kind is a descriptor in one registry; there is no code for a kind of a user.
//!
//! - `http` reads requests and writes answers; `watch` writes streams of events;
//! - `protobuf` reads what typed Go clients send;
//! - `resource` is what the verbs mean; `apply` and `patch` are how objects change;
//! - `schema` judges objects, `table` and `openapi` describe them;
//! - `admission` asks webhooks about writes, `conversion` turns versions into each other;
//! - `registry` knows the kinds; `background` deletes what nobody owns any more;
//! - `guard` bounds how much happens at once;
//! - `tls` and `auth` decide who gets in and who may do what; `audit` writes it down.

mod admission;
pub mod apply;
mod audit;
pub mod auth;
mod background;
mod codec;
mod conversion;
mod core;
mod definition;
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod http;
mod meta;
mod metrics;
pub mod openapi;
pub mod patch;
mod protobuf;
pub mod registry;
mod resource;
pub mod schema;
mod selector;
mod server;
pub mod status;
pub mod table;
pub mod tls;
mod watch;
pub mod webhook;

pub use crate::audit::{AuditError, AuditOptions, LogFile, PolicyError};
pub use crate::auth::{Identity, KeyError, SigningKey};
pub use crate::conversion::{Converter, Converters};
pub use crate::core::ExtraMetrics;
pub use crate::guard::Limits;
pub use crate::http::BACKUP_PATH;
pub use crate::resource::Embedded;
pub use crate::server::{ApiServer, ApiService, Options, StartError};
pub use crate::tls::{Pki, ServeError};
pub use machinist_store::Store;
