//! Why a call failed: what EC2 said, or that nothing is known.
//!
//! The code decides what must happen next; a code that is not known here is a refusal only when
//! EC2 says that the request was at fault.

use std::time::Duration;

use machinist_core::provider::ProviderError;
use thiserror::Error;

use super::xml::{Element, XmlError};

/// Why a call failed.
#[derive(Debug, Error)]
pub enum AwsError {
    /// EC2 answered with an error.
    #[error("{action}: {refusal}")]
    Refused {
        /// What was called.
        action: &'static str,
        /// What EC2 said.
        refusal: Refusal,
    },
    /// There was no answer, or not all of it. The call may have taken effect.
    #[error("{action}: no answer")]
    Silence {
        /// What was called.
        action: &'static str,
        /// The cause.
        #[source]
        source: reqwest::Error,
    },
    /// The answer says to ask elsewhere, where no signed request is sent.
    #[error(
        "{action}: the endpoint redirects to {place}, which is not followed; give the endpoint that answers itself"
    )]
    Moved {
        /// What was called.
        action: &'static str,
        /// Where it redirects to.
        place: String,
    },
    /// The answer cannot be read. The call may have taken effect.
    #[error("{action}: an answer with status {status} that cannot be read")]
    Unreadable {
        /// What was called.
        action: &'static str,
        /// The HTTP status.
        status: u16,
        /// The cause.
        #[source]
        source: XmlError,
    },
    /// The answer lacks something that EC2 always tells. The call may have taken effect.
    #[error("{action}: the answer has no {missing}")]
    Incomplete {
        /// What was called.
        action: &'static str,
        /// What is not there.
        missing: &'static str,
    },
    /// The endpoint may not be asked, or does not prove to be EC2; the request was not sent.
    #[error("{action} was not sent")]
    Unsent {
        /// What was called.
        action: &'static str,
        /// Why.
        #[source]
        why: ProviderError,
    },
    /// The request could not be signed, and was not sent.
    #[error("{action}: the request could not be signed")]
    Unsigned {
        /// What was called.
        action: &'static str,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// An error that EC2 answered with.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{code}: {message} (status {status})")]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// EC2's code.
    pub code: String,
    /// EC2's sentence.
    pub message: String,
}

/// The codes for keys whose time is over.
const EXPIRED: [&str; 2] = ["ExpiredToken", "ExpiredTokenException"];

/// What a code means for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Too many calls.
    Throttled,
    /// Something is in a state in which this cannot be done, for now.
    State,
    /// There is no room, or a quota is used up.
    Capacity,
    /// The keys were refused, or may not do this.
    Credentials,
    /// What was named is not there.
    Absent,
    /// The idempotency token was used with other parameters.
    TokenUsed,
    /// The platform cannot do this.
    Unsupported,
    /// The request is at fault.
    Invalid,
    /// EC2 failed; nothing is known of the effect.
    Unknown,
}

impl Refusal {
    /// Finds the error in an answer, in either of the forms that are used.
    pub(super) fn of(status: u16, answer: &Element) -> Option<Refusal> {
        let error = answer.anywhere("Error")?;
        Some(Refusal {
            status,
            code: error.text(&["Code"])?.to_owned(),
            message: error.text(&["Message"]).unwrap_or_default().to_owned(),
        })
    }

    /// What it means.
    pub fn meaning(&self) -> Meaning {
        match self.code.as_str() {
            "RequestLimitExceeded"
            | "Throttling"
            | "ThrottlingException"
            | "RequestThrottled"
            | "RequestThrottledException"
            | "TooManyRequestsException"
            | "SlowDown" => Meaning::Throttled,
            "IncorrectInstanceState"
            | "IncorrectState"
            | "IncorrectModificationState"
            | "VolumeInUse"
            | "VolumeModificationRateExceeded"
            | "ConcurrentTagAccess"
            | "ConcurrentModification"
            | "ResourceNotReady"
            | "IncorrectStateException"
            | "OptInRequired"
            | "PendingVerification" => Meaning::State,
            "InsufficientInstanceCapacity"
            | "InsufficientHostCapacity"
            | "InsufficientCapacity"
            | "InsufficientVolumeCapacity"
            | "InsufficientFreeAddressesInSubnet"
            | "InsufficientReservedInstanceCapacity"
            | "InsufficientAddressCapacity"
            | "VcpuLimitExceeded"
            | "InstanceLimitExceeded"
            | "VolumeLimitExceeded"
            | "MaxIOPSLimitExceeded"
            | "AddressLimitExceeded"
            | "AttachmentLimitExceeded"
            | "MaxSpotInstanceCountExceeded"
            | "ResourceLimitExceeded" => Meaning::Capacity,
            "AuthFailure"
            | "SignatureDoesNotMatch"
            | "InvalidClientTokenId"
            | "ExpiredToken"
            | "ExpiredTokenException"
            | "RequestExpired"
            | "InvalidAccessKeyId"
            | "MissingAuthenticationToken"
            | "IncompleteSignature"
            | "UnauthorizedOperation"
            | "AccessDenied"
            | "AccessDeniedException"
            | "UnrecognizedClientException"
            | "Blocked" => Meaning::Credentials,
            "IdempotentParameterMismatch" | "IdempotentInstanceTerminated" => Meaning::TokenUsed,
            "InvalidInstanceID.NotFound"
            | "InvalidInstanceID.Malformed"
            | "InvalidVolume.NotFound"
            | "InvalidVolumeID.Malformed" => Meaning::Absent,
            "Unsupported" | "UnsupportedOperation" | "OperationNotPermitted" => {
                Meaning::Unsupported
            }
            _ => match self.status {
                400..=499 => Meaning::Invalid,
                _ => Meaning::Unknown,
            },
        }
    }
}

impl AwsError {
    /// What EC2 said, if it said anything.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            AwsError::Refused { refusal, .. } => Some(refusal),
            AwsError::Silence { .. }
            | AwsError::Moved { .. }
            | AwsError::Unreadable { .. }
            | AwsError::Incomplete { .. }
            | AwsError::Unsent { .. }
            | AwsError::Unsigned { .. } => None,
        }
    }

    /// What the error means, where EC2 said anything.
    pub fn meaning(&self) -> Option<Meaning> {
        self.refusal().map(Refusal::meaning)
    }

    /// In the contract's terms; `at_fault` tells field and value where the request is.
    pub fn told(self, at_fault: impl FnOnce(&str) -> (&'static str, String)) -> ProviderError {
        let (action, refusal) = match self {
            AwsError::Refused { action, refusal } => (action, refusal),
            AwsError::Unsent { why, .. } => return why,
            other => return ProviderError::transport(format!("calling {}", other.action()), other),
        };
        let Refusal { code, message, .. } = &refusal;
        match refusal.meaning() {
            Meaning::Throttled => ProviderError::Throttled {
                reason: "EC2 asks for fewer requests".to_owned(),
                retry_after: None,
            },
            Meaning::State if *code == "VolumeModificationRateExceeded" => busy(
                "EC2 changes a volume only once in six hours",
                Some(Duration::from_secs(3600)),
            ),
            Meaning::State => busy(message, None),
            Meaning::TokenUsed => busy(
                "EC2 has carried out this request before, with other parameters, and does not show the outcome yet",
                None,
            ),
            Meaning::Capacity => ProviderError::NoCapacity {
                reason: format!("{code}: {message}"),
            },
            Meaning::Credentials if EXPIRED.contains(&code.as_str()) => ProviderError::Expired {
                reason: format!(
                    "EC2 answered {action} with {code}; write new keys and a new session token into the provider's Secret"
                ),
            },
            // Messages about keys may repeat them, and those about rights hold encoded policies.
            Meaning::Credentials => ProviderError::Credentials {
                reason: format!(
                    "EC2 answered {action} with {code}; check the keys in the provider's Secret, what they are allowed to do, and this host's clock"
                ),
            },
            Meaning::Absent => ProviderError::NotFound {
                what: message.clone(),
            },
            Meaning::Unsupported => ProviderError::Unsupported {
                what: format!("{action}: {message}"),
            },
            Meaning::Invalid => {
                let (field, value) = at_fault(code);
                let reason = format!("{code}: {message}");
                ProviderError::Rejected {
                    field,
                    value,
                    reason,
                }
            }
            Meaning::Unknown => ProviderError::transport(format!("calling {action}"), refusal),
        }
    }

    /// The same for a call that carries nothing of a declaration.
    pub fn plainly(self) -> ProviderError {
        let action = self.action();
        self.told(|_| ("request", action.to_owned()))
    }

    fn action(&self) -> &'static str {
        match self {
            AwsError::Refused { action, .. }
            | AwsError::Silence { action, .. }
            | AwsError::Unsent { action, .. }
            | AwsError::Moved { action, .. }
            | AwsError::Unreadable { action, .. }
            | AwsError::Incomplete { action, .. }
            | AwsError::Unsigned { action, .. } => action,
        }
    }
}

/// An error that asks for patience.
pub fn busy(reason: impl Into<String>, retry_after: Option<Duration>) -> ProviderError {
    ProviderError::Busy {
        reason: reason.into(),
        retry_after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, code: &str) -> &'static str {
        let refusal = Refusal {
            status,
            code: code.to_owned(),
            message: "why".to_owned(),
        };
        let action = "RunInstances";
        AwsError::Refused { action, refusal }.plainly().reason()
    }

    #[test]
    fn codes_become_the_contracts_kinds() {
        let cases = [
            (503, "RequestLimitExceeded", "Throttled"),
            (400, "IncorrectInstanceState", "ProviderBusy"),
            (400, "IdempotentParameterMismatch", "ProviderBusy"),
            (500, "InsufficientInstanceCapacity", "NoCapacity"),
            (400, "VcpuLimitExceeded", "NoCapacity"),
            (401, "AuthFailure", "CredentialsRefused"),
            (403, "UnauthorizedOperation", "CredentialsRefused"),
            (400, "ExpiredToken", "CredentialsExpired"),
            (400, "InvalidInstanceID.NotFound", "NotFound"),
            (400, "UnsupportedOperation", "Unsupported"),
            (400, "InvalidAMIID.NotFound", "Rejected"),
            (400, "SomethingNew", "Rejected"),
            // Unknown is not refused: it may have taken effect.
            (500, "InternalError", "ProviderUnreachable"),
            (503, "Unavailable", "ProviderUnreachable"),
        ];
        for (status, code, expected) in cases {
            assert_eq!(told(status, code), expected, "{code}");
        }
    }

    #[test]
    fn both_forms_of_errors_are_read() {
        let ec2 = b"<Response><Errors><Error><Code>A</Code><Message>b</Message></Error></Errors><RequestID>r</RequestID></Response>";
        let other = b"<ErrorResponse xmlns=\"u\"><Error><Type>Sender</Type><Code>A</Code><Message>b</Message></Error></ErrorResponse>";
        for text in [&ec2[..], &other[..]] {
            let refusal = Refusal::of(400, &Element::parse(text).unwrap()).unwrap();
            assert_eq!(
                (refusal.code.as_str(), refusal.message.as_str()),
                ("A", "b")
            );
        }
        let none = Element::parse(b"<html><body>Error</body></html>").unwrap();
        assert_eq!(Refusal::of(500, &none), None);
    }
}
