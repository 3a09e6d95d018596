//! Paths that are not about resources: health, version, counters, and the list of paths.

use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::json;

use super::{Call, respond};
use crate::openapi::group_version_path;
use crate::registry::Snapshot;
use crate::status::ApiError;

/// The Kubernetes version whose API this is.
const MINOR: &str = "36";

/// Answers everything that is neither discovery nor a resource.
pub(super) fn answer(
    call: &Call,
    snapshot: &Snapshot,
    parts: &[&str],
) -> Result<Response<Body>, ApiError> {
    match parts {
        [] => {
            let mut paths = vec!["/api".to_owned(), "/apis".into()];
            for (group, version) in snapshot.api_versions() {
                paths.push(format!("/{}", group_version_path(&group, &version)));
            }
            for path in [
                "/healthz",
                "/livez",
                "/metrics",
                "/openapi/v2",
                "/openapi/v3",
                "/readyz",
                "/version",
            ] {
                paths.push(path.into());
            }
            paths.sort();
            Ok(respond::value(
                StatusCode::OK,
                &json!({"paths": paths}),
                false,
            ))
        }
        [name @ ("readyz" | "livez" | "healthz")] => Ok(health(call, name)),
        [_name @ ("readyz" | "livez" | "healthz"), "ping" | "store"] => Ok(text("ok".into())),
        ["version"] => {
            let version = json!({
                "major": "1",
                "minor": MINOR,
                "gitVersion": format!("v1.{MINOR}.0+machinist-{}", call.core.version),
                "gitCommit": "",
                "gitTreeState": "clean",
                "buildDate": "1970-01-01T00:00:00Z",
                "goVersion": "",
                "compiler": "rustc",
                "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
            });
            Ok(respond::value(StatusCode::OK, &version, false))
        }
        ["metrics"] => {
            let mut out = call.core.metrics.render();
            if let Some(extra) = &call.core.extra_metrics {
                out.push_str(&extra());
            }
            let kind = "text/plain; version=0.0.4; charset=utf-8";
            Ok(respond::with_type(StatusCode::OK, kind, out.into()))
        }
        _ => Err(ApiError::no_such_path()),
    }
}

/// Whoever can read this line has reached the server, and the store answers from memory: there is
/// nothing more to check for a server that refuses to start without its store.
fn health(call: &Call, name: &str) -> Response<Body> {
    if !call.query.has("verbose") {
        return text("ok".into());
    }
    text(format!("[+]ping ok\n[+]store ok\n{name} check passed\n"))
}

fn text(body: String) -> Response<Body> {
    respond::with_type(StatusCode::OK, "text/plain; charset=utf-8", body.into())
}
