//! Tokens of ServiceAccounts, on request.

use axum::body::Body;
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};

use crate::auth::token::{Grant, ISSUER, Named};
use crate::http::{Call, respond, verbs};
use crate::meta;
use crate::registry::Kind;
use crate::resource::Address;
use crate::status::{ApiError, Cause};

/// The shortest and the longest life of a token, and the one that is given unasked, in seconds.
const LIFE: (i64, i64, i64) = (600, 1 << 32, 3600);

/// Answers a request for a token of an account.
pub(in crate::http) async fn answer(
    call: &Call,
    at: &Address,
    body: Body,
) -> Result<Response<Body>, ApiError> {
    if call.method != Method::POST {
        return Err(ApiError::method_not_allowed());
    }
    let snapshot = call.core.registry.snapshot();
    let kind = snapshot.review("authentication.k8s.io", "v1", "serviceaccounts/token");
    let kind = kind.ok_or_else(ApiError::no_such_path)?;
    let (given, options) = verbs::read_review(call, &kind, body).await?;
    check_address(&kind, at, &given)?;
    let (mut request, warnings) = call
        .core
        .asked(&kind, &at.namespace, given, &options)
        .await?;
    let account = call.core.get(at).await?;
    let uid = meta::uid(&request);
    if !uid.is_empty() && uid != meta::uid(&account) {
        let why = format!(
            "the UID in the token request ({uid}) does not match the UID of the service account ({})",
            meta::uid(&account)
        );
        return Err(conflict(
            "TokenRequest.authentication.k8s.io",
            &at.name,
            &why,
        ));
    }
    let now = jiff::Timestamp::now();
    let metadata = meta::metadata_mut(&mut request);
    metadata.insert("name".into(), at.name.clone().into());
    metadata.insert("uid".into(), meta::uid(&account).into());
    metadata.insert("creationTimestamp".into(), meta::time(now).into());
    let spec = meta::child_mut(&mut request, "spec");
    let mut audiences: Vec<String> = meta::strings(spec.get("audiences"))
        .into_iter()
        .map(str::to_owned)
        .collect();
    if audiences.is_empty() {
        audiences.push(ISSUER.to_owned());
    }
    let seconds = spec
        .get("expirationSeconds")
        .and_then(Value::as_i64)
        .unwrap_or(LIFE.2);
    check_life(&kind, seconds)?;
    let secret = bound_secret(call, at, spec.get("boundObjectRef")).await?;
    spec.insert("audiences".into(), audiences.clone().into());
    spec.insert("expirationSeconds".into(), seconds.into());
    spec.entry("boundObjectRef").or_insert(Value::Null);
    let grant = Grant {
        namespace: &at.namespace,
        account: Named::of(&account),
        secret,
        audiences,
        seconds,
    };
    let token = call.core.issue(&grant);
    let token = token.ok_or_else(|| ApiError::internal("failed to generate token"))?;
    request["status"] = json!({
        "token": token,
        "expirationTimestamp": meta::time(now + jiff::SignedDuration::from_secs(seconds)),
    });
    let mut response = respond::value(StatusCode::CREATED, &request, false);
    respond::warn(&mut response, &warnings);
    Ok(response)
}

/// Refuses a body that names another account than the path.
fn check_address(kind: &Kind, at: &Address, given: &Value) -> Result<(), ApiError> {
    for (field, expected, what) in [
        ("name", &at.name, "name"),
        ("namespace", &at.namespace, "namespace"),
    ] {
        let found = meta::text(given, field);
        if !found.is_empty() && found != expected {
            let why = format!("must match the service account {what} if specified");
            let field = format!("metadata.{field}");
            let cause = Cause::invalid(&field, &crate::schema::go_quote(found), &why);
            return Err(ApiError::invalid(kind, &at.name, &[cause]));
        }
    }
    Ok(())
}

fn check_life(kind: &Kind, seconds: i64) -> Result<(), ApiError> {
    let (shortest, longest, _) = LIFE;
    let why = if seconds < shortest {
        "may not specify a duration less than 10 minutes"
    } else if seconds > longest {
        "may not specify a duration larger than 2^32 seconds"
    } else {
        return Ok(());
    };
    let cause = Cause::invalid("spec.expirationSeconds", &seconds.to_string(), why);
    Err(ApiError::invalid(kind, "", &[cause]))
}

/// The secret that a token is bound to, if it is.
async fn bound_secret(
    call: &Call,
    at: &Address,
    reference: Option<&Value>,
) -> Result<Option<Named>, ApiError> {
    let Some(reference) = reference.filter(|reference| reference.is_object()) else {
        return Ok(None);
    };
    let text = |field: &str| reference[field].as_str().unwrap_or_default();
    if text("apiVersion") != "v1" || text("kind") != "Secret" {
        let (group, version) = match text("apiVersion").split_once('/') {
            Some((group, version)) => (group, version),
            None => ("", text("apiVersion")),
        };
        let kind = text("kind");
        let message = format!("cannot bind token to object of type {group}/{version}, Kind={kind}");
        return Err(ApiError::bad_request(message));
    }
    let snapshot = call.core.registry.snapshot();
    let secret = Address {
        kind: snapshot
            .find("", "v1", "secrets")
            .ok_or_else(ApiError::no_such_path)?,
        namespace: at.namespace.clone(),
        name: text("name").to_owned(),
    };
    let live = call.core.get(&secret).await?;
    if !text("uid").is_empty() && text("uid") != meta::uid(&live) {
        let why = format!(
            "the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated",
            text("uid")
        );
        return Err(conflict("Secret", &secret.name, &why));
    }
    Ok(Some(Named::of(&live)))
}

fn conflict(what: &str, name: &str, why: &str) -> ApiError {
    let message = format!("Operation cannot be fulfilled on {what} \"{name}\": {why}");
    let mut error = ApiError::new(StatusCode::CONFLICT, "Conflict", message);
    let (kind, group) = what.split_once('.').unwrap_or((what, ""));
    error.details.insert("name".into(), name.into());
    if !group.is_empty() {
        error.details.insert("group".into(), group.into());
    }
    error.details.insert("kind".into(), kind.into());
    error
}
