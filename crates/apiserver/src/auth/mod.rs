//! Who a caller is.
//!
//! An [`Identity`] is put into a request's extensions by whatever accepted the request: today the
//! TLS listener, from the client's certificate, and in-process callers. A front proxy's headers
//! or a bearer token are one more way to make one; the rest of the server does not change.

pub(crate) mod attributes;
pub(crate) mod authenticate;
pub(crate) mod impersonate;
pub(crate) mod rbac;
pub(crate) mod token;

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};
use x509_parser::prelude::{FromDer as _, X509Certificate};

pub(crate) use attributes::{Action, Attributes};
pub use token::{KeyError, SigningKey};

/// The group to which nothing is refused.
pub(crate) const MASTERS: &str = "system:masters";
/// The group of everyone whom somebody vouched for.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";

/// What else is said of a caller: by which credential they are known.
const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";

/// A caller, as certificates and tokens name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The user's name.
    pub user: String,
    /// The groups that the user belongs to.
    pub groups: Vec<String>,
    /// What tells this user from others of the same name over time; may be empty.
    pub uid: String,
    /// What else whoever vouched for the user said of them.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// Why a certificate does not say who its holder is.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// It is not an X.509 certificate.
    #[error("the client's certificate cannot be read")]
    Unreadable(#[source] x509_parser::nom::Err<x509_parser::error::X509Error>),
    /// It names nobody.
    #[error("the client's certificate has no common name")]
    Nameless,
}

impl Identity {
    /// The administrator, for callers within the process.
    pub fn admin() -> Self {
        Self {
            user: "machinist-admin".into(),
            groups: vec![MASTERS.into(), AUTHENTICATED.into()],
            ..Self::default()
        }
    }

    /// The holder of a certificate: its common name, and its organisations as groups.
    ///
    /// # Errors
    /// When the certificate cannot be read or names nobody. Whether it is genuine was decided
    /// before, in the handshake.
    pub fn from_certificate(der: &[u8]) -> Result<Self, IdentityError> {
        let (_, certificate) = X509Certificate::from_der(der).map_err(IdentityError::Unreadable)?;
        let subject = certificate.subject();
        let user = subject
            .iter_common_name()
            .next()
            .and_then(|name| name.as_str().ok());
        let user = user
            .filter(|u| !u.is_empty())
            .ok_or(IdentityError::Nameless)?
            .to_owned();
        let organisations = subject.iter_organization().filter_map(|o| o.as_str().ok());
        let fingerprint: String = Sha256::digest(der)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let credential = format!("X509SHA256={fingerprint}");
        Ok(Self {
            user,
            groups: organisations.map(str::to_owned).collect(),
            uid: String::new(),
            extra: BTreeMap::from([(CREDENTIAL.to_owned(), vec![credential])]),
        })
    }
}
