//! The HTTP surface: from a request to a verb of `resource`, a stream of `watch`, or a document.
//!
//! There is one path for every kind; nothing here knows a kind by name. Who the caller is comes
//! as an [`Identity`] in the request's extensions, put there by whatever accepted the request.

mod accept;
mod access;
mod audited;
mod backup;
mod body;
mod discovery;
mod envelope;
mod health;
mod list_body;
mod openapi;
mod openid;
mod path;
mod query;
mod respond;
mod review;
mod syntax;
mod timeout;
mod verbs;
mod writing;

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, USER_AGENT};
use http::{HeaderMap, Method, Request, Response, StatusCode};

pub(crate) use accept::Shape;
pub use backup::BACKUP_PATH;
pub(crate) use path::of_old_watch;
use path::{ResourcePath, Target};
pub(crate) use query::Query;
pub(crate) use respond::{View, error as refusal};
pub(crate) use review::user_info;
pub(crate) use syntax::complaint;

use crate::admission::Notes;
use crate::auth::Identity;
use crate::core::{Closing, Core};
use crate::status::ApiError;
use crate::tls::TlsLane;

/// What of a request the handlers use, beside its body.
pub(crate) struct Call {
    pub(crate) core: Arc<Core>,
    pub(crate) identity: Identity,
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) query: Query,
    /// What webhooks say beside their verdict.
    pub(crate) notes: Notes,
    /// Absent for callers within the process.
    pub(crate) closing: Option<Closing>,
    /// The connection of a watch, if events may be sent on it past its body.
    pub(crate) lane: Option<Arc<TlsLane>>,
}

impl Call {
    fn header(&self, name: http::HeaderName) -> &str {
        self.headers
            .get(name)
            .and_then(|h| h.to_str().ok())
            .unwrap_or_default()
    }

    /// Whether answers are to be YAML, so far as that can be told.
    fn wants_yaml(&self) -> bool {
        accept::negotiate(Some(self.header(http::header::ACCEPT))).is_ok_and(|format| format.yaml)
    }

    fn content_type(&self) -> &str {
        self.header(CONTENT_TYPE)
    }

    /// The field manager that the client names, or else its program's name.
    fn manager(&self) -> String {
        let given = self.query.get("fieldManager");
        if !given.is_empty() {
            return given.to_owned();
        }
        let program = self
            .header(USER_AGENT)
            .split('/')
            .next()
            .unwrap_or_default();
        match program
            .chars()
            .filter(|c| !c.is_control())
            .take(128)
            .collect::<String>()
        {
            program if program.is_empty() => "unknown".into(),
            program => program,
        }
    }
}

/// Answers a request, whatever it is.
pub(crate) async fn handle(core: Arc<Core>, request: Request<Body>) -> Response<Body> {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let target = path::parse(parts.uri.path());
    let mut call = Call {
        core: core.clone(),
        identity: Identity::default(),
        closing: parts.extensions.get::<Closing>().cloned(),
        lane: parts.extensions.get::<Arc<TlsLane>>().cloned(),
        notes: Notes::of(&parts.headers),
        headers: parts.headers,
        query: Query::of(&parts.method, parts.uri.query().unwrap_or_default()),
        method: parts.method,
    };
    let (verb, resource) = labels(&call, &target);
    let action = access::action(&call.method, parts.uri.path(), &target, &call.query);
    let caller = parts.extensions.get::<Identity>().cloned();
    call.identity = caller.clone().unwrap_or_default();
    let id = audited::id(&call.headers);
    let mut record = audited::begin(&call, &parts.uri, parts.extensions.get(), &id, &action);
    let result = match access::admit(&mut call, caller.is_some(), &action, &mut record) {
        Ok(()) => match &mut record {
            Some(record) if record.wants_request() => {
                match audited::keep(record, &call, body).await {
                    Ok(body) => dispatch(&call, &target, body).await,
                    Err(error) => Err(error),
                }
            }
            _ => dispatch(&call, &target, body).await,
        },
        Err(refused) => Err(refused),
    };
    let result = result.map_err(|error| match error {
        error if error.is_no_such_path() && !is_builtin(&core, &target) => ApiError::no_such_page(),
        error => error,
    });
    let mut refusal = None;
    let mut response = result.unwrap_or_else(|error| {
        refusal = record.is_some().then(|| error.to_status());
        if error.code == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(%verb, %resource, %error, "a request failed on our side");
        }
        respond::error_as(&error, call.wants_yaml())
    });
    respond::warn(&mut response, &call.notes.warnings());
    if let Some(record) = &mut record {
        record.annotate(call.notes.annotations());
    }
    let long = action.verb == "watch" && response.status().is_success();
    let mut response = audited::finish(record, response, &id, refusal.as_ref(), long).await;
    let no_cache = HeaderValue::from_static("no-cache, private");
    response
        .headers_mut()
        .entry(CACHE_CONTROL)
        .or_insert(no_cache);
    core.metrics.answered(
        verb,
        &resource,
        response.status().as_u16(),
        started.elapsed(),
    );
    response
}

async fn dispatch(call: &Call, target: &Target, body: Body) -> Result<Response<Body>, ApiError> {
    timeout::check(call)?;
    match target {
        Target::Resource(path) => resource_request(call, path, body).await,
        Target::Other(parts) => {
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            other_request(call, &parts)
        }
    }
}

async fn resource_request(
    call: &Call,
    path: &ResourcePath,
    body: Body,
) -> Result<Response<Body>, ApiError> {
    let snapshot = call.core.registry.snapshot();
    match snapshot.find(&path.group, &path.version, &path.plural) {
        Some(kind) => verbs::answer(call, kind, path, body).await,
        None => review::answer(call, path, body).await,
    }
}

fn other_request(call: &Call, parts: &[&str]) -> Result<Response<Body>, ApiError> {
    if call.method != Method::GET && call.method != Method::HEAD {
        return Err(ApiError::method_not_allowed());
    }
    let snapshot = call.core.registry.snapshot();
    match parts {
        ["api" | "apis", ..] => discovery::answer(&snapshot, parts, &call.headers),
        [".well-known", "openid-configuration"] => Ok(openid::configuration()),
        ["openid", "v1", "jwks"] => Ok(openid::keys(call)),
        ["openapi", rest @ ..] => openapi::answer(&snapshot, rest, &call.headers),
        ["backup"] => Ok(backup::answer(&call.core)),
        _ => health::answer(call, &snapshot, parts),
    }
}

/// Whether a path is below a group that is part of the server; of others nothing is said but
/// that the page is not there.
fn is_builtin(core: &Core, target: &Target) -> bool {
    let group = match target {
        Target::Resource(path) => path.group.as_str(),
        Target::Other(parts) => match parts.as_slice() {
            [root, ..] if root == "api" => "",
            [root, group, ..] if root == "apis" => group.as_str(),
            _ => return false,
        },
    };
    let snapshot = core.registry.snapshot();
    let mut kinds = snapshot.kinds().iter().chain(snapshot.reviews());
    kinds.any(|kind| kind.builtin && kind.group == group)
}

/// The verb and the resource for the counters.
fn labels(call: &Call, target: &Target) -> (&'static str, String) {
    let Target::Resource(path) = target else {
        return ("GET", String::new());
    };
    let one = path.name.is_some();
    let verb = match call.method {
        Method::GET if call.query.flag("watch") => "WATCH",
        Method::GET if one => "GET",
        Method::GET => "LIST",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH if call.content_type().starts_with("application/apply-patch") => "APPLY",
        Method::PATCH => "PATCH",
        Method::DELETE if one => "DELETE",
        Method::DELETE => "DELETECOLLECTION",
        _ => "OTHER",
    };
    // Only names that exist become labels, so that a client cannot make the counters grow.
    let known = call
        .core
        .registry
        .snapshot()
        .find(&path.group, &path.version, &path.plural);
    (
        verb,
        known.map_or_else(String::new, |kind| kind.qualified()),
    )
}
