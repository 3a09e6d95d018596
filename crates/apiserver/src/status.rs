//! What the server says when it says no: the Kubernetes `Status`, with the codes, reasons and
//! words that clients match on. Which situation calls for which answer is left to the callers.

use std::borrow::Cow;

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::registry::Kind;

/// The reason of an answer that is not a Status.
pub(crate) const NO_SUCH_PAGE: &str = "page not found";

/// A refusal, as it goes over the wire.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The HTTP status code.
    pub code: StatusCode,
    /// The machine-readable reason, such as `NotFound`.
    pub reason: Cow<'static, str>,
    /// The sentence for people.
    pub message: String,
    /// The `details` of the Status.
    pub details: Map<String, Value>,
    /// A token with which a list that expired can go on.
    pub continue_token: Option<String>,
    /// Whether the details are shown even if they are empty.
    pub bare: bool,
}

/// One violated field in an `Invalid` answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// `FieldValueInvalid` and its siblings.
    pub reason: String,
    /// The words after the field's path.
    pub message: String,
    /// The path of the field.
    pub field: String,
}

impl Cause {
    /// A value that is wrong, shown as it stands.
    pub fn invalid(field: &str, value: &str, detail: &str) -> Self {
        Self::new(
            "FieldValueInvalid",
            field,
            format!("Invalid value: {value}: {detail}"),
        )
    }

    /// A value that is missing.
    pub fn required(field: &str, detail: &str) -> Self {
        let sep = if detail.is_empty() { "" } else { ": " };
        Self::new(
            "FieldValueRequired",
            field,
            format!("Required value{sep}{detail}"),
        )
    }

    /// A field that may not be set or changed here.
    pub fn forbidden(field: &str, detail: &str) -> Self {
        Self::new("FieldValueForbidden", field, format!("Forbidden: {detail}"))
    }

    /// A value that is there already.
    pub fn duplicate(field: &str, value: &str) -> Self {
        let message = format!("Duplicate value: {value:?}");
        Self::new("FieldValueDuplicate", field, message)
    }

    /// A value that is none of those that there are.
    pub fn unsupported(field: &str, value: &str, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|s| format!("{s:?}")).collect();
        Self::new(
            "FieldValueNotSupported",
            field,
            format!(
                "Unsupported value: {value}: supported values: {}",
                supported.join(", ")
            ),
        )
    }

    /// A cause with a reason of its own.
    pub fn new(reason: &str, field: &str, message: String) -> Self {
        Self {
            reason: reason.into(),
            message,
            field: field.into(),
        }
    }
}

impl ApiError {
    /// An answer with this code, reason and message and no details.
    pub fn new(
        code: StatusCode,
        reason: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            reason: reason.into(),
            message: message.into(),
            details: Map::new(),
            continue_token: None,
            bare: false,
        }
    }

    /// The request cannot be understood.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// A request that Kubernetes answers as if it were its own fault, without a reason.
    pub fn unexplained(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "", message)
    }

    /// Something broke on our side.
    pub fn internal(message: impl Into<String>) -> Self {
        let message = format!("Internal error occurred: {}", message.into());
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    /// Something broke on our side, or on the side of someone whom we had to ask.
    pub fn internal_cause(why: &str) -> Self {
        Self::internal(why).with_cause(json!({"message": why}))
    }

    /// The object is not there.
    pub fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", kind.qualified());
        Self::new(StatusCode::NOT_FOUND, "NotFound", message).on_resource(kind, name)
    }

    /// No such path in a version that is served.
    pub fn no_such_path() -> Self {
        let message = "the server could not find the requested resource";
        Self {
            bare: true,
            ..Self::new(StatusCode::NOT_FOUND, "NotFound", message)
        }
    }

    /// Whether this is [`ApiError::no_such_path`].
    pub(crate) fn is_no_such_path(&self) -> bool {
        self.reason == "NotFound" && self.bare
    }

    /// No such path, and nothing of the API near it: the answer is a line of text.
    pub fn no_such_page() -> Self {
        Self::new(StatusCode::NOT_FOUND, NO_SUCH_PAGE, "404 page not found\n")
    }

    /// The name is taken.
    pub fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", kind.qualified());
        Self::new(StatusCode::CONFLICT, "AlreadyExists", message).on_resource(kind, name)
    }

    /// The object changed since the caller looked.
    pub fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{name}\": {why}",
            kind.qualified()
        );
        Self::new(StatusCode::CONFLICT, "Conflict", message).on_resource(kind, name)
    }

    /// The usual conflict: the resource version is not the latest.
    pub fn modified(kind: &Kind, name: &str) -> Self {
        Self::conflict(
            kind,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// The caller may not do this to the object.
    pub fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let message = format!("{} \"{name}\" is forbidden: {why}", kind.qualified());
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message).on_resource(kind, name)
    }

    /// The verb is not served on this path.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self {
            bare: true,
            ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
        }
    }

    /// The verb is not served on a subresource of this kind.
    pub fn unsupported_verb(kind: &Kind, verb: &str) -> Self {
        let message = format!(
            "{verb} is not supported on resources of kind {:?}",
            kind.qualified()
        );
        let code = StatusCode::METHOD_NOT_ALLOWED;
        Self::new(code, "MethodNotAllowed", message).on_resource(kind, "")
    }

    /// The object breaks its schema or the rules of its metadata.
    pub fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        Self::invalid_named(&kind.group, &kind.kind, name, causes)
    }

    /// The same for something that is not an object of a kind.
    pub fn invalid_named(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Self {
        let mut lines: Vec<String> = Vec::new();
        for cause in causes {
            let line = if cause.field.is_empty() {
                cause.message.clone()
            } else {
                format!("{}: {}", cause.field, cause.message)
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let what = match lines.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let what_it_is = match group {
            "" => kind.to_owned(),
            group => format!("{kind}.{group}"),
        };
        let message = format!("{what_it_is} \"{name}\" is invalid: {what}");
        let mut error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message);
        error.details = object_details(group, kind, name);
        let causes = causes
            .iter()
            .map(|c| json!({"reason": c.reason, "message": c.message, "field": c.field}))
            .collect();
        error.details.insert("causes".into(), Value::Array(causes));
        error
    }

    /// Other managers own fields that the caller tried to apply.
    pub fn apply_conflict(message: String, causes: Vec<Value>) -> Self {
        let mut error = Self::new(StatusCode::CONFLICT, "Conflict", message);
        error.details.insert("causes".into(), Value::Array(causes));
        error
    }

    /// The history that was asked for is no longer kept.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(StatusCode::GONE, "Expired", message)
    }

    /// The client asked for a state that has not happened yet.
    pub fn too_large_resource_version(asked: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        let mut error = Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message);
        let cause =
            json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
        error.details.insert("causes".into(), json!([cause]));
        error.details.insert("retryAfterSeconds".into(), json!(1));
        error
    }

    /// The body has a content type that we do not read.
    pub fn unsupported_media_type(supported: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            supported.join(", ")
        );
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UnsupportedMediaType",
            message,
        )
    }

    /// The same where the path alone decides, as it does for patches of built-ins.
    pub fn unroutable_media_type() -> Self {
        Self {
            bare: true,
            ..Self::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "UnsupportedMediaType",
                "415: Unsupported Media Type",
            )
        }
    }

    /// The client accepts nothing that we can write.
    pub fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
        Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
    }

    /// The same where the path alone decides, as it does for built-ins.
    pub fn unroutable_accept() -> Self {
        let message = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf";
        Self {
            bare: true,
            ..Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
        }
    }

    /// The body is larger than the limit.
    pub fn too_large(limit: usize) -> Self {
        let message = format!("Request entity too large: limit is {limit}");
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestEntityTooLarge",
            message,
        )
    }

    /// The caller should come back later.
    pub fn too_many_requests() -> Self {
        let message = "Too many requests, please try again later.";
        let mut error = Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message);
        error.details.insert("retryAfterSeconds".into(), json!(1));
        error
    }

    /// The request took longer than it may.
    pub fn timeout() -> Self {
        let message = "Timeout: request did not complete within the allotted timeout";
        Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
    }

    /// Nobody vouches for the caller.
    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", "Unauthorized")
    }

    /// Names the resource in the details, as all errors about one object do.
    #[must_use]
    pub fn on_resource(mut self, kind: &Kind, name: &str) -> Self {
        self.details = object_details(&kind.group, &kind.plural, name);
        self
    }

    /// Adds a cause to the details.
    #[must_use]
    pub fn with_cause(mut self, cause: Value) -> Self {
        self.details.insert("causes".into(), json!([cause]));
        self
    }

    /// The Status object.
    pub fn to_status(&self) -> Value {
        let mut status = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code.as_u16(),
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.clone().into();
        }
        if let Some(token) = &self.continue_token {
            status["metadata"]["continue"] = token.clone().into();
        }
        // A Forbidden always has details, even when there is nothing to say in them.
        if !self.details.is_empty() || self.bare || self.reason == "Forbidden" {
            status["details"] = Value::Object(self.details.clone());
        }
        status
    }
}

/// An error with all that it rests on, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    message
}

fn object_details(group: &str, kind: &str, name: &str) -> Map<String, Value> {
    let mut details = Map::new();
    if !name.is_empty() {
        details.insert("name".into(), name.into());
    }
    if !group.is_empty() {
        details.insert("group".into(), group.into());
    }
    if !kind.is_empty() {
        details.insert("kind".into(), kind.into());
    }
    details
}
