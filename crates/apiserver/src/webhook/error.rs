//! Why a webhook gave no answer, in the words of kube-apiserver.

use std::error::Error as StdError;
use std::io;

use http::StatusCode;
use serde_json::Value;

use crate::status::chain;

/// Why a webhook gave no answer that can be read.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum CallError {
    /// There was no answer.
    #[error("Post {url:?}: {why}")]
    Transport {
        /// The URL that was called.
        url: String,
        /// What happened.
        why: String,
    },
    /// The answer was a refusal.
    #[error("{message}")]
    Refused {
        /// The code of the answer.
        code: u16,
        /// What the code stands for.
        message: String,
    },
    /// The answer makes no sense.
    #[error("{0}")]
    Unreadable(String),
}

impl CallError {
    /// There was no answer from this URL.
    pub(super) fn transport(url: &str, why: &str) -> Self {
        Self::Transport {
            url: url.into(),
            why: why.into(),
        }
    }

    /// The code by which the counters know it.
    pub(crate) fn code(&self) -> u16 {
        match self {
            Self::Refused { code, .. } => *code,
            Self::Transport { .. } | Self::Unreadable(_) => 503,
        }
    }

    /// What a connection's end means to the caller. `address` is where we dialled.
    pub(super) fn from_reqwest(url: &str, error: &reqwest::Error, address: &str) -> Self {
        if error.is_timeout() {
            return Self::transport(url, "context deadline exceeded");
        }
        let why = match cause(error) {
            Some(Cause::Tls(tls)) => certificate_words(&tls),
            Some(Cause::Io(io::ErrorKind::ConnectionRefused)) => {
                format!("dial tcp {address}: connect: connection refused")
            }
            Some(Cause::Io(io::ErrorKind::ConnectionReset)) => {
                "read: connection reset by peer".into()
            }
            // Whatever else cuts a request short shows as the end of the stream.
            _ if !error.is_connect() && !error.is_builder() => "EOF".into(),
            _ => chain(error),
        };
        Self::transport(url, &why)
    }

    /// What an answer with this code means when it is not a success.
    pub(super) fn refused(code: StatusCode, body: &[u8]) -> Self {
        if let Ok(status) = serde_json::from_slice::<Value>(body)
            && status["kind"] == "Status"
            && status["status"] == "Failure"
        {
            let message = status["message"].as_str().unwrap_or("unknown").to_owned();
            return Self::Refused {
                code: code.as_u16(),
                message,
            };
        }
        let said = String::from_utf8_lossy(body);
        let said = match said.trim() {
            "" => "unknown",
            text => text,
        };
        let message = match code.as_u16() {
            400 => "the server rejected our request for an unknown reason".into(),
            401 => "the server has asked for the client to provide credentials".into(),
            403 | 415 => said.to_owned(),
            404 => "the server could not find the requested resource".into(),
            405 => "the server does not allow this method on the requested resource".into(),
            406 if said == "unknown" => {
                "the server was unable to respond with a content type that the client supports"
                    .into()
            }
            406 => said.to_owned(),
            409 => "the server reported a conflict".into(),
            422 => "the server rejected our request due to an error in our request".into(),
            429 => "the server has received too many requests and has asked us to try again later"
                .into(),
            503 => "the server is currently unable to handle the request".into(),
            504 => "the server was unable to return a response in the time allotted, but may still be processing the request".into(),
            500.. => format!("an error on the server ({said:?}) has prevented the request from succeeding"),
            code => format!("the server responded with the status code {code} but did not return more information"),
        };
        Self::Refused {
            code: code.as_u16(),
            message,
        }
    }
}

enum Cause {
    Tls(rustls::Error),
    Io(io::ErrorKind),
}

/// The innermost error that we have words for.
fn cause(error: &(dyn StdError + 'static)) -> Option<Cause> {
    let mut found = None;
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(tls) = error.downcast_ref::<rustls::Error>() {
            return Some(Cause::Tls(tls.clone()));
        }
        // An error of a stream hides what it wraps from those who ask for its source.
        let wrapped = error.downcast_ref::<io::Error>().and_then(|io| {
            found = Some(Cause::Io(io.kind()));
            io.get_ref()
        });
        next = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    found
}

fn certificate_words(error: &rustls::Error) -> String {
    use rustls::CertificateError as Certificate;
    let rustls::Error::InvalidCertificate(why) = error else {
        return format!("tls: {error}");
    };
    let why = match why {
        Certificate::UnknownIssuer | Certificate::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        Certificate::Expired | Certificate::ExpiredContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        other => other.to_string(),
    };
    format!("tls: failed to verify certificate: x509: {why}")
}
