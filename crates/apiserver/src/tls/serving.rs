//! The server's certificate, made anew before it ends, without a restart.
//!
//! It is looked at with every handshake, so there is no task that could die and no clock that
//! could be missed while the machine slept.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use super::pki::PkiError;

/// Makes a certificate that is valid for this long.
pub(super) type Maker = Box<dyn Fn(Duration) -> Result<CertifiedKey, PkiError> + Send + Sync>;

/// A certificate that renews itself.
pub(super) struct Serving {
    make: Maker,
    lifetime: Duration,
    current: Mutex<Current>,
}

struct Current {
    key: Arc<CertifiedKey>,
    renew_at: SystemTime,
}

impl Serving {
    /// Makes the first certificate.
    pub(super) fn new(lifetime: Duration, make: Maker) -> Result<Self, PkiError> {
        let current = Mutex::new(Self::fresh(&make, lifetime)?);
        Ok(Self {
            make,
            lifetime,
            current,
        })
    }

    fn fresh(make: &Maker, lifetime: Duration) -> Result<Current, PkiError> {
        Ok(Current {
            key: Arc::new(make(lifetime)?),
            // With a third of its life left, so that nobody ever sees one that is about to end.
            renew_at: SystemTime::now() + lifetime * 2 / 3,
        })
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("lifetime", &self.lifetime)
            .finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Serving {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if SystemTime::now() >= current.renew_at {
            match Self::fresh(&self.make, self.lifetime) {
                Ok(fresh) => {
                    tracing::info!("the server's certificate was renewed");
                    *current = fresh;
                }
                // The old one may still be good, and the next handshake tries again.
                Err(error) => tracing::error!(%error, "the server's certificate was not renewed"),
            }
        }
        Some(current.key.clone())
    }
}
