//! Reviews: questions to the server that look like resources but are stored nowhere.

use axum::body::Body;
use http::header::ACCEPT;
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::accept::negotiate;
use super::body::{self, Expected};
use super::path::ResourcePath;
use super::{Call, Shape, respond};
use crate::registry::api_version;
use crate::status::ApiError;

/// A question that can be asked; all are in version `v1` and outside of namespaces.
#[derive(Debug)]
pub(super) struct Review {
    pub(super) group: &'static str,
    pub(super) plural: &'static str,
    pub(super) singular: &'static str,
    pub(super) kind: &'static str,
    question: Question,
}

#[derive(Debug, Clone, Copy)]
enum Question {
    MayI,
    WhatMayI,
    WhoAmI,
}

/// The version of every review.
pub(super) const VERSION: &str = "v1";

/// Every review, in the order of groups and names.
pub(super) static REVIEWS: [Review; 3] = [
    Review {
        group: "authentication.k8s.io",
        plural: "selfsubjectreviews",
        singular: "selfsubjectreview",
        kind: "SelfSubjectReview",
        question: Question::WhoAmI,
    },
    Review {
        group: "authorization.k8s.io",
        plural: "selfsubjectaccessreviews",
        singular: "selfsubjectaccessreview",
        kind: "SelfSubjectAccessReview",
        question: Question::MayI,
    },
    Review {
        group: "authorization.k8s.io",
        plural: "selfsubjectrulesreviews",
        singular: "selfsubjectrulesreview",
        kind: "SelfSubjectRulesReview",
        question: Question::WhatMayI,
    },
];

/// Answers a review, or says that there is no such resource.
pub(super) async fn answer(
    call: &Call,
    path: &ResourcePath,
    body: Body,
) -> Result<Response<Body>, ApiError> {
    let review = REVIEWS
        .iter()
        .find(|r| r.group == path.group && r.plural == path.plural && path.version == VERSION)
        .filter(|_| path.namespace.is_none())
        .ok_or_else(ApiError::no_such_path)?;
    if call.method != Method::POST || path.name.is_some() {
        return Err(ApiError::method_not_allowed());
    }
    let accept = call.headers.get(ACCEPT).and_then(|h| h.to_str().ok());
    let format = negotiate(accept)?;
    if format.shape != Shape::Object {
        // An answer is no object that has a table or metadata of its own.
        return Err(ApiError::not_acceptable());
    }
    let api_version = api_version(review.group, VERSION);
    let expected = Expected::builtin(api_version.clone(), review.kind);
    let bytes = body::read(body).await?;
    let mut asked = body::decode(call.content_type(), &bytes, &expected)?.value;
    if !asked.is_object() {
        return Err(ApiError::bad_request(
            "the object provided is not a JSON object",
        ));
    }
    asked["status"] = status(call, review.question, &asked)?;
    asked["apiVersion"] = api_version.into();
    asked["kind"] = review.kind.into();
    Ok(respond::value(StatusCode::CREATED, &asked, format.yaml))
}

fn status(call: &Call, question: Question, asked: &Value) -> Result<Value, ApiError> {
    // Everyone who gets in holds an administrator's certificate.
    Ok(match question {
        Question::MayI => json!({"allowed": true}),
        Question::WhatMayI => {
            let namespace = asked.pointer("/spec/namespace").and_then(Value::as_str);
            if namespace.is_none_or(str::is_empty) {
                return Err(ApiError::bad_request("no namespace on request"));
            }
            json!({
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                "incomplete": false,
            })
        }
        Question::WhoAmI => json!({
            "userInfo": {"username": call.identity.user, "groups": call.identity.groups},
        }),
    })
}
