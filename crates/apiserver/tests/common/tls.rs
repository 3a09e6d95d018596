//! Clients that speak TLS to a server on loopback, byte by byte where a test wants that.

use std::net::SocketAddr;
use std::sync::Arc;

use machinist_apiserver::{ApiServer, Pki, tls};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A client that trusts `pki`, with the certificate of `holder`, if any, and these protocols.
pub fn connector(pki: &Pki, holder: Option<&Pki>, protocols: &[&str]) -> TlsConnector {
    connector_with(pki, holder.map(Pki::admin_certificate), protocols)
}

/// The same with a certificate and its key.
pub fn connector_with(pki: &Pki, holder: Option<(&str, &str)>, protocols: &[&str]) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(pki.ca_certificate().as_bytes()).unwrap())
        .unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match holder {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
            builder
                .with_client_auth_cert(
                    chain,
                    PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
                )
                .unwrap()
        }
    };
    config.alpn_protocols = protocols.iter().map(|p| p.as_bytes().to_vec()).collect();
    TlsConnector::from(Arc::new(config))
}

/// A server on loopback and how to reach it; both end with this.
pub struct Served {
    pub pki: Pki,
    pub address: SocketAddr,
    serving: JoinHandle<()>,
    _home: tempfile::TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Served {
    /// Serves on loopback.
    pub async fn start(server: &ApiServer) -> Self {
        Self::start_with(server, |pki| pki).await
    }

    /// Serves on loopback, with changes to what the certificates are.
    pub async fn start_with(server: &ApiServer, change: impl FnOnce(Pki) -> Pki) -> Self {
        let home = tempfile::tempdir().unwrap();
        let pki = change(Pki::load_or_create(&home.path().join("pki")).unwrap());
        let listener = tls::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (server, kept) = (server.clone(), pki.clone());
        let serving = tokio::spawn(async move {
            server
                .serve(listener, &kept, std::future::pending())
                .await
                .unwrap();
        });
        Self {
            pki,
            address,
            serving,
            _home: home,
        }
    }

    /// A connection whose handshake is done, with these protocols offered.
    pub async fn connect(&self, protocols: &[&str]) -> TlsStream<TcpStream> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        connector(&self.pki, Some(&self.pki), protocols)
            .connect(name, stream)
            .await
            .unwrap()
    }

    /// Sends these bytes on a connection of their own and gives all that comes back.
    pub async fn exchange(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect(&["http/1.1"]).await;
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(bytes).await;
        rest(&mut stream).await
    }

    /// Whether an ordinary request is answered.
    pub async fn is_well(&self) -> bool {
        let request = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        self.exchange(request).await.starts_with("HTTP/1.1 200")
    }
}

/// What a connection still says, until it is closed by the other side.
pub async fn rest(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut answer = Vec::new();
    let read = tokio::time::timeout(super::PATIENCE, stream.read_to_end(&mut answer));
    // An end without a farewell is an end.
    let _ = read.await.expect("the server closes the connection");
    String::from_utf8_lossy(&answer).into_owned()
}
