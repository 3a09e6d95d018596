//! Reads values out of Secrets, and says what is wrong with them.

use jiff::Timestamp;
use machinist_api::vitistack::machine_provider::SecretReference;
use x509_parser::{parse_x509_certificate, pem::Pem};

use super::{CredentialsError, SecretData};
use crate::provider::{Access, Confidential};

const PRIVATE_KEYS: &[&str] = &["tls.key"];
const CERTIFICATE_KEYS: &[&str] = &["tls.crt"];
const ACCOUNT_KEYS: &[&str] = &[
    "key.json",
    "service-account.json",
    "credentials.json",
    "token",
];
/// Reads values, and says what is wrong with them.
pub(super) struct Reader<'a> {
    /// The provider's own namespace.
    pub(super) own: &'a str,
    /// What there is.
    pub(super) held: &'a SecretData,
}

impl Reader<'_> {
    /// The value under the key that is named, or else under one of the usual ones.
    fn value(
        &self,
        field: &'static str,
        reference: &SecretReference,
        usual: &[&str],
    ) -> Result<(String, String, &[u8]), CredentialsError> {
        let namespace = reference.namespace.as_deref().unwrap_or(self.own);
        let name = reference.name.clone().unwrap_or_default();
        let secret = format!("{namespace}/{name}");
        let data = self.held.get(&(namespace.to_owned(), name));
        let Some(data) = data else {
            return Err(CredentialsError::NoSecret(secret));
        };
        let wanted: Vec<&str> = match &reference.key {
            Some(key) => vec![key],
            None => usual.to_vec(),
        };
        let found = wanted.iter().find_map(|key| data.get_key_value(*key));
        match found {
            Some((key, value)) => Ok((secret, key.clone(), value)),
            None => Err(CredentialsError::NoKey {
                secret,
                wanted: wanted.join(" or "),
                field,
                has: match data.is_empty() {
                    true => "it is empty".into(),
                    false => {
                        let keys: Vec<&str> = data.keys().map(String::as_str).collect();
                        format!("it has {}", keys.join(", "))
                    }
                },
            }),
        }
    }

    /// One line of text, as it can be sent. A line end is what an editor or `echo` left behind.
    pub(super) fn text(
        &self,
        field: &'static str,
        reference: &SecretReference,
        usual: &[&str],
    ) -> Result<Confidential, CredentialsError> {
        let (secret, key, value) = self.value(field, reference, usual)?;
        let text = std::str::from_utf8(value).ok().map(str::trim);
        let good = text.filter(|text| !text.is_empty() && !text.chars().any(char::is_control));
        good.map(Confidential::new)
            .ok_or(CredentialsError::Malformed {
                secret,
                key,
                what: "single line of text",
                field,
            })
    }

    /// A service account's key: a JSON object, or a token.
    pub(super) fn account(
        &self,
        field: &'static str,
        reference: &SecretReference,
    ) -> Result<Confidential, CredentialsError> {
        let (secret, key, value) = self.value(field, reference, ACCOUNT_KEYS)?;
        let text = std::str::from_utf8(value).ok().map(str::trim);
        let is_key = |text: &&str| match text.starts_with(['{', '[']) {
            true => serde_json::from_str::<serde_json::Map<_, _>>(text).is_ok(),
            false => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic()),
        };
        text.filter(is_key)
            .map(Confidential::new)
            .ok_or(CredentialsError::Malformed {
                secret,
                key,
                what: "service account's key (a JSON object or a token)",
                field,
            })
    }

    pub(super) fn certificate(
        &self,
        [of_chain, of_key]: [&'static str; 2],
        chain: &SecretReference,
        key: &SecretReference,
    ) -> Result<Access, CredentialsError> {
        let (secret, name, value) = self.value(of_chain, chain, CERTIFICATE_KEYS)?;
        let (expires, chain) = expiry(value).ok_or(CredentialsError::Malformed {
            secret,
            key: name,
            what: "certificate in PEM",
            field: of_chain,
        })?;
        let (secret, name, value) = self.value(of_key, key, PRIVATE_KEYS)?;
        let text = std::str::from_utf8(value).ok();
        let is_key = Pem::iter_from_buffer(value)
            .flatten()
            .any(|block| block.label.ends_with("PRIVATE KEY"));
        let key = text.filter(|_| is_key).map(Confidential::new);
        Ok(Access::Certificate {
            chain,
            key: key.ok_or(CredentialsError::Malformed {
                secret,
                key: name,
                what: "private key in PEM",
                field: of_key,
            })?,
            expires,
        })
    }
}

/// When the first certificate of a chain stops being valid.
fn expiry(value: &[u8]) -> Option<(Timestamp, String)> {
    let first = Pem::iter_from_buffer(value)
        .flatten()
        .find(|block| block.label == "CERTIFICATE")?;
    let (_, certificate) = parse_x509_certificate(&first.contents).ok()?;
    let until = certificate.validity().not_after.timestamp();
    let text = std::str::from_utf8(value).ok()?;
    Some((Timestamp::from_second(until).ok()?, text.to_owned()))
}
