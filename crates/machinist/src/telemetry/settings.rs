//! What the standard environment variables of OpenTelemetry ask for.
//!
//! They are read as the specification says, with one difference: what it would have a program
//! ignore is an error here, because nobody reads the warning.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use machinist_engine::trace::Sampler;
use percent_encoding::percent_decode_str;
use reqwest::Url;

/// The flag that asks for traces.
pub(super) const FLAG: &str = "--otlp-endpoint";
/// Where a collector listens unless told otherwise.
const USUAL: &str = "http://localhost:4318";

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
}

/// Everything that sending traces needs.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) endpoint: Url,
    pub(super) encoding: Encoding,
    pub(super) gzip: bool,
    pub(super) headers: HeaderMap,
    pub(super) timeout: Duration,
    pub(super) sampler: Sampler,
    /// What the spans are about: this program, where and as what it runs.
    pub(super) resource: Vec<(String, String)>,
    /// How many spans wait at most, and go at once at most.
    pub(super) queue: usize,
    pub(super) batch: usize,
    /// How long spans wait for others to go with.
    pub(super) delay: Duration,
}

/// A variable or flag that does not say what can be done.
#[derive(Debug, thiserror::Error, PartialEq)]
pub(super) enum SettingsError {
    #[error("{variable}: {value:?} is not allowed; allowed is {allowed}")]
    Value {
        variable: String,
        value: String,
        allowed: &'static str,
    },
    /// What may be secret is not repeated.
    #[error("{variable}: entry {entry} cannot be read; allowed is {allowed}")]
    Entry {
        variable: String,
        entry: usize,
        allowed: &'static str,
    },
}

/// A variable that is set: its name and its value. One that is empty is not, by the specification.
type Given = (String, String);

struct Variables<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    fn get(&self, name: &str) -> Option<Given> {
        let value = (self.0)(name)?.trim().to_owned();
        (!value.is_empty()).then(|| (name.to_owned(), value))
    }

    /// What is said of traces counts before what is said of everything.
    fn of_exporter(&self, name: &str) -> Option<Given> {
        let of_traces = self.get(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"));
        of_traces.or_else(|| self.get(&format!("OTEL_EXPORTER_OTLP_{name}")))
    }

    fn number(&self, given: Option<Given>, usual: u64) -> Result<u64, SettingsError> {
        let Some((variable, value)) = given else {
            return Ok(usual);
        };
        match value.parse() {
            Ok(number @ 1..=86_400_000) => Ok(number),
            _ => Err(bad(variable, value, "a number from 1 to 86400000")),
        }
    }
}

fn bad(variable: String, value: String, allowed: &'static str) -> SettingsError {
    SettingsError::Value {
        variable,
        value,
        allowed,
    }
}

impl Settings {
    /// Reads flag and variables; nothing when they do not ask for traces.
    pub(super) fn read(
        flag: Option<&str>,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Settings>, SettingsError> {
        let variables = Variables(variables);
        if is_disabled(&variables)? {
            return Ok(None);
        }
        let Some(endpoint) = endpoint(flag, &variables)? else {
            return Ok(None);
        };
        let millis = Duration::from_millis;
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).min(1 << 20);
        let number = |name: &str, usual| variables.number(variables.get(name), usual);
        let queue = count(number("OTEL_BSP_MAX_QUEUE_SIZE", 2048)?);
        Ok(Some(Settings {
            endpoint,
            encoding: encoding(&variables)?,
            gzip: gzip(&variables)?,
            headers: headers(&variables)?,
            timeout: millis(variables.number(variables.of_exporter("TIMEOUT"), 10_000)?),
            sampler: sampler(&variables)?,
            resource: of_program(&variables)?,
            queue,
            batch: count(number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)?).min(queue),
            delay: millis(number("OTEL_BSP_SCHEDULE_DELAY", 5000)?),
        }))
    }
}

fn is_disabled(variables: &Variables<'_>) -> Result<bool, SettingsError> {
    let Some((variable, value)) = variables.get("OTEL_SDK_DISABLED") else {
        return Ok(false);
    };
    match value.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(bad(variable, value, "true or false")),
    }
}

/// Where to send, if anywhere. A place for all signals gets the path of traces.
fn endpoint(flag: Option<&str>, variables: &Variables<'_>) -> Result<Option<Url>, SettingsError> {
    let exporter = variables.get("OTEL_TRACES_EXPORTER");
    let asked = match exporter.as_ref().map(|(_, value)| value.as_str()) {
        None => false,
        Some("none") => return Ok(None),
        Some("otlp") => true,
        Some(value) => {
            let (variable, value) = ("OTEL_TRACES_EXPORTER".to_owned(), value.to_owned());
            return Err(bad(variable, value, "otlp or none"));
        }
    };
    let flag = flag.map(|value| (FLAG.to_owned(), value.to_owned(), true));
    let given = flag
        .or_else(|| {
            let given = variables.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
            given.map(|(variable, value)| (variable, value, false))
        })
        .or_else(|| {
            let given = variables.get("OTEL_EXPORTER_OTLP_ENDPOINT");
            given.map(|(variable, value)| (variable, value, true))
        })
        .or_else(|| asked.then(|| (String::new(), USUAL.to_owned(), true)));
    let Some((variable, value, of_all)) = given else {
        return Ok(None);
    };
    let allowed = "an http or https URL without user and password";
    // Whoever writes a password there would read it in a log.
    let shown = match value.contains('@') {
        true => "(hidden: it has an @)".to_owned(),
        false => value.clone(),
    };
    let url = Url::parse(&value).ok().filter(|url| {
        let alone = url.username().is_empty() && url.password().is_none();
        alone && url.has_host() && matches!(url.scheme(), "http" | "https")
    });
    let Some(mut url) = url else {
        return Err(bad(variable, shown, allowed));
    };
    if of_all {
        let path = format!("{}/v1/traces", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    Ok(Some(url))
}

fn encoding(variables: &Variables<'_>) -> Result<Encoding, SettingsError> {
    let Some((variable, value)) = variables.of_exporter("PROTOCOL") else {
        return Ok(Encoding::Protobuf);
    };
    match value.as_str() {
        "http/protobuf" => Ok(Encoding::Protobuf),
        "http/json" => Ok(Encoding::Json),
        _ => Err(bad(variable, value, "http/protobuf or http/json")),
    }
}

fn gzip(variables: &Variables<'_>) -> Result<bool, SettingsError> {
    let Some((variable, value)) = variables.of_exporter("COMPRESSION") else {
        return Ok(false);
    };
    match value.as_str() {
        "gzip" => Ok(true),
        "none" => Ok(false),
        _ => Err(bad(variable, value, "gzip or none")),
    }
}

/// The entries of a list of `key=value`, whose values are percent-encoded.
fn entries((variable, value): &Given) -> Result<Vec<(String, String)>, SettingsError> {
    let parts = value.split(',').map(str::trim).enumerate();
    let parts = parts.filter(|(_, part)| !part.is_empty());
    parts
        .map(|(at, part)| {
            let read = part.split_once('=').and_then(|(key, value)| {
                let key = key.trim();
                let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
                (!key.is_empty()).then(|| (key.to_owned(), value.into_owned()))
            });
            read.ok_or_else(|| SettingsError::Entry {
                variable: variable.clone(),
                entry: at + 1,
                allowed: "key=value,key=value with percent-encoded values",
            })
        })
        .collect()
}

fn headers(variables: &Variables<'_>) -> Result<HeaderMap, SettingsError> {
    let mut headers = HeaderMap::new();
    let Some(given) = variables.of_exporter("HEADERS") else {
        return Ok(headers);
    };
    for (at, (key, value)) in entries(&given)?.into_iter().enumerate() {
        let name = HeaderName::try_from(key);
        let value = HeaderValue::try_from(value);
        let (Ok(name), Ok(mut value)) = (name, value) else {
            return Err(SettingsError::Entry {
                variable: given.0,
                entry: at + 1,
                allowed: "the name and value of an HTTP header",
            });
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn sampler(variables: &Variables<'_>) -> Result<Sampler, SettingsError> {
    let Some((variable, value)) = variables.get("OTEL_TRACES_SAMPLER") else {
        return Ok(Sampler::DEFAULT);
    };
    let (parent_based, root) = match value.strip_prefix("parentbased_") {
        Some(root) => (true, root),
        None => (false, value.as_str()),
    };
    let ratio = match root {
        "always_on" => 1.0,
        "always_off" => 0.0,
        "traceidratio" => ratio(variables)?,
        _ => {
            return Err(bad(
                variable,
                value,
                "always_on, always_off or traceidratio, alone or after parentbased_",
            ));
        }
    };
    Ok(Sampler {
        parent_based,
        ratio,
    })
}

fn ratio(variables: &Variables<'_>) -> Result<f64, SettingsError> {
    let Some((variable, value)) = variables.get("OTEL_TRACES_SAMPLER_ARG") else {
        return Ok(1.0);
    };
    match value.parse() {
        Ok(ratio) if (0.0..=1.0).contains(&ratio) => Ok(ratio),
        _ => Err(bad(variable, value, "a number from 0 to 1")),
    }
}

/// What is sent is about this program, where and as what it runs.
pub(super) fn resource(
    variables: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, SettingsError> {
    of_program(&Variables(variables))
}

fn of_program(variables: &Variables<'_>) -> Result<Vec<(String, String)>, SettingsError> {
    let mut resource = match variables.get("OTEL_RESOURCE_ATTRIBUTES") {
        Some(given) => entries(&given)?,
        None => Vec::new(),
    };
    if let Some((_, name)) = variables.get("OTEL_SERVICE_NAME") {
        resource.retain(|(key, _)| key != "service.name");
        resource.push(("service.name".to_owned(), name));
    }
    let own = [
        ("service.name", "machinist".to_owned()),
        ("service.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("service.instance.id", uuid::Uuid::new_v4().to_string()),
    ];
    for (key, value) in own {
        if !resource.iter().any(|(known, _)| known == key) {
            resource.push((key.to_owned(), value));
        }
    }
    Ok(resource)
}

#[cfg(test)]
mod tests;
