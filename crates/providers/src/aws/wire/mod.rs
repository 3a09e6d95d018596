//! EC2's query protocol: signed requests out, trees of XML back, errors with their codes.
//!
//! Nothing here knows what a machine is.

mod client;
mod credentials;
mod error;
mod query;
mod xml;

pub use client::Client;
pub use credentials::{CredentialsError, Keys};
pub use error::{AwsError, Meaning, Refusal, busy};
pub use query::{Query, VERSION};
pub use xml::{Element, XmlError};
