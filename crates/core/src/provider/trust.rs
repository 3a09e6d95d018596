//! How a driver knows that it talks to its platform: what the endpoint's certificate is checked against.
//!
//! Checking is left to the drivers' shared client.

/// What the certificate of a platform's endpoint is checked against.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// The authorities that this host trusts.
    #[default]
    Usual,
    /// These certificates in PEM, as they are declared; nobody has read them yet.
    Bundle(String),
    /// Nothing: whoever answers is believed.
    Unchecked,
}
