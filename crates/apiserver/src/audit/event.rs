//! One request on its way through the log.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use serde_json::{Value, json};

use super::policy::{Extent, Level, Stage};
use crate::auth::attributes::Object;
use crate::auth::{Attributes, Identity};
use crate::core::Core;
use crate::http::user_info;

/// A request, as it is written down.
pub(crate) struct Record {
    core: Arc<Core>,
    extent: Extent,
    event: Value,
    /// Whether the last event about the request was written.
    finished: bool,
}

/// What of a request is known when it comes.
pub(crate) struct Arrival<'a> {
    pub(crate) id: &'a str,
    pub(crate) uri: &'a str,
    pub(crate) agent: &'a str,
    pub(crate) sources: Vec<String>,
}

impl Record {
    /// Begins to write a request down, if the policy wants that.
    pub(crate) fn begin(
        core: &Arc<Core>,
        request: &Attributes<'_>,
        arrival: &Arrival<'_>,
    ) -> Option<Self> {
        let extent = core.audit.as_ref()?.extent(request)?;
        let mut event = json!({
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": extent.level.name(),
            "auditID": arrival.id,
            "requestURI": arrival.uri,
            "verb": request.action.verb,
            "user": user_info(request.user),
            "sourceIPs": arrival.sources,
            "userAgent": arrival.agent,
            "requestReceivedTimestamp": now(),
        });
        if let Object::Resource(resource) = &request.action.object {
            let fields = [
                ("resource", &resource.resource),
                ("namespace", &resource.namespace),
                ("name", &resource.name),
                ("apiGroup", &resource.group),
                ("apiVersion", &resource.version),
                ("subresource", &resource.subresource),
            ];
            let given = fields.into_iter().filter(|(_, value)| !value.is_empty());
            let reference = given.map(|(field, value)| (field.to_owned(), value.clone().into()));
            event["objectRef"] = Value::Object(reference.collect());
        }
        let mut record = Self {
            core: core.clone(),
            extent,
            event,
            finished: false,
        };
        record.write(Stage::RequestReceived);
        Some(record)
    }

    /// Whether what was sent is written down.
    pub(crate) fn wants_request(&self) -> bool {
        self.extent.level >= Level::Request
    }

    /// Whether what is answered is written down.
    pub(crate) fn wants_response(&self) -> bool {
        self.extent.level >= Level::RequestResponse
    }

    /// Notes for whom the caller speaks.
    pub(crate) fn impersonated(&mut self, user: &Identity) {
        self.event["impersonatedUser"] = user_info(user);
    }

    /// Notes what was decided, and why.
    pub(crate) fn decided(&mut self, allowed: bool, reason: &str) {
        let decision = if allowed { "allow" } else { "forbid" };
        self.event["annotations"] = json!({
            "authorization.k8s.io/decision": decision,
            "authorization.k8s.io/reason": reason,
        });
    }

    /// Notes what was said of the request along its way.
    pub(crate) fn annotate(&mut self, annotations: Vec<(String, String)>) {
        for (key, value) in annotations {
            self.event["annotations"][key] = value.into();
        }
    }

    /// Notes what was sent.
    pub(crate) fn sent(&mut self, object: Value) {
        self.event["requestObject"] = self.presentable(object);
    }

    /// Notes what was answered.
    pub(crate) fn answered(&mut self, object: Value) {
        self.event["responseObject"] = self.presentable(object);
    }

    /// Notes how the answer begins.
    pub(crate) fn status(&mut self, code: u16, refusal: Option<&Value>) {
        let mut status = json!({"metadata": {}, "code": code});
        for field in ["status", "message", "reason", "details"] {
            if let Some(value) = refusal.and_then(|refusal| refusal.get(field)) {
                status[field] = value.clone();
            }
        }
        self.event["responseStatus"] = status;
    }

    /// Writes that a long answer has begun.
    pub(crate) fn started(&mut self) {
        self.write(Stage::ResponseStarted);
    }

    /// Writes that the answer is complete.
    pub(crate) fn complete(mut self) {
        self.write(Stage::ResponseComplete);
    }

    /// An object without what must not lie in a log: tokens never, managed fields by the policy.
    fn presentable(&self, mut object: Value) -> Value {
        for path in ["/spec/token", "/status/token"] {
            if let Some(token) = object.pointer_mut(path) {
                *token = "<redacted>".into();
            }
        }
        if self.extent.omit_managed_fields {
            let items = object.get_mut("items").and_then(Value::as_array_mut);
            for item in items.into_iter().flatten() {
                without_managed_fields(item);
            }
            without_managed_fields(&mut object);
        }
        object
    }

    fn write(&mut self, stage: Stage) {
        self.finished = matches!(stage, Stage::ResponseComplete | Stage::Panic);
        if self.extent.omit_stages.contains(&stage) {
            return;
        }
        self.event["stage"] = stage.name().into();
        self.event["stageTimestamp"] = now().into();
        if let Some(auditor) = &self.core.audit {
            auditor.sink.write(self.event.to_string());
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        if std::thread::panicking() {
            let message = "the handler panicked";
            let refusal =
                json!({"status": "Failure", "reason": "InternalError", "message": message});
            self.status(500, Some(&refusal));
            return self.write(Stage::Panic);
        }
        if self.event["responseStatus"].is_null() {
            let refusal = json!({"status": "Success", "message": "Connection closed early"});
            self.status(200, Some(&refusal));
        }
        self.write(Stage::ResponseComplete);
    }
}

fn without_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// Now, to the microsecond.
fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S.%6fZ")
        .to_string()
}

/// A body that writes the end of a request down when it ends, or is dropped.
pub(crate) struct Finishing {
    body: Body,
    /// Writes when it is dropped.
    _record: Record,
}

impl Finishing {
    /// Lets a record end with a body.
    pub(crate) fn wrap(body: Body, record: Record) -> Body {
        Body::new(Self {
            body,
            _record: record,
        })
    }
}

impl HttpBody for Finishing {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
