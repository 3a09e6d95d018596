//! Who the caller is, and who the holder of a token is.

use serde_json::{Value, json};

use crate::auth::Identity;
use crate::auth::token::TokenError;
use crate::http::Call;
use crate::meta;
use crate::status::ApiError;

/// Tells the caller who they are.
pub(super) fn self_review(call: &Call, review: &mut Value) {
    review["metadata"] = json!({"creationTimestamp": meta::now()});
    review["status"] = json!({"userInfo": user_info(&call.identity)});
}

/// Tells who the holder of a token is.
pub(super) fn token_review(call: &Call, review: &mut Value) -> Result<(), ApiError> {
    let spec = &review["spec"];
    let token = spec["token"].as_str().unwrap_or_default();
    if token.is_empty() {
        let message = "token is required for TokenReview in authentication";
        return Err(ApiError::bad_request(message));
    }
    let audiences = meta::strings(spec.get("audiences"));
    review["status"] = match call.core.token_holder(token, &audiences) {
        Ok(holder) => json!({
            "authenticated": true,
            "user": user_info(&holder.identity),
            "audiences": holder.audiences,
        }),
        Err(TokenError::Foreign) => json!({"user": {}, "error": TokenError::Foreign.to_string()}),
        // Upstream asks several in turn, and the first of them only knows that it is not its own.
        Err(error) => {
            json!({"user": {}, "error": format!("[{}, {error}]", TokenError::Foreign)})
        }
    };
    Ok(())
}

/// A user in the form of the API.
pub(crate) fn user_info(user: &Identity) -> Value {
    let Identity {
        user,
        groups,
        uid,
        extra,
    } = user;
    let mut info = json!({});
    let mut set = |field: &str, value: Value, empty: bool| {
        if !empty {
            info[field] = value;
        }
    };
    set("username", user.as_str().into(), user.is_empty());
    set("uid", uid.as_str().into(), uid.is_empty());
    set("groups", groups.clone().into(), groups.is_empty());
    set("extra", json!(extra), extra.is_empty());
    info
}
