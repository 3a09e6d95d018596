//! With what a driver proves who it is: the declared method, with what the Secrets hold.
//!
//! Fetching tokens is left to the drivers' shared client, reading Secrets to the engine.

use std::fmt;

use jiff::Timestamp;

/// With what a driver proves who it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Access {
    /// No method is declared, or one whose meaning only the driver knows: it takes what it needs
    /// from [`Credentials`](super::Credentials).
    #[default]
    Opaque,
    /// A key or token that goes with each call as it is.
    Token(Confidential),
    /// A name and a password.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: Confidential,
    },
    /// A client certificate.
    Certificate {
        /// The certificate, and those of its authorities, in PEM.
        chain: String,
        /// The private key in PEM.
        key: Confidential,
        /// When the certificate stops being valid.
        expires: Timestamp,
    },
    /// A service account's key: JSON, or a token.
    Account(Confidential),
    /// An OAuth2 client, which gets a token for a while.
    OAuth2(OAuth2),
}

/// An OAuth2 client that acts for itself (RFC 6749, section 4.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuth2 {
    /// The client's ID.
    pub client: String,
    /// The client's secret.
    pub secret: Confidential,
    /// Where tokens are issued.
    pub url: String,
    /// What is asked for.
    pub scopes: Vec<String>,
}

impl Access {
    /// When it stops being valid, as far as it tells by itself.
    pub fn expires(&self) -> Option<Timestamp> {
        match self {
            Access::Certificate { expires, .. } => Some(*expires),
            Access::Opaque
            | Access::Token(_)
            | Access::Password { .. }
            | Access::Account(_)
            | Access::OAuth2(_) => None,
        }
    }
}

/// Text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Confidential(String);

impl Confidential {
    /// Wraps it.
    pub fn new(text: impl Into<String>) -> Confidential {
        Confidential(text.into())
    }

    /// The text, for the one who sends it to the platform.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Confidential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
