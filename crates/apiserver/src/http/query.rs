//! The query of a request, and the options that are read from it.

use percent_encoding::percent_decode_str;

use crate::admission::Notes;
use crate::auth::Identity;
use crate::resource::{DeleteOptions, FieldValidation, ListOptions, Propagation, VersionMatch};
use crate::status::{ApiError, Cause};
use crate::table::IncludeObject;

/// The parameters of a query, decoded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query string.
    pub(crate) fn parse(text: &str) -> Self {
        let decode = |part: &str| {
            let spaced = part.replace('+', " ");
            percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pairs = text.split('&').filter(|p| !p.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key), decode(value))
        });
        Self(pairs.collect())
    }

    /// The first value of a parameter; empty when it is absent.
    pub(crate) fn get(&self, key: &str) -> &str {
        self.0.iter().find(|(k, _)| k == key).map_or("", |(_, v)| v)
    }

    /// Whether a parameter is given.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(k, _)| k == key)
    }

    /// A boolean parameter, as Go reads it.
    pub(crate) fn flag(&self, key: &str) -> bool {
        matches!(self.get(key), "true" | "True" | "TRUE" | "1" | "t" | "T")
    }

    /// Whether nothing may be stored.
    pub(crate) fn dry_run(&self) -> Result<bool, ApiError> {
        match self.get("dryRun") {
            "" => Ok(false),
            "All" => Ok(true),
            other => Err(options_error(
                "dryRun",
                &format!("Unsupported value: {other:?}: supported values: \"All\""),
            )),
        }
    }

    /// What to do about unknown fields.
    pub(crate) fn field_validation(&self) -> Result<FieldValidation, ApiError> {
        match self.get("fieldValidation") {
            "" | "Warn" => Ok(FieldValidation::Warn),
            "Strict" => Ok(FieldValidation::Strict),
            "Ignore" => Ok(FieldValidation::Ignore),
            other => Err(options_error(
                "fieldValidation",
                &format!(
                    "Unsupported value: {other:?}: supported values: \"Ignore\", \"Strict\", \"Warn\""
                ),
            )),
        }
    }

    /// The resource version, where one above zero is given.
    pub(crate) fn resource_version(&self) -> Result<Option<u64>, ApiError> {
        match self.get("resourceVersion") {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                ApiError::bad_request(format!("invalid resource version {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"))
            }),
        }
    }

    /// Which part of a collection is asked for.
    pub(crate) fn list_options(&self) -> Result<ListOptions, ApiError> {
        let version = self.resource_version()?;
        let version_match = self.version_match()?;
        if version_match.is_some() && version.is_none() {
            let why =
                "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided";
            return Err(options_error("resourceVersionMatch", why));
        }
        if version_match == Some(VersionMatch::Exact) && version == Some(0) {
            let why =
                "Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
            return Err(options_error("resourceVersionMatch", why));
        }
        let limit = match self.get("limit") {
            "" => None,
            text => text
                .parse::<i64>()
                .map_err(|_| {
                    ApiError::bad_request(format!(
                        "strconv.ParseInt: parsing {text:?}: invalid syntax"
                    ))
                })
                .map(|n| usize::try_from(n).ok().filter(|n| *n > 0))?,
        };
        let token = Some(self.get("continue"))
            .filter(|t| !t.is_empty())
            .map(str::to_owned);
        Ok(ListOptions {
            limit,
            token,
            version,
            version_match,
        })
    }

    /// How the resource version is meant.
    pub(crate) fn version_match(&self) -> Result<Option<VersionMatch>, ApiError> {
        match self.get("resourceVersionMatch") {
            "" => Ok(None),
            "Exact" => Ok(Some(VersionMatch::Exact)),
            "NotOlderThan" => Ok(Some(VersionMatch::NotOlderThan)),
            other => Err(options_error(
                "resourceVersionMatch",
                &format!(
                    "Unsupported value: {other:?}: supported values: \"Exact\", \"NotOlderThan\""
                ),
            )),
        }
    }

    /// What the rows of a table carry.
    pub(crate) fn include_object(&self) -> Result<IncludeObject, ApiError> {
        match self.get("includeObject") {
            "" | "Metadata" => Ok(IncludeObject::Metadata),
            "None" => Ok(IncludeObject::None),
            "Object" => Ok(IncludeObject::Object),
            other => Err(ApiError::bad_request(format!(
                "unrecognized includeObject value: {other:?}"
            ))),
        }
    }

    /// How to delete, from the query and from the body that may come with it.
    pub(crate) fn delete_options(
        &self,
        body: Option<&serde_json::Value>,
        caller: &Identity,
    ) -> Result<DeleteOptions, ApiError> {
        let text = |pointer: &str| {
            body.and_then(|b| b.pointer(pointer))
                .and_then(|v| v.as_str())
        };
        let policy = text("/propagationPolicy").unwrap_or_else(|| self.get("propagationPolicy"));
        let orphan = body
            .and_then(|b| b.get("orphanDependents"))
            .and_then(serde_json::Value::as_bool);
        let propagation = match policy {
            "" => orphan.map(|o| {
                if o {
                    Propagation::Orphan
                } else {
                    Propagation::Background
                }
            }),
            "Background" => Some(Propagation::Background),
            "Foreground" => Some(Propagation::Foreground),
            "Orphan" => Some(Propagation::Orphan),
            other => {
                let why = format!(
                    "Unsupported value: {other:?}: supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""
                );
                return Err(options_error("propagationPolicy", &why));
            }
        };
        let in_body = body
            .and_then(|b| b.get("dryRun"))
            .and_then(|d| d.as_array())
            .is_some_and(|d| !d.is_empty());
        Ok(DeleteOptions {
            dry_run: in_body || self.dry_run()?,
            uid: text("/preconditions/uid").map(str::to_owned),
            resource_version: text("/preconditions/resourceVersion").map(str::to_owned),
            propagation,
            caller: caller.clone(),
            given: self.told_delete_options(body),
            notes: Notes::default(),
            internal: false,
            collection: false,
        })
    }
}

impl Query {
    /// The options of a delete as webhooks are told of them.
    fn told_delete_options(&self, body: Option<&serde_json::Value>) -> serde_json::Value {
        let mut options = body
            .and_then(|b| b.as_object())
            .cloned()
            .unwrap_or_default();
        options.insert("kind".into(), "DeleteOptions".into());
        options.insert("apiVersion".into(), "meta.k8s.io/v1".into());
        if body.is_none() {
            let policy = self.get("propagationPolicy");
            if !policy.is_empty() {
                options.insert("propagationPolicy".into(), policy.into());
            }
            if let Ok(seconds) = self.get("gracePeriodSeconds").parse::<i64>() {
                options.insert("gracePeriodSeconds".into(), seconds.into());
            }
            if self.has("dryRun") {
                options.insert("dryRun".into(), vec![self.get("dryRun")].into());
            }
        }
        options.into()
    }
}

/// A refusal of the options themselves.
pub(super) fn options_error(field: &str, message: &str) -> ApiError {
    let cause = Cause::new("FieldValueInvalid", field, message.to_owned());
    let mut error = ApiError::new(
        http::StatusCode::UNPROCESSABLE_ENTITY,
        "Invalid",
        format!("Options.meta.k8s.io \"\" is invalid: {field}: {message}"),
    );
    error.details.insert("group".into(), "meta.k8s.io".into());
    error.details.insert("kind".into(), "Options".into());
    error.with_cause(serde_json::json!({
        "reason": cause.reason, "message": cause.message, "field": cause.field,
    }))
}
