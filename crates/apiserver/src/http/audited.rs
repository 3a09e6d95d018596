//! What of a request and its answer goes into the audit log.

use axum::body::Body;
use http::header::{CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{HeaderMap, HeaderName, Response};
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::{Call, body};
use crate::audit::{Arrival, Finishing, Record};
use crate::auth::authenticate::Peer;
use crate::auth::{Action, Attributes};
use crate::protobuf::{self, Envelope};
use crate::status::ApiError;

/// Names a request in the log, and in the answer.
static AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");
/// The longest part of a client's own words that is kept.
const LONGEST: usize = 1024;

/// The name of a request: the one that the client gives it, or a new one.
pub(super) fn id(headers: &HeaderMap) -> String {
    let given = headers.get(&AUDIT_ID).and_then(|id| id.to_str().ok());
    let given = given.filter(|id| !id.is_empty() && id.len() <= LONGEST);
    given.map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned)
}

/// Begins to write a request down, if the policy wants that.
pub(super) fn begin(
    call: &Call,
    uri: &http::Uri,
    peer: Option<&Peer>,
    id: &str,
    action: &Action,
) -> Option<Record> {
    call.core.audit.as_ref()?;
    let attributes = Attributes {
        user: &call.identity,
        action,
    };
    let agent: String = call.header(USER_AGENT).chars().take(LONGEST).collect();
    let uri = uri.path_and_query().map_or("", |uri| uri.as_str());
    let arrival = Arrival {
        id,
        uri,
        agent: &agent,
        sources: sources(call, peer),
    };
    Record::begin(&call.core, &attributes, &arrival)
}

/// Where a request came from: what proxies say, and the other end of the connection.
fn sources(call: &Call, peer: Option<&Peer>) -> Vec<String> {
    let forwarded = call.header(HeaderName::from_static("x-forwarded-for"));
    let named = forwarded.split(',').map(str::trim);
    let named = named
        .filter(|ip| ip.parse::<std::net::IpAddr>().is_ok())
        .map(str::to_owned);
    let address = peer.and_then(|peer| peer.address).map(|ip| ip.to_string());
    let mut all: Vec<String> = named.chain(address).collect();
    all.dedup();
    all
}

/// Reads a body, writes it down, and gives it back unread.
pub(super) async fn keep(record: &mut Record, call: &Call, unread: Body) -> Result<Body, ApiError> {
    let bytes = body::read(unread).await?;
    let object = if call.content_type().starts_with(protobuf::MEDIA_TYPE) {
        Envelope::open(&bytes, "", "")
            .and_then(Envelope::object)
            .ok()
    } else {
        body::yaml(&bytes).ok().map(|decoded| decoded.value)
    };
    if let Some(object) = object.filter(|object| !object.is_null()) {
        record.sent(object);
    }
    Ok(Body::from(bytes))
}

/// Writes an answer down, and names its request in it.
pub(super) async fn finish(
    record: Option<Record>,
    mut response: Response<Body>,
    id: &str,
    refusal: Option<&Value>,
    long: bool,
) -> Response<Body> {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(AUDIT_ID.clone(), id);
    }
    let Some(mut record) = record else {
        return response;
    };
    record.status(response.status().as_u16(), refusal);
    if long {
        record.started();
        return response.map(|body| Finishing::wrap(body, record));
    }
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if record.wants_response() && is_json {
        let (parts, body) = response.into_parts();
        // The bodies of such answers are in memory already, so that reading them cannot fail.
        let bytes = body
            .collect()
            .await
            .map(|all| all.to_bytes())
            .unwrap_or_default();
        if let Ok(object) = serde_json::from_slice(&bytes) {
            record.answered(object);
        }
        response = Response::from_parts(parts, Body::from(bytes));
    }
    record.complete();
    response
}
