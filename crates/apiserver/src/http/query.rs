//! The query of a request, and the options that are read from it.

use http::Method;
use percent_encoding::percent_decode_str;

use crate::admission::Notes;
use crate::auth::Identity;
use crate::meta;
use crate::resource::{DeleteOptions, FieldValidation, ListOptions, Propagation, VersionMatch};
use crate::status::{ApiError, Cause};
use crate::table::IncludeObject;

/// The parameters of a query, decoded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
    /// What the options of the request are called in refusals.
    options: &'static str,
}

impl Query {
    /// Reads the query string of a request that reads.
    pub(crate) fn parse(text: &str) -> Self {
        Self::of(&Method::GET, text)
    }

    /// Reads the query string of a request by this method.
    pub(crate) fn of(method: &Method, text: &str) -> Self {
        let decode = |part: &str| {
            let spaced = part.replace('+', " ");
            percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pairs = text.split('&').filter(|p| !p.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key), decode(value))
        });
        Self {
            pairs: pairs.collect(),
            options: match *method {
                Method::POST => "CreateOptions",
                Method::PUT => "UpdateOptions",
                Method::PATCH => "PatchOptions",
                Method::DELETE => "DeleteOptions",
                _ => "ListOptions",
            },
        }
    }

    /// The first value of a parameter; empty when it is absent.
    pub(crate) fn get(&self, key: &str) -> &str {
        let mut pairs = self.pairs.iter();
        pairs.find(|(k, _)| k == key).map_or("", |(_, v)| v)
    }

    /// Whether a parameter is given.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.pairs.iter().any(|(k, _)| k == key)
    }

    /// A boolean parameter, as Go reads it.
    pub(crate) fn flag(&self, key: &str) -> bool {
        matches!(self.get(key), "true" | "True" | "TRUE" | "1" | "t" | "T")
    }

    /// Whether nothing may be stored.
    pub(crate) fn dry_run(&self) -> Result<bool, ApiError> {
        let given = self.pairs.iter().filter(|(key, _)| key == "dryRun");
        self.is_dry(&given.map(|(_, value)| value.as_str()).collect::<Vec<_>>())
    }

    fn is_dry(&self, given: &[&str]) -> Result<bool, ApiError> {
        if given.iter().all(|value| *value == "All") {
            return Ok(!given.is_empty());
        }
        let shown = serde_json::Value::from(given).to_string();
        Err(self.refuse(&[Cause::unsupported("dryRun", &shown, &["All"])]))
    }

    /// What to do about unknown fields.
    pub(crate) fn field_validation(&self) -> Result<FieldValidation, ApiError> {
        match self.get("fieldValidation") {
            "" | "Warn" => Ok(FieldValidation::Warn),
            "Strict" => Ok(FieldValidation::Strict),
            "Ignore" => Ok(FieldValidation::Ignore),
            other => {
                let (shown, all) = (format!("{other:?}"), ["", "Ignore", "Strict", "Warn"]);
                Err(self.refuse(&[Cause::unsupported("fieldValidation", &shown, &all)]))
            }
        }
    }

    /// The resource version, where one above zero is given.
    pub(crate) fn resource_version(&self) -> Result<Option<u64>, ApiError> {
        match self.get("resourceVersion") {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                let cause = format!(
                    "Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
                );
                ApiError::bad_request(format!(
                    "invalid resource version: resourceVersion: {cause}"
                ))
            }),
        }
    }

    /// Which part of a collection is asked for.
    pub(crate) fn list_options(&self) -> Result<ListOptions, ApiError> {
        let token = Some(self.get("continue"))
            .filter(|t| !t.is_empty())
            .map(str::to_owned);
        let mut causes = Vec::new();
        let mut forbid = |field: &str, why: &str| causes.push(Cause::forbidden(field, why));
        let (matching, asked) = ("resourceVersionMatch", self.get("resourceVersion"));
        if self.has("sendInitialEvents") {
            let why = "sendInitialEvents is forbidden for list";
            forbid("sendInitialEvents", why);
        }
        if !self.get(matching).is_empty() {
            if asked.is_empty() {
                let why = "resourceVersionMatch is forbidden unless resourceVersion is provided";
                forbid(matching, why);
            }
            if token.is_some() {
                let why = "resourceVersionMatch is forbidden when continue is provided";
                forbid(matching, why);
            }
            if self.get(matching) == "Exact" && asked == "0" {
                let why = "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"";
                forbid(matching, why);
            }
        }
        let version_match = self.version_match()?;
        if !causes.is_empty() {
            return Err(self.refuse(&causes));
        }
        let version = self.resource_version()?;
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
        // What is asked from a cache, at any age, comes whole.
        let any_age = version == Some(0) && version_match.is_none();
        Ok(ListOptions {
            limit: limit.filter(|_| !any_age),
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
            other => {
                let (shown, all) = (format!("{other:?}"), ["Exact", "NotOlderThan", ""]);
                Err(self.refuse(&[Cause::unsupported("resourceVersionMatch", &shown, &all)]))
            }
        }
    }

    /// What the rows of a table carry.
    pub(crate) fn include_object(&self) -> Result<IncludeObject, ApiError> {
        match self.get("includeObject") {
            "" | "Metadata" => Ok(IncludeObject::Metadata),
            "None" => Ok(IncludeObject::None),
            "Object" => Ok(IncludeObject::Object),
            other => Err(ApiError::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', 'Object', 'None', or empty"
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
                let all = ["Foreground", "Background", "Orphan", "nil"];
                let cause = Cause::unsupported("propagationPolicy", &format!("{other:?}"), &all);
                return Err(self.refuse(&[cause]));
            }
        };
        if orphan.is_some() && !policy.is_empty() {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            let cause = Cause::invalid("propagationPolicy", &format!("{policy:?}"), why);
            return Err(self.refuse(&[cause]));
        }
        let dry_run = match body.and_then(|b| b.get("dryRun")) {
            Some(given) => self.is_dry(&meta::strings(Some(given)))?,
            None => self.dry_run()?,
        };
        Ok(DeleteOptions {
            dry_run,
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

    /// A refusal of the options themselves.
    pub(crate) fn refuse(&self, causes: &[Cause]) -> ApiError {
        ApiError::invalid_named("meta.k8s.io", self.options, "", causes)
    }
}
