//! The key that signs tokens, and the compact form of a signed token (JWS with ES256).
//!
//! There is one algorithm, so that a token cannot choose how it is verified.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    UnparsedPublicKey,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The algorithm of every token, as its header names it.
pub(crate) const ALGORITHM: &str = "ES256";
/// What comes before the point in the standard form of a public key on this curve.
const PUBLIC_KEY_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// Why there is no key to sign tokens with.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text is not a private key in PEM.
    #[error("the key is not PEM with a PKCS #8 private key")]
    Pem(#[source] rustls::pki_types::pem::Error),
    /// The key is not one for ES256.
    #[error("the key is not an elliptic-curve key on P-256: {0}")]
    Curve(ring::error::KeyRejected),
    /// No key could be made.
    #[error("no random numbers for a new key")]
    Random,
}

/// How many tokens are remembered as ours; with more, all are forgotten.
const REMEMBERED: usize = 1024;

/// A key that signs tokens of ServiceAccounts.
pub struct SigningKey {
    pair: EcdsaKeyPair,
    id: String,
    /// Digests of tokens that this key has signed. A signature that was good stays good, and
    /// looking at one again costs more than the rest of a small request. Whatever else makes a
    /// token good or bad is looked up each time.
    known: Mutex<HashSet<[u8; 32]>>,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl SigningKey {
    /// A new key, for a server that keeps none.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn generate() -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)
            .map_err(|_| KeyError::Random)?;
        Self::from_pkcs8(document.as_ref())
    }

    /// The key in a PEM text.
    ///
    /// # Errors
    /// When the text is not PEM, or the key not one on P-256.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(KeyError::Pem)?;
        Self::from_pkcs8(der.secret_pkcs8_der())
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random)
            .map_err(KeyError::Curve)?;
        let mut digest = Sha256::new();
        digest.update(PUBLIC_KEY_HEAD);
        digest.update(pair.public_key().as_ref());
        let id = URL_SAFE_NO_PAD.encode(digest.finalize());
        Ok(Self {
            pair,
            id,
            known: Mutex::default(),
        })
    }

    /// The public key in the form of a key set.
    pub(crate) fn public(&self) -> Value {
        // An uncompressed point: a byte that says so, and two coordinates.
        let point = self.pair.public_key().as_ref();
        let coordinate = |from: usize| {
            let bytes = point.get(from..from + 32).unwrap_or_default();
            URL_SAFE_NO_PAD.encode(bytes)
        };
        json!({
            "use": "sig",
            "kty": "EC",
            "kid": self.id,
            "crv": "P-256",
            "alg": ALGORITHM,
            "x": coordinate(1),
            "y": coordinate(33),
        })
    }

    /// A signed token with these claims; nothing when the system gives no random numbers.
    pub(crate) fn sign(&self, claims: &Value) -> Option<String> {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({"alg": ALGORITHM, "kid": self.id});
        let signed = format!("{}.{}", part(&header), part(claims));
        let signature = self
            .pair
            .sign(&SystemRandom::new(), signed.as_bytes())
            .ok()?;
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// Whether this key signed a token.
    pub(crate) fn signed(&self, token: &Unverified<'_>) -> bool {
        let ours = token.header["kid"].is_null() || token.header["kid"] == self.id.as_str();
        if !ours || token.header["alg"] != ALGORITHM {
            return false;
        }
        let mut digest = Sha256::new();
        digest.update(token.signed);
        // No signed part has a dot at its end, so this cannot be the digest of another token.
        digest.update(".");
        digest.update(&token.signature);
        let digest: [u8; 32] = digest.finalize().into();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known().contains(&digest) {
            return true;
        }
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.pair.public_key().as_ref());
        let signed = key.verify(token.signed.as_bytes(), &token.signature);
        if signed.is_ok() {
            let mut known = known();
            if known.len() >= REMEMBERED {
                known.clear();
            }
            known.insert(digest);
        }
        signed.is_ok()
    }
}

/// A token that was taken apart and not yet verified.
#[derive(Debug)]
pub(crate) struct Unverified<'a> {
    header: Value,
    pub(crate) claims: Value,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Unverified<'a> {
    /// Takes a token apart, if it is one.
    pub(crate) fn parse(token: &'a str) -> Option<Self> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        if claims.contains('.') {
            return None;
        }
        let bytes = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
        let value = |part: &str| serde_json::from_slice(&bytes(part)?).ok();
        Some(Self {
            header: value(header)?,
            claims: value(claims)?,
            signature: bytes(signature)?,
            signed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_signed_is_signed() {
        let key = SigningKey::generate().unwrap();
        let other = SigningKey::generate().unwrap();
        let token = key.sign(&json!({"sub": "me"})).unwrap();
        let parts: Vec<&str> = token.split('.').collect();
        let header = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let good = |token: &str| Unverified::parse(token).map(|t| key.signed(&t));
        assert_eq!(good(&token), Some(true));
        // What is remembered of a token is of no use to any other.
        assert_eq!(good(&token), Some(true));
        assert_eq!(key.known.lock().unwrap().len(), 1);
        assert!(!other.signed(&Unverified::parse(&token).unwrap()));
        let changed = header(json!({"sub": "you"}));
        assert_eq!(
            good(&format!("{}.{changed}.{}", parts[0], parts[2])),
            Some(false)
        );
        for wrong in [
            json!({"alg": "none"}),
            json!({"alg": "HS256", "kid": key.id}),
            json!({"alg": "ES256", "kid": "x"}),
        ] {
            assert_eq!(
                good(&format!("{}.{}.{}", header(wrong), parts[1], parts[2])),
                Some(false)
            );
        }
        assert_eq!(good(&format!("{}.{}.", parts[0], parts[1])), Some(false));
        for garbage in [
            "",
            "a",
            "a.b",
            "a.b.c",
            "a.b.c.d",
            "....",
            &format!("{token}.x"),
        ] {
            assert_eq!(good(garbage), None, "{garbage}");
        }
        assert_eq!(
            key.known.lock().unwrap().len(),
            1,
            "what is bad is not kept"
        );
    }

    #[test]
    fn a_key_is_kept_as_pem() {
        let pem = rcgen::KeyPair::generate().unwrap().serialize_pem();
        let [first, second] = [&pem, &pem].map(|pem| SigningKey::from_pem(pem).unwrap());
        let token = first.sign(&json!({})).unwrap();
        assert!(second.signed(&Unverified::parse(&token).unwrap()));
        assert_eq!(first.public(), second.public());
        assert!(SigningKey::from_pem("no key").is_err());
    }
}
