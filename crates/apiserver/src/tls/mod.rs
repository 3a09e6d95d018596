//! The server on a socket: certificates of its own, and a listener that tells who holds one.

mod connection;
mod files;
mod lane;
mod listen;
mod pki;
mod serving;
mod socket;
mod trust;

pub use files::FileError;
pub(crate) use lane::{Tls, TlsLane};
pub(crate) use listen::serve;
pub use listen::{BindError, ServeError, bind};
pub use pki::{Pki, PkiError};
