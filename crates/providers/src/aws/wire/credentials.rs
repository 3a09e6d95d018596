//! The keys that requests are signed with, as a Secret holds them. They are never shown.

use std::fmt;

use machinist_core::provider::Credentials;
use thiserror::Error;

/// Under which names a Secret may hold a value: as documented, and as AWS's own tools call it.
const ACCESS_KEY: [&str; 3] = ["access-key-id", "AWS_ACCESS_KEY_ID", "aws_access_key_id"];
const SECRET_KEY: [&str; 3] = [
    "secret-access-key",
    "AWS_SECRET_ACCESS_KEY",
    "aws_secret_access_key",
];
const SESSION_TOKEN: [&str; 3] = ["session-token", "AWS_SESSION_TOKEN", "aws_session_token"];

/// Access key, secret key and, for keys that expire, the session's token.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    access: String,
    secret: String,
    session: Option<String>,
}

/// Why a Secret's content cannot be used; it names keys of the Secret, never values.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CredentialsError {
    /// A value is not there.
    #[error(
        "the provider's Secret has no {0:?}; it needs \"access-key-id\" and \"secret-access-key\""
    )]
    Missing(&'static str),
    /// A value is not text that can be sent.
    #[error("{0:?} of the provider's Secret is not plain text without spaces")]
    Form(&'static str),
}

impl Keys {
    /// Takes them from what the Secrets hold.
    ///
    /// # Errors
    /// When one is missing or cannot be a key.
    pub fn of(held: &Credentials) -> Result<Keys, CredentialsError> {
        let [access, secret, session] = [ACCESS_KEY, SECRET_KEY, SESSION_TOKEN].map(|names| {
            let found = names.iter().find_map(|name| held.get(name));
            found.map(|bytes| plain(names[0], bytes)).transpose()
        });
        Ok(Keys {
            access: access?.ok_or(CredentialsError::Missing(ACCESS_KEY[0]))?,
            secret: secret?.ok_or(CredentialsError::Missing(SECRET_KEY[0]))?,
            session: session?,
        })
    }

    pub(super) fn identity(&self) -> aws_credential_types::Credentials {
        aws_credential_types::Credentials::new(
            &self.access,
            &self.secret,
            self.session.clone(),
            None,
            "machinist",
        )
    }
}

/// A line end is what an editor or `echo` left behind.
fn plain(name: &'static str, bytes: &[u8]) -> Result<String, CredentialsError> {
    let text = std::str::from_utf8(bytes).map_err(|_| CredentialsError::Form(name))?;
    let text = text.trim();
    let good = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    good.then(|| text.to_owned())
        .ok_or(CredentialsError::Form(name))
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(held: &[(&str, &[u8])]) -> Result<Keys, CredentialsError> {
        let held = held
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.to_vec()));
        Keys::of(&Credentials::new(held.collect()))
    }

    #[test]
    fn keys_are_found_under_either_name_and_never_shown() {
        let documented = check(&[
            ("access-key-id", b"AKIA\n"),
            ("secret-access-key", b"s3cr3t"),
        ]);
        let tools = check(&[
            ("AWS_ACCESS_KEY_ID", b"AKIA"),
            ("AWS_SECRET_ACCESS_KEY", b"s3cr3t"),
        ]);
        let keys = documented.unwrap();
        assert_eq!(tools, Ok(keys.clone()));
        let shown = format!("{keys:?} {:?}", keys.identity());
        assert!(!shown.contains("s3cr3t"), "{shown}");
    }

    #[test]
    fn what_is_missing_or_no_key_is_named() {
        let missing = check(&[("access-key-id", b"AKIA")]);
        assert_eq!(missing, Err(CredentialsError::Missing("secret-access-key")));
        let broken = check(&[("access-key-id", b"AKIA"), ("secret-access-key", b"a b")]);
        assert_eq!(broken, Err(CredentialsError::Form("secret-access-key")));
        let binary = check(&[("access-key-id", &[0xff])]);
        assert_eq!(binary, Err(CredentialsError::Form("access-key-id")));
    }
}
