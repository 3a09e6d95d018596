//! Whom a certificate speaks for. The handshake only proves that a client holds the key of the
//! certificate that it shows; whose signature is on it decides afterwards who the client is. So a
//! client with no certificate, or with one of somebody else, can still show a token.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::pki::PkiError;
use crate::auth::Identity;
use crate::auth::authenticate::Peer;

/// The authorities whose word counts.
#[derive(Debug, Clone)]
pub(super) struct Trust {
    clients: Arc<dyn ClientCertVerifier>,
    proxies: Option<Proxies>,
}

/// The proxies that may speak for others.
#[derive(Debug, Clone)]
struct Proxies {
    verifier: Arc<dyn ClientCertVerifier>,
    /// The names that they may have; none means all.
    names: Vec<String>,
}

/// A verifier of the clients of an authority.
fn verifier(authority: &str) -> Result<Arc<dyn ClientCertVerifier>, PkiError> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
        let certificate = certificate.map_err(|source| PkiError::Pem {
            path: "the authority of clients".into(),
            source,
        })?;
        roots.add(certificate)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build()?)
}

impl Trust {
    /// Trust in an authority for clients, and in one for proxies with the names that they may have.
    pub(super) fn new(
        clients: &str,
        proxies: Option<&(String, Vec<String>)>,
    ) -> Result<Self, PkiError> {
        let proxies = match proxies {
            Some((authority, names)) => Some(Proxies {
                verifier: verifier(authority)?,
                names: names.clone(),
            }),
            None => None,
        };
        Ok(Self {
            clients: verifier(clients)?,
            proxies,
        })
    }

    /// What to do in the handshake.
    pub(super) fn handshake(&self) -> Arc<dyn ClientCertVerifier> {
        Arc::new(AnyHolder(self.clients.clone()))
    }

    /// Whom the certificates of a connection speak for.
    pub(super) fn peer(&self, certificates: Option<&[CertificateDer<'_>]>) -> Peer {
        let Some([leaf, others @ ..]) = certificates else {
            return Peer::default();
        };
        let now = UnixTime::now();
        let signed_by = |verifier: &Arc<dyn ClientCertVerifier>| {
            verifier.verify_client_cert(leaf, others, now).is_ok()
        };
        let Ok((_, certificate)) = X509Certificate::from_der(leaf) else {
            return Peer::default();
        };
        let until = certificate.validity().not_after.timestamp();
        let mut peer = Peer::default();
        if signed_by(&self.clients) {
            match Identity::from_certificate(leaf) {
                Ok(identity) => peer.client = Some((identity, until)),
                Err(error) => tracing::debug!(%error, "a certificate names nobody"),
            }
        }
        if let Some(Proxies { verifier, names }) = &self.proxies {
            let mut common_names = certificate.subject().iter_common_name();
            let name = common_names.next().and_then(|name| name.as_str().ok());
            let known = names.is_empty()
                || name.is_some_and(|name| names.iter().any(|allowed| allowed == name));
            peer.proxy_until = (known && signed_by(verifier)).then_some(until);
        }
        peer
    }
}

/// Lets everybody shake hands who holds the key of the certificate that they show, if any.
#[derive(Debug)]
struct AnyHolder(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for AnyHolder {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        // Whose certificate it is is looked at after the handshake, in `Trust::peer`.
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
