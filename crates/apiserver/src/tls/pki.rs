//! A certificate authority of our own, made once and kept with the data; from it the server's
//! certificate, fresh for every start, and the administrator's, kept and renewed.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::ServerConfig;
use rustls::sign::CertifiedKey;

use super::files::{self, FileError};
use super::serving::Serving;
use super::trust::Trust;
use crate::auth::{KeyError, SigningKey};

/// Why there are no certificates to serve with.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A certificate or key could not be made or read.
    #[error("cannot make or read a certificate")]
    Certificate(#[from] rcgen::Error),
    /// A certificate's text is not PEM.
    #[error("{} is not a certificate", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: rustls::pki_types::pem::Error,
    },
    /// The authority's certificate is there and its key is not.
    #[error("{} is missing: restore it, or remove the directory to start with a new authority", path.display())]
    KeyMissing {
        /// The file.
        path: PathBuf,
    },
    /// The key that signs tokens is none.
    #[error("{} cannot sign tokens", path.display())]
    SigningKey {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: KeyError,
    },
    /// The TLS library refuses the configuration.
    #[error("the certificates cannot be used for TLS")]
    Tls(#[from] rustls::Error),
    /// The TLS library cannot verify clients with this authority.
    #[error("clients cannot be verified with this authority")]
    Verifier(#[from] rustls::server::VerifierBuilderError),
}

/// The certificate authority and the administrator's certificate.
#[derive(Debug, Clone)]
pub struct Pki {
    ca_cert: String,
    ca_key: String,
    admin_cert: String,
    admin_key: String,
    names: Vec<String>,
    server_lifetime: Duration,
    /// The authority of proxies that may speak for others, and their names.
    proxies: Option<(String, Vec<String>)>,
}

const YEARS: i16 = 10;
/// A server that is never restarted renews its certificate a few times a year.
const SERVER_LIFETIME: Duration = Duration::from_secs(365 * 24 * 3600);

impl Pki {
    /// Reads the authority in a directory, or makes one there.
    ///
    /// # Errors
    /// When files cannot be read or written, or when what they hold is not what was written.
    pub fn load_or_create(dir: &Path) -> Result<Self, PkiError> {
        files::private_dir(dir)?;
        let (ca_cert, ca_key) = authority(dir)?;
        let (admin_cert, admin_key) = administrator(dir, &ca_cert, &ca_key)?;
        Ok(Self {
            ca_cert,
            ca_key,
            admin_cert,
            admin_key,
            names: Vec::new(),
            server_lifetime: SERVER_LIFETIME,
            proxies: None,
        })
    }

    /// Reads the authority in a directory, or makes one there, for a server whose clients show no
    /// certificates; there is no administrator.
    ///
    /// # Errors
    /// When files cannot be read or written, or when what they hold is not what was written.
    pub fn load_or_create_authority(dir: &Path) -> Result<Self, PkiError> {
        files::private_dir(dir)?;
        let (ca_cert, ca_key) = authority(dir)?;
        Ok(Self {
            ca_cert,
            ca_key,
            admin_cert: String::new(),
            admin_key: String::new(),
            names: Vec::new(),
            server_lifetime: SERVER_LIFETIME,
            proxies: None,
        })
    }

    /// Keeps an authority that was made elsewhere, in the place of what is there.
    ///
    /// # Errors
    /// When files cannot be written.
    pub fn keep_authority(dir: &Path, certificate: &str, key: &str) -> Result<(), PkiError> {
        files::private_dir(dir)?;
        let (cert_path, key_path) = (dir.join("ca.crt"), dir.join("ca.key"));
        // A certificate on disk says that its key is there too.
        files::write(&key_path, key)?;
        files::write(&cert_path, certificate)?;
        Ok(())
    }

    /// TLS for a server at an address, with a certificate that renews itself and for anybody.
    ///
    /// # Errors
    /// When no certificate can be made.
    pub fn anonymous_config(&self, address: SocketAddr) -> Result<Arc<ServerConfig>, PkiError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(self.serving(address)?));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    fn serving(&self, address: SocketAddr) -> Result<Serving, PkiError> {
        let pki = self.clone();
        let make = move |lifetime| pki.server_certificate(address, lifetime);
        Serving::new(self.server_lifetime, Box::new(make))
    }

    /// How long a certificate of the server lasts; it is renewed after two thirds of that.
    #[must_use]
    pub fn with_server_lifetime(mut self, lifetime: Duration) -> Self {
        self.server_lifetime = lifetime;
        self
    }

    /// Adds host names and addresses under which the server is reached.
    #[must_use]
    pub fn with_names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.names.extend(names);
        self
    }

    /// Lets proxies with certificates of another authority speak for their callers, with the
    /// headers `X-Remote-User`, `-Group` and `-Extra-`. No names means that any name will do.
    #[must_use]
    pub fn with_front_proxy(mut self, authority: String, names: Vec<String>) -> Self {
        self.proxies = Some((authority, names));
        self
    }

    /// The authorities whose word counts for clients.
    pub(super) fn trust(&self) -> Result<Trust, PkiError> {
        Trust::new(&self.ca_cert, self.proxies.as_ref())
    }

    /// Reads the key that signs the tokens of ServiceAccounts in a directory, or makes one there.
    ///
    /// # Errors
    /// When the file cannot be read or written, or holds no such key.
    pub fn signing_key(dir: &Path) -> Result<SigningKey, PkiError> {
        files::private_dir(dir)?;
        let path = dir.join("sa.key");
        let pem = match files::read(&path)? {
            Some(pem) => pem,
            None => {
                let pem = KeyPair::generate()?.serialize_pem();
                files::write(&path, &pem)?;
                pem
            }
        };
        SigningKey::from_pem(&pem).map_err(|source| PkiError::SigningKey { path, source })
    }

    /// The authority's certificate, as PEM.
    pub fn ca_certificate(&self) -> &str {
        &self.ca_cert
    }

    /// The administrator's certificate and key, as PEM.
    pub fn admin_certificate(&self) -> (&str, &str) {
        (&self.admin_cert, &self.admin_key)
    }

    /// A kubeconfig with which kubectl reaches the server as its administrator.
    pub fn kubeconfig(&self, server: &str) -> String {
        let encoded = |text: &str| STANDARD.encode(text);
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: machinist\nclusters:\n- name: machinist\n  cluster:\n    server: {server}\n    certificate-authority-data: {}\nusers:\n- name: machinist-admin\n  user:\n    client-certificate-data: {}\n    client-key-data: {}\ncontexts:\n- name: machinist\n  context:\n    cluster: machinist\n    user: machinist-admin\n    namespace: default\n",
            encoded(&self.ca_cert),
            encoded(&self.admin_cert),
            encoded(&self.admin_key),
        )
    }

    /// What the listener needs: a fresh certificate for its names, and the rule for clients.
    pub(super) fn server_config(
        &self,
        address: SocketAddr,
        trust: &Trust,
    ) -> Result<Arc<ServerConfig>, PkiError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_client_cert_verifier(trust.handshake())
            .with_cert_resolver(Arc::new(self.serving(address)?));
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    fn server_certificate(
        &self,
        address: SocketAddr,
        lifetime: Duration,
    ) -> Result<CertifiedKey, PkiError> {
        let issuer = Issuer::from_ca_cert_pem(&self.ca_cert, KeyPair::from_pem(&self.ca_key)?)?;
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(self.server_names(address))?;
        params
            .distinguished_name
            .push(DnType::CommonName, "machinist");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let epoch = rcgen::date_time_ymd(1970, 1, 1);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default();
        // A day of tolerance for clients whose clocks are behind.
        params.not_before = epoch + now.saturating_sub(Duration::from_secs(24 * 3600));
        params.not_after = epoch + now + lifetime;
        let certificate = params.signed_by(&key, &issuer)?;
        let ca = CertificateDer::from_pem_slice(self.ca_cert.as_bytes()).map_err(|source| {
            PkiError::Pem {
                path: "ca.crt".into(),
                source,
            }
        })?;
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let chain = vec![certificate.der().clone(), ca];
        let provider = rustls::crypto::ring::default_provider();
        Ok(CertifiedKey::from_der(chain, private, &provider)?)
    }

    fn server_names(&self, address: SocketAddr) -> Vec<String> {
        let mut names: Vec<String> = [
            "localhost",
            "127.0.0.1",
            "::1",
            "machinist",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
        ]
        .map(str::to_owned)
        .to_vec();
        let ip: IpAddr = address.ip();
        if !ip.is_unspecified() {
            names.push(ip.to_string());
        }
        names.extend(self.names.iter().cloned());
        names.sort();
        names.dedup();
        names
    }
}

fn authority(dir: &Path) -> Result<(String, String), PkiError> {
    let (cert_path, key_path) = (dir.join("ca.crt"), dir.join("ca.key"));
    if let Some(cert) = files::read(&cert_path)? {
        let key = files::read(&key_path)?.ok_or(PkiError::KeyMissing { path: key_path })?;
        return Ok((cert, key));
    }
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![
        KeyUsagePurpose::KeyCertSign,
        KeyUsagePurpose::CrlSign,
        KeyUsagePurpose::DigitalSignature,
    ];
    params
        .distinguished_name
        .push(DnType::CommonName, "machinist-ca");
    set_validity(&mut params, YEARS);
    let cert = params.self_signed(&key)?.pem();
    let key = key.serialize_pem();
    // The key first: a certificate on disk says that its key is there too.
    files::write(&key_path, &key)?;
    files::write(&cert_path, &cert)?;
    Ok((cert, key))
}

fn administrator(dir: &Path, ca_cert: &str, ca_key: &str) -> Result<(String, String), PkiError> {
    let (cert_path, key_path) = (dir.join("admin.crt"), dir.join("admin.key"));
    if let (Some(cert), Some(key)) = (files::read(&cert_path)?, files::read(&key_path)?)
        && is_fresh(&cert_path, &cert)?
    {
        return Ok((cert, key));
    }
    let issuer = Issuer::from_ca_cert_pem(ca_cert, KeyPair::from_pem(ca_key)?)?;
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(Vec::new())?;
    params
        .distinguished_name
        .push(DnType::CommonName, "machinist-admin");
    params
        .distinguished_name
        .push(DnType::OrganizationName, "system:masters");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    set_validity(&mut params, YEARS);
    let cert = params.signed_by(&key, &issuer)?.pem();
    let key = key.serialize_pem();
    files::write(&key_path, &key)?;
    files::write(&cert_path, &cert)?;
    Ok((cert, key))
}

/// Whether a certificate still holds for a month.
fn is_fresh(path: &Path, pem: &str) -> Result<bool, PkiError> {
    use x509_parser::prelude::{FromDer as _, X509Certificate};
    let der = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|source| PkiError::Pem {
        path: path.to_owned(),
        source,
    })?;
    let month = 30 * 24 * 3600;
    let soon = jiff::Timestamp::now().as_second() + month;
    Ok(X509Certificate::from_der(&der)
        .is_ok_and(|(_, c)| c.validity().not_after.timestamp() > soon))
}

/// Valid from yesterday, because clocks differ, and for so many years.
fn set_validity(params: &mut CertificateParams, years: i16) {
    let now = jiff::Timestamp::now();
    let yesterday = now - jiff::SignedDuration::from_hours(24);
    let date = yesterday.to_zoned(jiff::tz::TimeZone::UTC).date();
    let [month, day] = [date.month(), date.day().min(28)].map(|n| u8::try_from(n).unwrap_or(1));
    params.not_before = rcgen::date_time_ymd(date.year().into(), month, day);
    params.not_after = rcgen::date_time_ymd((date.year() + years).into(), month, day);
}
