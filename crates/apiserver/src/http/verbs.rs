//! The verbs on collections, objects and their parts, from method and path.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http::header::ACCEPT;
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};

use super::accept::{check_list, negotiate};
use super::body::{Decoded, Expected};
use super::path::ResourcePath;
use super::writing::{patch_request, write_options};
use super::{Call, View, body, respond, review};
use crate::registry::{Hook, Kind, SCHEME, Scale};
use crate::resource::{Address, DeleteOptions, Deleted, Part, WriteOptions, Written};
use crate::selector::Selector;
use crate::status::ApiError;
use crate::watch;
use crate::{codec, meta};

/// Answers a request about a kind.
pub(super) async fn answer(
    call: &Call,
    kind: Arc<Kind>,
    path: &ResourcePath,
    body: Body,
) -> Result<Response<Body>, ApiError> {
    if path.namespace.is_some() && !kind.namespaced {
        return Err(ApiError::no_such_path());
    }
    if kind.read_only && call.method != Method::GET && call.method != Method::HEAD {
        return Err(ApiError::method_not_allowed());
    }
    let accept = call.headers.get(ACCEPT).and_then(|h| h.to_str().ok());
    let view = View {
        format: negotiate(accept).map_err(|error| match kind.builtin {
            true => ApiError::unroutable_accept(),
            false => error,
        })?,
        include: call.query.include_object()?,
    };
    let deprecation = kind.deprecation.clone();
    let mut response = match &path.name {
        None => collection(call, &kind, path, view, body).await?,
        Some(name) => {
            let at = Address {
                kind: kind.clone(),
                namespace: path.namespace.clone().unwrap_or_default(),
                name: name.clone(),
            };
            if kind.namespaced && path.namespace.is_none() {
                return Err(ApiError::no_such_path());
            }
            match path.subresource.as_deref() {
                None => object(call, &at, Part::Main, view, body).await?,
                Some("status") if kind.status => {
                    object(call, &at, Part::Status, view, body).await?
                }
                // Only a replacement: nothing else is defined for it.
                Some("finalize") if kind.hook == Hook::Namespace => match call.method {
                    Method::PUT => object(call, &at, Part::Finalize, view, body).await?,
                    _ => return Err(ApiError::method_not_allowed()),
                },
                Some("scale") => match &kind.scale {
                    Some(paths) => scale(call, &at, paths, body).await?,
                    None if kind.builtin => return Err(ApiError::no_such_path()),
                    None => return Err(at.not_found()),
                },
                Some("token") if kind.hook == Hook::Account => {
                    review::token::answer(call, &at, body).await?
                }
                Some(_) if kind.builtin => return Err(ApiError::no_such_path()),
                Some(_) => return Err(at.not_found()),
            }
        }
    };
    respond::warn(&mut response, deprecation.as_slice());
    Ok(response)
}

async fn collection(
    call: &Call,
    kind: &Arc<Kind>,
    path: &ResourcePath,
    view: View,
    body: Body,
) -> Result<Response<Body>, ApiError> {
    let namespace = path.namespace.as_deref();
    match call.method {
        Method::GET if call.query.flag("watch") => {
            check_streamable(view)?;
            let selector = selector(call, kind)?;
            watch::start(call, kind.clone(), namespace, selector, view)
        }
        Method::GET | Method::HEAD => {
            let selector = selector(call, kind)?;
            let options = call.query.list_options()?;
            let accept = call.headers.get(ACCEPT).and_then(|h| h.to_str().ok());
            if kind.builtin {
                check_list(accept, &format!("*{}.{}", kind.version, kind.list_kind))?;
            } else {
                check_list(accept, "*unstructured.UnstructuredList")?;
            }
            let listed = call.core.list(kind, namespace, &selector, &options).await?;
            Ok(respond::list(kind, listed, view))
        }
        // A namespaced object is created in a namespace; the whole collection is no place.
        Method::POST if kind.namespaced && namespace.is_none() => Err(ApiError::no_such_path()),
        Method::POST => {
            let namespace = namespace.unwrap_or_default();
            let decoded = read_object(call, body, &Expected::object(kind)).await?;
            let options = write_options(call, decoded.complaints)?;
            let written = call
                .core
                .create(kind, namespace, decoded.value, &options)
                .await?;
            Ok(written_response(kind, written, view))
        }
        // So are they deleted; and namespaces go one by one.
        Method::DELETE if kind.namespaced && namespace.is_none() && kind.builtin => {
            Err(ApiError::method_not_allowed())
        }
        Method::DELETE if kind.namespaced && namespace.is_none() => Err(ApiError::no_such_path()),
        Method::DELETE if kind.hook == Hook::Namespace => Err(ApiError::method_not_allowed()),
        Method::DELETE => {
            let bytes = body::read(body).await?;
            let given = delete_body(call, kind, &bytes)?;
            let options = delete_options(call, given.as_ref())?;
            let selector = selector(call, kind)?;
            let deleted = call
                .core
                .delete_collection(kind, namespace, &selector, &options)
                .await?;
            let revision = call.core.store.revision().to_string();
            let mut metadata = json!({"resourceVersion": revision});
            if !kind.builtin {
                metadata["continue"] = "".into();
            }
            let list = respond::list_of(kind, &metadata, deleted);
            Ok(respond::value(StatusCode::OK, &list, view.format.yaml))
        }
        Method::PUT | Method::PATCH if !kind.builtin => {
            Err(ApiError::bad_request("name must be provided"))
        }
        _ => Err(ApiError::method_not_allowed()),
    }
}

async fn object(
    call: &Call,
    at: &Address,
    part: Part,
    view: View,
    body: Body,
) -> Result<Response<Body>, ApiError> {
    let core = &call.core;
    match call.method {
        Method::GET if call.query.flag("watch") && part == Part::Main => {
            check_streamable(view)?;
            let namespace = at.kind.namespaced.then_some(at.namespace.as_str());
            watch::start(
                call,
                at.kind.clone(),
                namespace,
                Selector::by_name(&at.name),
                view,
            )
        }
        Method::GET | Method::HEAD => {
            check_version_asked(call)?;
            let entry = core.get_entry(at).await?;
            if view.is_as_stored() {
                return Ok(respond::entry(StatusCode::OK, &entry));
            }
            let object = view.object(&at.kind, codec::decode(&entry));
            Ok(respond::value(StatusCode::OK, &object, view.format.yaml))
        }
        Method::PUT => {
            let decoded = read_object(call, body, &Expected::object(&at.kind)).await?;
            let options = write_options(call, decoded.complaints)?;
            let written = core.update(at, part, decoded.value, &options).await?;
            Ok(written_response(&at.kind, written, view))
        }
        Method::PATCH => {
            let bytes = body::read(body).await?;
            let (kind, value, options) = patch_request(call, &at.kind, &bytes)?;
            let written = core.patch(at, part, kind, value, &options).await?;
            Ok(written_response(&at.kind, written, view))
        }
        Method::DELETE if part == Part::Main => {
            let bytes = body::read(body).await?;
            let given = delete_body(call, &at.kind, &bytes)?;
            let options = delete_options(call, given.as_ref())?;
            let answer = match core.delete(at, &options).await? {
                Deleted::Pending(object) => view.object(&at.kind, object),
                Deleted::Gone(object) if at.kind.returns_deleted => view.object(&at.kind, object),
                Deleted::Gone(object) => deleted_status(at, &object),
            };
            Ok(respond::value(StatusCode::OK, &answer, view.format.yaml))
        }
        _ if part != Part::Main => Err(unsupported_method(call, &at.kind)),
        _ => Err(ApiError::method_not_allowed()),
    }
}

/// A method that a subresource has not: custom kinds say which verb that is.
fn unsupported_method(call: &Call, kind: &Kind) -> ApiError {
    let verb = match call.method {
        Method::POST => "create",
        Method::DELETE => "delete",
        _ => return ApiError::method_not_allowed(),
    };
    if kind.builtin {
        return ApiError::method_not_allowed();
    }
    ApiError::unsupported_verb(kind, verb)
}

async fn scale(
    call: &Call,
    at: &Address,
    paths: &Scale,
    body: Body,
) -> Result<Response<Body>, ApiError> {
    let core = &call.core;
    let written = match call.method {
        Method::GET | Method::HEAD => {
            return Ok(respond::value(
                StatusCode::OK,
                &core.scale(at, paths).await?,
                false,
            ));
        }
        Method::PUT => {
            let expected = Expected::builtin("autoscaling/v1".into(), "Scale");
            let decoded = read_object(call, body, &expected).await?;
            let options = write_options(call, decoded.complaints)?;
            core.update_scale(at, paths, &decoded.value, &options)
                .await?
        }
        Method::PATCH => {
            let bytes = body::read(body).await?;
            let (kind, value, options) = patch_request(call, &at.kind, &bytes)?;
            core.patch_scale(at, paths, kind, &value, &options).await?
        }
        _ => return Err(unsupported_method(call, &at.kind)),
    };
    Ok(respond::value(StatusCode::OK, &written.object, false))
}

/// Events come as JSON: YAML has no end that a reader could see.
fn check_streamable(view: View) -> Result<(), ApiError> {
    if view.format.yaml {
        let message = "only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch";
        let code = StatusCode::NOT_ACCEPTABLE;
        return Err(ApiError::new(code, "NotAcceptable", message));
    }
    Ok(())
}

fn selector(call: &Call, kind: &Kind) -> Result<Selector, ApiError> {
    Selector::parse(
        kind,
        call.query.get("labelSelector"),
        call.query.get("fieldSelector"),
    )
}

fn check_version_asked(call: &Call) -> Result<(), ApiError> {
    let current = call.core.store.revision().0;
    match call.query.resource_version()? {
        Some(asked) if asked > current => Err(ApiError::too_large_resource_version(asked, current)),
        _ => Ok(()),
    }
}

fn delete_options(call: &Call, given: Option<&Value>) -> Result<DeleteOptions, ApiError> {
    let mut options = call.query.delete_options(given, &call.identity)?;
    options.notes = call.notes.clone();
    Ok(options)
}

/// Reads a question, and how it was asked.
pub(super) async fn read_review(
    call: &Call,
    kind: &Kind,
    body: Body,
) -> Result<(Value, WriteOptions), ApiError> {
    let decoded = read_object(call, body, &Expected::object(kind)).await?;
    let options = write_options(call, decoded.complaints)?;
    Ok((decoded.value, options))
}

async fn read_object(
    call: &Call,
    body: Body,
    expected: &Expected<'_>,
) -> Result<Decoded, ApiError> {
    body::decode(call.content_type(), &body::read(body).await?, expected)
}

fn delete_body(call: &Call, kind: &Kind, bytes: &Bytes) -> Result<Option<Value>, ApiError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let expected = Expected::builtin(kind.api_version(), "DeleteOptions");
    let decoded = body::decode(call.content_type(), bytes, &expected)?;
    let text = |field: &str| decoded.value[field].as_str().unwrap_or_default().to_owned();
    match text("kind").as_str() {
        "" | "DeleteOptions" => Ok(Some(decoded.value)),
        other => Err(ApiError::bad_request(format!(
            "no kind {other:?} is registered for version {:?} in scheme {SCHEME:?}",
            text("apiVersion")
        ))),
    }
}

fn written_response(kind: &Kind, written: Written, view: View) -> Response<Body> {
    let code = if written.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let mut response = match &written.entry {
        Some(entry) if view.is_as_stored() => respond::entry(code, entry),
        _ => {
            let object = view.object(kind, written.object);
            respond::value(code, &object, view.format.yaml)
        }
    };
    respond::warn(&mut response, &written.warnings);
    response
}

fn deleted_status(at: &Address, object: &Value) -> Value {
    let mut details = json!({"name": at.name, "kind": at.kind.plural, "uid": meta::uid(object)});
    if !at.kind.group.is_empty() {
        details["group"] = at.kind.group.clone().into();
    }
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    })
}
