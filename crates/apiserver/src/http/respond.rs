//! Writing answers: values as JSON, YAML, tables or metadata, with warnings and tags.

use axum::body::Body;
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, VARY, WARNING};
use http::{HeaderMap, Response, StatusCode};
use machinist_store::Entry;
use serde_json::{Value, json};

use super::accept::{Format, Shape};
use super::list_body::ListBody;
use crate::registry::Document;
use crate::registry::{Hook, Kind};
use crate::resource::Listed;
use crate::status::{ApiError, NO_SUCH_PAGE};
use crate::table::{self, IncludeObject};
use crate::{codec, meta};

/// How objects are to be shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) format: Format,
    pub(crate) include: IncludeObject,
}

impl View {
    /// Whether an object is shown as it lies in the store, with its resource version.
    pub(crate) fn is_as_stored(&self) -> bool {
        self.format.shape == Shape::Object && !self.format.yaml
    }

    /// One object as the client wants to see it.
    pub(crate) fn object(&self, kind: &Kind, object: Value) -> Value {
        match self.format.shape {
            Shape::Object => object,
            Shape::Metadata => table::partial_metadata(&object),
            Shape::Table => {
                let list_meta = json!({"resourceVersion": meta::text(&object, "resourceVersion")});
                render_table(kind, vec![object], self.include, &list_meta)
            }
        }
    }
}

/// Objects as a table of their kind.
pub(crate) fn render_table(
    kind: &Kind,
    objects: Vec<Value>,
    include: IncludeObject,
    list_meta: &Value,
) -> Value {
    let rows: Vec<Value> = objects
        .into_iter()
        .map(|object| with_computed_cells(kind, object))
        .collect();
    let mut table = table::render(
        &kind.columns,
        &rows,
        include,
        jiff::Timestamp::now(),
        list_meta,
    );
    if include == IncludeObject::Object {
        for row in table["rows"].as_array_mut().into_iter().flatten() {
            if let Some(object) = row.get_mut("object").and_then(Value::as_object_mut) {
                object.remove(COMPUTED);
            }
        }
    }
    table
}

/// Where cells lie that no path can compute; the columns of built-ins point there.
const COMPUTED: &str = "computed";

fn with_computed_cells(kind: &Kind, mut object: Value) -> Value {
    if !kind.builtin {
        return object;
    }
    let count = |field: &str| {
        object
            .get(field)
            .and_then(Value::as_object)
            .map_or(0, serde_json::Map::len)
    };
    let computed = match kind.hook {
        Hook::Immutable => json!({"data": count("data") + count("binaryData")}),
        Hook::Event => {
            let about = if kind.renames.is_empty() {
                &object["involvedObject"]
            } else {
                &object["regarding"]
            };
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let seen = ["lastTimestamp", "deprecatedLastTimestamp", "eventTime"]
                .into_iter()
                .filter_map(|field| object[field].as_str())
                .find(|time| !time.is_empty())
                .unwrap_or_else(|| meta::text(&object, "creationTimestamp"));
            let source = ["source", "deprecatedSource"].map(|field| &object[field]);
            let source = source.into_iter().find(|source| source.is_object());
            let parts = ["component", "host"].map(|field| source.map(|s| text(&s[field])));
            let parts: Vec<String> = parts
                .into_iter()
                .flatten()
                .filter(|p| !p.is_empty())
                .collect();
            json!({
                "object": format!("{}/{}", text(&about["kind"]).to_lowercase(), text(&about["name"])),
                "lastSeen": seen,
                "subobject": text(&about["fieldPath"]),
                "source": parts.join(", "),
            })
        }
        Hook::Webhooks => {
            json!({"webhooks": object["webhooks"].as_array().map_or(0, Vec::len)})
        }
        Hook::Binding => binding_cells(&object),
        Hook::None | Hook::Account | Hook::Namespace | Hook::Definition | Hook::Role => {
            return object;
        }
    };
    meta::as_map(&mut object).insert(COMPUTED.into(), computed);
    object
}

fn binding_cells(binding: &Value) -> Value {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let named = |kind: &str| {
        let subjects = binding["subjects"].as_array().into_iter().flatten();
        let names = subjects.filter(|s| s["kind"] == kind).map(|s| match kind {
            "ServiceAccount" => format!("{}/{}", text(&s["namespace"]), text(&s["name"])),
            _ => text(&s["name"]),
        });
        names.collect::<Vec<_>>().join(", ")
    };
    let role = &binding["roleRef"];
    json!({
        "role": format!("{}/{}", text(&role["kind"]), text(&role["name"])),
        "users": named("User"),
        "groups": named("Group"),
        "accounts": named("ServiceAccount"),
    })
}

/// A value as the body of an answer.
pub(crate) fn value(code: StatusCode, value: &Value, yaml: bool) -> Response<Body> {
    if yaml {
        let text = serde_saphyr::to_string(value).unwrap_or_else(|_| value.to_string());
        return with_type(code, "application/yaml", text.into());
    }
    let text = serde_json::to_vec(value).unwrap_or_else(|_| value.to_string().into());
    with_type(code, "application/json", text.into())
}

/// An entry of the store as the body of an answer, without taking it apart.
pub(crate) fn entry(code: StatusCode, entry: &Entry) -> Response<Body> {
    let mut text = Vec::with_capacity(codec::spliced_length(entry));
    codec::splice(entry, &mut text);
    with_type(code, "application/json", text.into())
}

/// Bytes of a known type.
pub(crate) fn with_type(
    code: StatusCode,
    content_type: &'static str,
    body: Bytes,
) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = code;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A refusal.
pub(crate) fn error(error: &ApiError) -> Response<Body> {
    error_as(error, false)
}

/// A refusal in the form that the client asked for.
pub(crate) fn error_as(error: &ApiError, yaml: bool) -> Response<Body> {
    if error.reason == NO_SUCH_PAGE {
        let text = error.message.clone().into();
        return with_type(error.code, "text/plain; charset=utf-8", text);
    }
    let mut response = value(error.code, &error.to_status(), yaml);
    if let Some(seconds) = error
        .details
        .get("retryAfterSeconds")
        .and_then(Value::as_u64)
    {
        response
            .headers_mut()
            .insert(http::header::RETRY_AFTER, seconds.into());
    }
    response
}

/// A list as the client wants to see it.
pub(crate) fn list(kind: &Kind, listed: Listed, view: View) -> Response<Body> {
    let mut metadata = json!({"resourceVersion": listed.revision.to_string()});
    match &listed.token {
        Some(token) => metadata["continue"] = token.clone().into(),
        // Lists of custom kinds say so even when there is nothing more.
        None if !kind.builtin && view.format.shape == Shape::Object => {
            metadata["continue"] = "".into();
        }
        None => {}
    }
    if let Some(remaining) = listed.remaining {
        metadata["remainingItemCount"] = remaining.into();
    }
    let plain = view.format.shape == Shape::Object && !view.format.yaml;
    if plain && !kind.builtin {
        let body = ListBody::new(kind, listed.into_entries(), &metadata);
        let mut response = Response::new(Body::new(body));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        return response;
    }
    let objects = listed.into_objects();
    let body = match view.format.shape {
        Shape::Table => render_table(kind, objects, view.include, &metadata),
        Shape::Metadata => json!({
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            "items": objects.iter().map(table::partial_metadata).collect::<Vec<_>>(),
        }),
        Shape::Object => list_of(kind, &metadata, objects),
    };
    value(StatusCode::OK, &body, view.format.yaml)
}

/// A list of whole objects. Typed lists say once what their items are, in their own kind.
pub(crate) fn list_of(kind: &Kind, metadata: &Value, mut objects: Vec<Value>) -> Value {
    if kind.builtin {
        for object in objects.iter_mut().filter_map(Value::as_object_mut) {
            object.remove("apiVersion");
            object.remove("kind");
        }
    }
    json!({
        "kind": kind.list_kind,
        "apiVersion": kind.api_version(),
        "metadata": metadata,
        "items": objects,
    })
}

/// Tells the client of things that it may want to know, one header for each.
pub(crate) fn warn(response: &mut Response<Body>, warnings: &[String]) {
    for warning in warnings {
        let escaped = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(header) = HeaderValue::from_str(&format!("299 - \"{escaped}\"")) {
            response.headers_mut().append(WARNING, header);
        }
    }
}

/// A document that clients may keep until its tag changes.
pub(crate) fn document(
    headers: &HeaderMap,
    document: &Document,
    content_type: &'static str,
    varies: bool,
) -> Response<Body> {
    let tag = format!("\"{}\"", document.hash);
    let known = headers
        .get(IF_NONE_MATCH)
        .and_then(|h| h.to_str().ok())
        .is_some_and(|known| {
            known
                .split(',')
                .any(|t| t.trim().trim_start_matches("W/") == tag)
        });
    let mut response = if known {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        with_type(StatusCode::OK, content_type, document.body.clone())
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    if varies {
        let accept = HeaderValue::from_static("Accept");
        response.headers_mut().insert(VARY, accept);
    }
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
    response
}
