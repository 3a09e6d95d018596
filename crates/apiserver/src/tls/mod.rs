//! The server on a socket: certificates of its own, and a listener that lets nobody in who does
//! not hold one.

mod connection;
mod files;
mod listen;
mod pki;

pub use files::FileError;
pub(crate) use listen::serve;
pub use listen::{BindError, ServeError, bind};
pub use pki::{Pki, PkiError};
