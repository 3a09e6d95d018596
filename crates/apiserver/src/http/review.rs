//! Reviews: questions to the server that look like resources but are stored nowhere.

use axum::body::Body;
use http::{Method, Response, StatusCode};
use serde_json::json;

use super::path::ResourcePath;
use super::{Call, body, respond};
use crate::status::ApiError;

/// Answers a review, or says that there is no such resource.
pub(super) async fn answer(
    call: &Call,
    path: &ResourcePath,
    body: Body,
) -> Result<Response<Body>, ApiError> {
    let status = match (
        path.group.as_str(),
        path.version.as_str(),
        path.plural.as_str(),
    ) {
        // Everyone who gets in holds an administrator's certificate.
        ("authorization.k8s.io", "v1", "selfsubjectaccessreviews") => json!({"allowed": true}),
        ("authentication.k8s.io", "v1", "selfsubjectreviews") => json!({
            "userInfo": {"username": call.identity.user, "groups": call.identity.groups},
        }),
        _ => return Err(ApiError::no_such_path()),
    };
    if call.method != Method::POST || path.name.is_some() {
        return Err(ApiError::method_not_allowed());
    }
    let mut review = body::decode(call.content_type(), &body::read(body).await?)?.value;
    if !review.is_object() {
        return Err(ApiError::bad_request(
            "the object provided is not a JSON object",
        ));
    }
    review["status"] = status;
    Ok(respond::value(StatusCode::CREATED, &review, false))
}
