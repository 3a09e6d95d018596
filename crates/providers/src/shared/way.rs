//! The way to a platform's own endpoint: which addresses may be asked, and how it proves to be the
//! platform before anything is sent to it.
//!
//! Images come from anywhere and are proven by their digests; they do not go this way.

use std::{error::Error, io};

use machinist_api::certificates::read_bundle;
use machinist_core::provider::{ProviderError, ProviderResult, ProviderSpec, Trust};
use reqwest::{Certificate, ClientBuilder, Url};
use rustls::{CertificateError, RootCertStore, pki_types::CertificateDer};

use super::http::{self, Reach};

const FIELD: &str = "spec.endpoint.caBundle";
/// How much of a bundle that is refused is shown.
const SHOWN: usize = 40;

/// How a platform is reached.
#[derive(Debug, Clone, Default)]
pub struct Way {
    /// Which addresses may be asked.
    pub reach: Reach,
    authorities: Authorities,
}

/// What certificates are checked against.
#[derive(Debug, Clone, Default)]
enum Authorities {
    /// What this host trusts.
    #[default]
    Usual,
    /// These, and no others.
    Declared(Vec<Certificate>),
    /// Nothing.
    Unchecked,
}

impl Way {
    /// As a provider declares it.
    ///
    /// # Errors
    /// When its bundle holds no certificates, with what is wrong.
    pub fn of(spec: &ProviderSpec) -> ProviderResult<Way> {
        Ok(Way {
            reach: Reach::of(spec),
            authorities: match &spec.trust {
                Trust::Usual => Authorities::Usual,
                Trust::Bundle(bundle) => Authorities::Declared(read(bundle)?),
                Trust::Unchecked => Authorities::Unchecked,
            },
        })
    }

    /// A client of the platform's endpoint: a declared authority is the only one. It is sent
    /// elsewhere by nobody, for what it sends is meant for the one that was declared.
    pub fn builder(&self) -> ClientBuilder {
        let builder = http::builder(self.reach).redirect(reqwest::redirect::Policy::none());
        match &self.authorities {
            Authorities::Usual => builder,
            Authorities::Declared(all) => builder.tls_certs_only(all.iter().cloned()),
            Authorities::Unchecked => builder.tls_danger_accept_invalid_certs(true),
        }
    }

    /// A client of what stands beside the endpoint, as an issuer of tokens: it may also be of an
    /// authority that this host trusts.
    pub fn builder_beside(&self) -> ClientBuilder {
        match &self.authorities {
            Authorities::Declared(all) => http::builder(self.reach)
                .redirect(reqwest::redirect::Policy::none())
                .tls_certs_merge(all.iter().cloned()),
            Authorities::Usual | Authorities::Unchecked => self.builder(),
        }
    }

    /// Why nothing was sent, where that was the address or the certificate of the endpoint that
    /// `field` declares.
    pub fn unsent(
        &self,
        field: &'static str,
        endpoint: &Url,
        error: &(dyn Error + 'static),
    ) -> Option<ProviderError> {
        if let Some(forbidden) = http::forbidden(error) {
            return Some(ProviderError::Rejected {
                field,
                value: endpoint.to_string(),
                reason: forbidden.to_string(),
            });
        }
        let fault = certificate_fault(error)?;
        Some(ProviderError::Untrusted {
            endpoint: endpoint.to_string(),
            reason: format!("{}; {}", said(fault), self.way_out(fault)),
        })
    }

    fn way_out(&self, fault: &CertificateError) -> &'static str {
        match (fault, &self.authorities) {
            (
                CertificateError::UnknownIssuer | CertificateError::BadSignature,
                Authorities::Declared(_),
            ) => "spec.endpoint.caBundle does not have it: put it there, in PEM",
            (
                CertificateError::UnknownIssuer | CertificateError::BadSignature,
                Authorities::Usual | Authorities::Unchecked,
            ) => "name it in spec.endpoint.caBundle, in PEM",
            (
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
                _,
            ) => "give the endpoint by a name that its certificate has",
            (
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. },
                _,
            ) => "have the certificate renewed, or check this host's clock",
            _ => {
                "have the endpoint's certificate put right; its authority may be named in spec.endpoint.caBundle"
            }
        }
    }
}

/// The certificates of a bundle.
fn read(bundle: &str) -> ProviderResult<Vec<Certificate>> {
    let refuse = |reason: String| ProviderError::Rejected {
        field: FIELD,
        value: bundle.trim().chars().take(SHOWN).collect(),
        reason,
    };
    let all = read_bundle(bundle).map_err(|error| refuse(error.to_string()))?;
    let mut anchors = RootCertStore::empty();
    let one = |(der, number): (Vec<u8>, usize)| {
        let usable = anchors.add(CertificateDer::from_slice(&der).into_owned());
        let certificate = Certificate::from_der(&der);
        match (usable, certificate) {
            (Ok(()), Ok(certificate)) => Ok(certificate),
            _ => Err(refuse(format!(
                "certificate {number} cannot be an authority's"
            ))),
        }
    };
    all.into_iter().zip(1..).map(one).collect()
}

/// What is wrong with a server's certificate, if that is what kept the request from being sent.
fn certificate_fault<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a CertificateError> {
    let mut cause = Some(error);
    while let Some(next) = cause {
        // An I/O error shows the cause of what it holds, and not what it holds.
        let held = next
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        let found = match held {
            Some(held) => held.downcast_ref::<rustls::Error>(),
            None => next.downcast_ref::<rustls::Error>(),
        };
        if let Some(rustls::Error::InvalidCertificate(fault)) = found {
            return Some(fault);
        }
        cause = match held {
            Some(held) => Some(held),
            None => next.source(),
        };
    }
    None
}

fn said(fault: &CertificateError) -> String {
    match fault {
        // An authority of the same name may have another key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "its certificate is of an authority that is not known".to_owned()
        }
        fault => fault.to_string(),
    }
}

#[cfg(test)]
mod tests;
