//! Tokens of ServiceAccounts: issued with the claims of Kubernetes, and verified against the
//! accounts and secrets that they name, as those are now.

mod key;

use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) use key::ALGORITHM;
use key::Unverified;
pub use key::{KeyError, SigningKey};

use super::rbac::go_list;
use super::{CREDENTIAL, Identity};
use crate::core::Core;
use crate::{codec, meta};

/// Who issues tokens; also the audience of tokens for this server.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";
/// Who issues the tokens that lie in secrets.
const SECRET_ISSUER: &str = "kubernetes/serviceaccount";
/// How far clocks may differ, in seconds.
const LEEWAY: i64 = 60;

/// The type of the secrets that hold tokens.
pub(crate) const SECRET_TYPE: &str = "kubernetes.io/service-account-token";
/// The annotation of such a secret that names its account.
pub(crate) const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
/// The annotation of such a secret with the UID of its account.
pub(crate) const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// Why a token is not good.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenError {
    #[error("invalid bearer token")]
    Foreign,
    #[error("token audiences {found} is invalid for the target audiences {wanted}")]
    Audience { found: String, wanted: String },
    #[error("service account token has expired")]
    Expired,
    #[error("service account token is not valid yet")]
    NotYet,
    #[error("service account token has been invalidated")]
    Invalidated,
    #[error("Token has been invalidated")]
    SecretGone,
    #[error("Token does not match server's copy")]
    SecretDiffers,
    #[error("serviceaccounts \"{0}\" not found")]
    NoAccount(String),
    #[error("service account UID ({found}) does not match claim ({claimed})")]
    AccountUid { found: String, claimed: String },
}

/// The holder of a token, and whom the token is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) identity: Identity,
    pub(crate) audiences: Vec<String>,
}

/// An object that a token is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) uid: String,
}

impl Named {
    /// The name and UID of an object.
    pub(crate) fn of(object: &Value) -> Self {
        Self {
            name: meta::name(object).to_owned(),
            uid: meta::uid(object).to_owned(),
        }
    }

    fn claim(&self) -> Value {
        json!({"name": self.name, "uid": self.uid})
    }
}

/// What a token is to say.
#[derive(Debug)]
pub(crate) struct Grant<'a> {
    pub(crate) namespace: &'a str,
    pub(crate) account: Named,
    /// A secret with whose end the token ends.
    pub(crate) secret: Option<Named>,
    pub(crate) audiences: Vec<String>,
    /// How long it holds, in seconds.
    pub(crate) seconds: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Claims {
    aud: Audiences,
    exp: i64,
    nbf: i64,
    jti: String,
    #[serde(rename = "kubernetes.io")]
    kubernetes: Private,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Private {
    namespace: String,
    serviceaccount: Named,
    secret: Option<Named>,
    // Tokens for pods and nodes are never issued here, so one that says so is not ours.
    pod: Option<Value>,
    node: Option<Value>,
}

/// One audience, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audiences {
    One(String),
    Many(Vec<String>),
}

impl Default for Audiences {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

/// The user that an account is.
pub(crate) fn account_user(namespace: &str, account: &Named) -> Identity {
    Identity {
        user: format!("system:serviceaccount:{namespace}:{}", account.name),
        uid: account.uid.clone(),
        groups: vec![
            "system:serviceaccounts".into(),
            format!("system:serviceaccounts:{namespace}"),
            super::AUTHENTICATED.into(),
        ],
        ..Identity::default()
    }
}

impl Core {
    /// A token, signed; nothing when the system gives no random numbers.
    pub(crate) fn issue(&self, grant: &Grant<'_>) -> Option<String> {
        let now = jiff::Timestamp::now().as_second();
        let mut private = json!({
            "namespace": grant.namespace,
            "serviceaccount": grant.account.claim(),
        });
        if let Some(secret) = &grant.secret {
            private["secret"] = secret.claim();
        }
        self.signing_key.sign(&json!({
            "aud": grant.audiences,
            "exp": now + grant.seconds,
            "iat": now,
            "iss": ISSUER,
            "jti": uuid::Uuid::new_v4().to_string(),
            "kubernetes.io": private,
            "nbf": now,
            "sub": format!("system:serviceaccount:{}:{}", grant.namespace, grant.account.name),
        }))
    }

    /// The token that a secret holds for as long as the secret is there.
    pub(crate) fn issue_for_secret(
        &self,
        namespace: &str,
        account: &Named,
        secret: &str,
    ) -> Option<String> {
        self.signing_key.sign(&json!({
            "iss": SECRET_ISSUER,
            "kubernetes.io/serviceaccount/namespace": namespace,
            "kubernetes.io/serviceaccount/secret.name": secret,
            "kubernetes.io/serviceaccount/service-account.name": account.name,
            "kubernetes.io/serviceaccount/service-account.uid": account.uid,
            "sub": format!("system:serviceaccount:{namespace}:{}", account.name),
        }))
    }

    /// Who holds a token that is meant for one of these audiences; none means this server.
    pub(crate) fn token_holder(
        &self,
        token: &str,
        audiences: &[&str],
    ) -> Result<Holder, TokenError> {
        let unverified = Unverified::parse(token).ok_or(TokenError::Foreign)?;
        let issuer = unverified.claims["iss"].as_str().unwrap_or_default();
        if !matches!(issuer, ISSUER | SECRET_ISSUER) || !self.signing_key.signed(&unverified) {
            return Err(TokenError::Foreign);
        }
        let wanted = if audiences.is_empty() {
            &[ISSUER][..]
        } else {
            audiences
        };
        if issuer == SECRET_ISSUER {
            let identity = self.holder_by_secret(token, &unverified.claims)?;
            let audiences = common(&[ISSUER.to_owned()], wanted)?;
            return Ok(Holder {
                identity,
                audiences,
            });
        }
        let claims = Claims::deserialize(&unverified.claims).map_err(|_| TokenError::Foreign)?;
        let found = match &claims.aud {
            Audiences::One(one) => std::slice::from_ref(one),
            Audiences::Many(many) => many,
        };
        let audiences = common(found, wanted)?;
        let identity = self.holder_by_claims(&claims, jiff::Timestamp::now().as_second())?;
        Ok(Holder {
            identity,
            audiences,
        })
    }

    fn holder_by_claims(&self, claims: &Claims, now: i64) -> Result<Identity, TokenError> {
        if now > claims.exp + LEEWAY {
            return Err(TokenError::Expired);
        }
        if now + LEEWAY < claims.nbf {
            return Err(TokenError::NotYet);
        }
        let Private {
            namespace,
            serviceaccount,
            secret,
            pod,
            node,
        } = &claims.kubernetes;
        if pod.is_some() || node.is_some() {
            return Err(TokenError::Invalidated);
        }
        self.live_account(namespace, serviceaccount)?;
        if let Some(secret) = secret {
            let live = self.find("secrets", namespace, &secret.name);
            let live = live.filter(|live| !meta::is_deleting(live));
            if live.is_none_or(|live| meta::uid(&live) != secret.uid) {
                return Err(TokenError::Invalidated);
            }
        }
        let mut identity = account_user(namespace, serviceaccount);
        if !claims.jti.is_empty() {
            let id = format!("JTI={}", claims.jti);
            identity.extra.insert(CREDENTIAL.into(), vec![id]);
        }
        Ok(identity)
    }

    fn holder_by_secret(&self, token: &str, claims: &Value) -> Result<Identity, TokenError> {
        let text = |claim: &str| {
            let claim = format!("kubernetes.io/serviceaccount/{claim}");
            claims[claim].as_str().unwrap_or_default().to_owned()
        };
        let namespace = text("namespace");
        let account = Named {
            name: text("service-account.name"),
            uid: text("service-account.uid"),
        };
        let secret = self.find("secrets", &namespace, &text("secret.name"));
        let secret = secret.filter(|secret| !meta::is_deleting(secret));
        let secret = secret.ok_or(TokenError::SecretGone)?;
        let kept = secret["data"]["token"].as_str().unwrap_or_default();
        if kept != base64_of(token) {
            return Err(TokenError::SecretDiffers);
        }
        self.live_account(&namespace, &account)?;
        Ok(account_user(&namespace, &account))
    }

    fn live_account(&self, namespace: &str, account: &Named) -> Result<(), TokenError> {
        let live = self.find("serviceaccounts", namespace, &account.name);
        let live = live.filter(|live| !meta::is_deleting(live));
        let live = live.ok_or_else(|| TokenError::NoAccount(account.name.clone()))?;
        if meta::uid(&live) != account.uid {
            return Err(TokenError::AccountUid {
                found: meta::uid(&live).to_owned(),
                claimed: account.uid.clone(),
            });
        }
        Ok(())
    }

    /// An object of the core group as it is in the store.
    fn find(&self, plural: &str, namespace: &str, name: &str) -> Option<Value> {
        let entry = self
            .store
            .get(&format!("/core/{plural}/{namespace}/{name}"))?;
        Some(codec::decode_value(&entry.value))
    }
}

fn base64_of(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// The audiences that are both in a token and wanted.
fn common(found: &[String], wanted: &[&str]) -> Result<Vec<String>, TokenError> {
    let both: Vec<String> = found
        .iter()
        .filter(|one| wanted.contains(&one.as_str()))
        .cloned()
        .collect();
    if both.is_empty() {
        let wanted: Vec<String> = wanted.iter().map(|w| (*w).to_owned()).collect();
        return Err(TokenError::Audience {
            found: go_list(found),
            wanted: go_list(&wanted),
        });
    }
    Ok(both)
}
