//! Where a webhook is: the `clientConfig` of a configuration or definition.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Why a `clientConfig` names no webhook.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TargetError {
    /// It has neither or both ways to name one.
    #[error("webhook configuration must have either service or URL")]
    Neither,
    /// The authority is not base64.
    #[error("caBundle is not base64")]
    Authority(#[from] base64::DecodeError),
}

/// A webhook's place, and the authority that vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// By URL.
    Url {
        /// Scheme, host and path.
        url: String,
        /// PEM certificates; empty for those that the host trusts.
        ca: Vec<u8>,
    },
    /// By the name of a service.
    Service {
        /// The service's namespace.
        namespace: String,
        /// The service's name.
        name: String,
        /// The service's port.
        port: u16,
        /// The path of the request.
        path: String,
        /// PEM certificates; empty for those that the host trusts.
        ca: Vec<u8>,
    },
}

impl Target {
    /// Reads a `clientConfig`.
    pub(crate) fn parse(config: &Value) -> Result<Self, TargetError> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let ca = STANDARD.decode(text(&config["caBundle"]))?;
        match (config["url"].as_str(), &config["service"]) {
            (Some(url), Value::Null) => Ok(Self::Url {
                url: url.to_owned(),
                ca,
            }),
            (None, service @ Value::Object(_)) => Ok(Self::Service {
                namespace: text(&service["namespace"]),
                name: text(&service["name"]),
                port: service["port"]
                    .as_u64()
                    .and_then(|p| u16::try_from(p).ok())
                    .unwrap_or(443),
                path: text(&service["path"]),
                ca,
            }),
            _ => Err(TargetError::Neither),
        }
    }

    /// The URL of a call, as messages show it.
    pub(crate) fn url(&self, timeout: Duration) -> String {
        match self {
            Self::Url { url, .. } => with_timeout(url, timeout),
            Self::Service { port, .. } => self.url_at_port(timeout, *port),
        }
    }

    /// The URL of a call to a service that answers at another port.
    pub(super) fn url_at_port(&self, timeout: Duration, port: u16) -> String {
        match self {
            Self::Url { url, .. } => with_timeout(url, timeout),
            Self::Service {
                namespace,
                name,
                path,
                ..
            } => {
                let path = path.trim_start_matches('/');
                with_timeout(
                    &format!("https://{name}.{namespace}.svc:{port}/{path}"),
                    timeout,
                )
            }
        }
    }
}

/// The webhook is told how long we wait.
fn with_timeout(url: &str, timeout: Duration) -> String {
    let seconds = timeout.as_secs() + u64::from(timeout.subsec_nanos() > 0);
    // A URL without a path has an empty one when Go writes it, and `/` when it is called.
    format!("{url}?timeout={seconds}s")
}
