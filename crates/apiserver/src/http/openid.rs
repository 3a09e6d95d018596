//! What others need to verify tokens of ServiceAccounts themselves: who issues them, and the keys.

use axum::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, HeaderValue};
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::{Call, respond};
use crate::auth::token::{ALGORITHM, ISSUER};

/// Who issues tokens, and where the keys are.
pub(super) fn configuration() -> Response<Body> {
    let configuration = json!({
        "issuer": ISSUER,
        "jwks_uri": format!("{ISSUER}/openid/v1/jwks"),
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
    });
    kept_for_an_hour("application/json", &configuration)
}

/// The public keys with which tokens are verified.
pub(super) fn keys(call: &Call) -> Response<Body> {
    let keys = json!({"keys": [call.core.signing_key.public()]});
    kept_for_an_hour("application/jwk-set+json", &keys)
}

fn kept_for_an_hour(content_type: &'static str, value: &Value) -> Response<Body> {
    let body = Bytes::from(value.to_string());
    let mut response = respond::with_type(StatusCode::OK, content_type, body);
    let keep = HeaderValue::from_static("public, max-age=3600");
    response.headers_mut().insert(CACHE_CONTROL, keep);
    response
}
