//! Reviews: questions to the server that look like resources but are stored nowhere.
//!
//! What they look like is data, as for every kind; what is answered is here, one file a question.

mod access;
mod identity;
pub(super) mod token;

pub(crate) use identity::user_info;

use std::sync::Arc;

use axum::body::Body;
use http::header::ACCEPT;
use http::{Method, Response, StatusCode};
use serde_json::Value;

use super::accept::negotiate;
use super::path::ResourcePath;
use super::{Call, Shape, respond, verbs};
use crate::registry::Kind;
use crate::status::{ApiError, Cause};

/// Answers a review, or says that there is no such resource.
pub(super) async fn answer(
    call: &Call,
    path: &ResourcePath,
    body: Body,
) -> Result<Response<Body>, ApiError> {
    let snapshot = call.core.registry.snapshot();
    let kind = snapshot.review(&path.group, &path.version, &path.plural);
    let kind = kind
        .filter(|kind| kind.namespaced == path.namespace.is_some() && path.name.is_none())
        .ok_or_else(ApiError::no_such_path)?;
    if call.method != Method::POST {
        return Err(ApiError::method_not_allowed());
    }
    respond_to(
        call,
        &kind,
        path.namespace.as_deref().unwrap_or_default(),
        body,
    )
    .await
}

/// Reads a question, answers it, and writes both.
async fn respond_to(
    call: &Call,
    kind: &Arc<Kind>,
    namespace: &str,
    body: Body,
) -> Result<Response<Body>, ApiError> {
    let accept = call.headers.get(ACCEPT).and_then(|h| h.to_str().ok());
    let format = negotiate(accept)?;
    if format.shape != Shape::Object {
        // An answer is no object that has a table or metadata of its own.
        return Err(ApiError::not_acceptable());
    }
    let (given, options) = verbs::read_review(call, kind, body).await?;
    let (mut review, warnings) = call.core.asked(kind, namespace, given, &options).await?;
    match kind.kind.as_str() {
        "SelfSubjectReview" => identity::self_review(call, &mut review),
        "TokenReview" => identity::token_review(call, &mut review)?,
        "SelfSubjectRulesReview" => access::rules(call, &mut review)?,
        "SelfSubjectAccessReview" => access::own(call, &mut review)?,
        "SubjectAccessReview" => access::of_subject(call, &mut review)?,
        "LocalSubjectAccessReview" => access::in_namespace(call, namespace, &mut review)?,
        _ => return Err(ApiError::no_such_path()),
    }
    let mut response = respond::value(StatusCode::CREATED, &review, format.yaml);
    respond::warn(&mut response, &warnings);
    Ok(response)
}

/// A review that asks nothing that can be answered. Upstream names no kind in it.
fn invalid(group: &str, causes: &[Cause]) -> ApiError {
    let lines: Vec<String> = causes
        .iter()
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .collect();
    let what = match lines.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    };
    let message = format!(".{group} \"\" is invalid: {what}");
    let mut error = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message);
    let causes: Vec<Value> = causes
        .iter()
        .map(|c| serde_json::json!({"reason": c.reason, "message": c.message, "field": c.field}))
        .collect();
    error.details.insert("group".into(), group.into());
    error.details.insert("causes".into(), causes.into());
    error
}
