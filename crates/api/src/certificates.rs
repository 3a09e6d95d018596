//! Bundles of certificates in PEM, as fields hold them: read, or refused with what is wrong.
//!
//! Whether a server's certificate follows from them is left to those who talk to the server.

use base64::Engine as _;
use thiserror::Error;
use x509_parser::{parse_x509_certificate, pem::Pem};

/// What is wrong with a bundle.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum BundleError {
    /// There is no PEM in it.
    #[error(
        "holds no certificate in PEM: give the text from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----"
    )]
    Empty,
    /// It is PEM once more encoded, as the configurations of webhooks have it.
    #[error("is PEM in base64: give the PEM itself, which begins with -----BEGIN CERTIFICATE-----")]
    Encoded,
    /// A block of it does not end, or is no base64.
    #[error(
        "is broken PEM in block {number}: each begins and ends with its line, and has base64 between them"
    )]
    Broken {
        /// Which block.
        number: usize,
    },
    /// A block is something else.
    #[error("has a {label} as block {number}, and only certificates belong there")]
    Other {
        /// Which block.
        number: usize,
        /// What it says that it is.
        label: String,
    },
    /// A block says that it is a certificate and is none.
    #[error("has no X.509 certificate in block {number}, although it says so")]
    Unreadable {
        /// Which block.
        number: usize,
    },
}

/// The certificates of a bundle in PEM, each in DER; one at least.
///
/// # Errors
/// Says what is wrong, without repeating what the bundle holds.
pub fn read_bundle(text: &str) -> Result<Vec<Vec<u8>>, BundleError> {
    let mut found = Vec::new();
    for (block, number) in Pem::iter_from_buffer(text.as_bytes()).zip(1..) {
        let block = block.map_err(|_| BundleError::Broken { number })?;
        if block.label != "CERTIFICATE" {
            let label = block.label.to_lowercase();
            return Err(BundleError::Other { number, label });
        }
        match parse_x509_certificate(&block.contents) {
            Ok(([], _)) => found.push(block.contents),
            Ok(_) | Err(_) => return Err(BundleError::Unreadable { number }),
        }
    }
    match found.is_empty() {
        false => Ok(found),
        true if is_encoded(text) => Err(BundleError::Encoded),
        true => Err(BundleError::Empty),
    }
}

fn is_encoded(text: &str) -> bool {
    let packed: String = text.split_whitespace().collect();
    let decoded = base64::engine::general_purpose::STANDARD.decode(packed);
    decoded.is_ok_and(|bytes| bytes.starts_with(b"-----BEGIN"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = include_str!("../tests/support/authority.pem");

    #[test]
    fn bundles_are_read_or_refused_with_what_is_wrong() {
        assert_eq!(read_bundle(GOOD).map(|all| all.len()), Ok(1));
        assert_eq!(read_bundle(&GOOD.repeat(3)).map(|all| all.len()), Ok(3));
        let explained = format!("My authority\n{GOOD}\nand no more\n");
        assert_eq!(read_bundle(&explained).map(|all| all.len()), Ok(1));
        let encoded = base64::engine::general_purpose::STANDARD.encode(GOOD);
        let key = GOOD.replace("CERTIFICATE", "PRIVATE KEY");
        let cut = GOOD.lines().take(3).collect::<Vec<_>>().join("\n");
        let hollow = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        for (text, expected) in [
            ("", BundleError::Empty),
            ("no certificate", BundleError::Empty),
            (&encoded, BundleError::Encoded),
            (&cut, BundleError::Broken { number: 1 }),
            (hollow, BundleError::Unreadable { number: 1 }),
            (
                &format!("{GOOD}{key}"),
                BundleError::Other {
                    number: 2,
                    label: "private key".into(),
                },
            ),
        ] {
            assert_eq!(read_bundle(text), Err(expected), "{text}");
        }
    }
}
