//! The Secrets that a provider refers to, in each documented form, and what they must hold.
//!
//! Reading them is left to the engine; whether the platform accepts them, to the platform.

mod read;

use std::collections::BTreeMap;

use machinist_api::vitistack::machine_provider::{
    Authentication, AuthenticationType, CredentialsType, MachineProvider, SecretReference,
};
use thiserror::Error;

use crate::provider::{Access, OAuth2};
use read::Reader;

/// Namespace and name of a Secret.
pub type SecretName = (String, String);
/// What Secrets hold, by key.
pub type SecretData = BTreeMap<SecretName, BTreeMap<String, Vec<u8>>>;

/// Under which names an API key or a token is looked for when the provider names none.
const TOKEN_KEYS: &[&str] = &["token", "api-key", "apiKey", "apikey"];
const CLIENT_SECRET_KEYS: &[&str] = &["client-secret", "clientSecret", "client_secret"];
const USER_KEYS: &[&str] = &["username", "user"];
const PASSWORD_KEYS: &[&str] = &["password"];

/// Why what Secrets hold cannot be used. It names Secrets and keys, never values.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum CredentialsError {
    /// The Secret is not there.
    #[error(
        "Secret {0}, which the provider refers to, does not exist; create it, or have the provider refer to another"
    )]
    NoSecret(String),
    /// The Secret has no such key.
    #[error("Secret {secret} has no key {wanted}, which {field} needs; {has}")]
    NoKey {
        /// The Secret.
        secret: String,
        /// The key, or those of which one is needed.
        wanted: String,
        /// The field that asks for it.
        field: &'static str,
        /// The keys that it has.
        has: String,
    },
    /// The value is not what it must be.
    #[error("key {key} of Secret {secret} is no {what}, which {field} needs")]
    Malformed {
        /// The Secret.
        secret: String,
        /// The key.
        key: String,
        /// What it must be.
        what: &'static str,
        /// The field that asks for it.
        field: &'static str,
    },
    /// The provider itself does not say enough.
    #[error("{field} is missing: {why}")]
    NoField {
        /// The field.
        field: &'static str,
        /// What it is for.
        why: &'static str,
    },
}

impl CredentialsError {
    /// A stable word.
    pub fn reason(&self) -> &'static str {
        match self {
            CredentialsError::NoSecret(_) => "SecretNotFound",
            CredentialsError::NoKey { .. } => "SecretKeyNotFound",
            CredentialsError::Malformed { .. } => "SecretMalformed",
            CredentialsError::NoField { .. } => "CredentialsIncomplete",
        }
    }
}

/// The Secrets that a provider refers to: namespace (its own unless given) and name, each once.
pub fn secret_names(provider: &MachineProvider) -> Vec<SecretName> {
    let own = provider.metadata.namespace.clone().unwrap_or_default();
    let mut names: Vec<SecretName> = references(provider)
        .filter_map(|(namespace, name)| {
            let namespace = namespace.cloned().unwrap_or_else(|| own.clone());
            Some((namespace, name?.clone()))
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Namespace and name of every Secret that a provider refers to, in each documented form.
fn references(
    provider: &MachineProvider,
) -> impl Iterator<Item = (Option<&String>, Option<&String>)> {
    let authentication = provider.spec.authentication.as_ref();
    let keys = authentication.and_then(|a| a.api_key.as_ref()?.secret_ref.as_ref());
    let oauth2 = authentication.and_then(|a| a.oauth2.as_ref()?.client_secret_ref.as_ref());
    let certificate = authentication.and_then(|a| a.certificate.as_ref()?.cert_secret_ref.as_ref());
    let key = authentication.and_then(|a| a.certificate.as_ref()?.key_secret_ref.as_ref());
    let service_account = authentication.and_then(|a| a.service_account.as_ref());
    let account = service_account.and_then(|s| s.secret_ref.as_ref());
    let credentials = provider
        .spec
        .credentials
        .as_ref()
        .and_then(|c| c.secret_ref.as_ref());
    let documented = [keys, oauth2, certificate, key, account, credentials]
        .into_iter()
        .flatten()
        .map(|secret| (secret.namespace.as_ref(), secret.name.as_ref()));
    let shipped = [
        authentication.and_then(|a| a.credentials_ref.as_ref()),
        service_account.and_then(|s| s.key_ref.as_ref()),
    ]
    .into_iter()
    .flatten()
    .map(|secret| {
        let name = secret.name.as_ref().or(secret.secret_name.as_ref());
        (secret.namespace.as_ref(), name)
    });
    documented.chain(shipped)
}

/// With what the provider's driver proves who it is.
///
/// # Errors
/// Names the Secret and the key that is missing or is not what it must be.
pub fn access(provider: &MachineProvider, held: &SecretData) -> Result<Access, CredentialsError> {
    for (namespace, name) in secret_names(provider) {
        let shown = format!("{namespace}/{name}");
        let there = held.contains_key(&(namespace, name));
        if !there {
            return Err(CredentialsError::NoSecret(shown));
        }
    }
    let own = provider.metadata.namespace.as_deref().unwrap_or_default();
    let reader = Reader { own, held };
    match &provider.spec.authentication {
        Some(declared) => authentication(declared, &reader),
        None => credentials(provider, &reader),
    }
}

fn authentication(
    declared: &Authentication,
    reader: &Reader<'_>,
) -> Result<Access, CredentialsError> {
    // What is filled in says the method where no type does.
    let is = |kind: AuthenticationType, filled: bool| match declared.type_ {
        Some(type_) => type_ == kind,
        None => filled,
    };
    if is(AuthenticationType::ApiKey, declared.api_key.is_some()) {
        let field = "spec.authentication.apiKey.secretRef";
        let reference = declared
            .api_key
            .as_ref()
            .and_then(|a| a.secret_ref.as_ref());
        let Some(reference) = reference else {
            return Ok(Access::Opaque);
        };
        // Without a key the Secret holds what the platform itself asks for.
        return match reference.key {
            Some(_) => Ok(Access::Token(reader.text(field, reference, TOKEN_KEYS)?)),
            None => Ok(reader
                .text(field, reference, TOKEN_KEYS)
                .map_or(Access::Opaque, Access::Token)),
        };
    }
    if is(AuthenticationType::OAuth2, declared.oauth2.is_some()) {
        return oauth2(declared, reader);
    }
    if is(
        AuthenticationType::Certificate,
        declared.certificate.is_some(),
    ) && let Some(certificate) = &declared.certificate
    {
        let chain = certificate.cert_secret_ref.as_ref();
        let key = certificate.key_secret_ref.as_ref();
        let (Some(chain), Some(key)) = (chain, key) else {
            return Ok(Access::Opaque);
        };
        let fields = [
            "spec.authentication.certificate.certSecretRef",
            "spec.authentication.certificate.keySecretRef",
        ];
        return reader.certificate(fields, chain, key);
    }
    let account = declared.service_account.as_ref();
    if let Some(reference) = account.and_then(|account| account.secret_ref.as_ref()) {
        let field = "spec.authentication.serviceAccount.secretRef";
        return Ok(Access::Account(reader.account(field, reference)?));
    }
    Ok(Access::Opaque)
}

fn oauth2(declared: &Authentication, reader: &Reader<'_>) -> Result<Access, CredentialsError> {
    let oauth2 = declared.oauth2.clone().unwrap_or_default();
    let missing = |field, why| CredentialsError::NoField { field, why };
    let client = oauth2.client_id.ok_or(missing(
        "spec.authentication.oauth2.clientId",
        "the ID of the client that asks for tokens",
    ))?;
    let url = oauth2.token_url.ok_or(missing(
        "spec.authentication.oauth2.tokenURL",
        "the URL at which tokens are issued",
    ))?;
    let field = "spec.authentication.oauth2.clientSecretRef";
    let reference = oauth2
        .client_secret_ref
        .ok_or(missing(field, "the Secret with the client's secret"))?;
    Ok(Access::OAuth2(OAuth2 {
        client,
        secret: reader.text(field, &reference, CLIENT_SECRET_KEYS)?,
        url,
        scopes: oauth2.scopes,
    }))
}

fn credentials(
    provider: &MachineProvider,
    reader: &Reader<'_>,
) -> Result<Access, CredentialsError> {
    let field = "spec.credentials";
    let Some(declared) = &provider.spec.credentials else {
        return Ok(Access::Opaque);
    };
    let Some(reference) = &declared.secret_ref else {
        return Ok(Access::Opaque);
    };
    let whole = SecretReference {
        key: None,
        ..reference.clone()
    };
    match declared.type_ {
        Some(CredentialsType::Password) => Ok(Access::Password {
            user: reader.text(field, &whole, USER_KEYS)?.reveal().to_owned(),
            password: reader.text(field, reference, PASSWORD_KEYS)?,
        }),
        Some(CredentialsType::Token) => {
            Ok(Access::Token(reader.text(field, reference, TOKEN_KEYS)?))
        }
        Some(CredentialsType::Certificate) => reader.certificate([field, field], reference, &whole),
        None => Ok(Access::Opaque),
    }
}
