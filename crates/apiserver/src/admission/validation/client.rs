//! What is wrong with a `clientConfig`.

use serde_json::Value;

use crate::resource::names;
use crate::status::Cause;

/// Judges the `clientConfig` of a webhook, for admission or conversion.
pub(crate) fn validate(config: &Value, path: &str, causes: &mut Vec<Cause>) {
    match (config["url"].as_str(), &config["service"]) {
        (Some(url), Value::Null) => validate_url(url, &format!("{path}.url"), causes),
        (None, service @ Value::Object(_)) => {
            validate_service(service, &format!("{path}.service"), causes);
        }
        _ => causes.push(Cause::required(
            path,
            "exactly one of url or service is required",
        )),
    }
}

fn validate_url(url: &str, field: &str, causes: &mut Vec<Cause>) {
    const FORM: &str = "; desired format: https://host[/path]";
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = rest.split_once("://").unwrap_or(("", rest));
    let authority = match scheme {
        "" => "",
        _ => rest.split('/').next().unwrap_or_default(),
    };
    let (user, host) = authority
        .rsplit_once('@')
        .map_or((None, authority), |(user, host)| (Some(user), host));
    let mut refuse = |value: &str, why: &str| {
        causes.push(Cause::invalid(field, &format!("{value:?}"), why));
    };
    if scheme != "https" {
        refuse(
            scheme,
            &format!("'https' is the only allowed URL scheme{FORM}"),
        );
    }
    if host.is_empty() {
        refuse(host, &format!("host must be specified{FORM}"));
    }
    if let Some(user) = user {
        refuse(user, "user information is not permitted in the URL");
    }
    if !fragment.is_empty() {
        refuse(fragment, "fragments are not permitted in the URL");
    }
    if !query.is_empty() {
        refuse(query, "query parameters are not permitted in the URL");
    }
}

/// Judges a reference to a service.
fn validate_service(service: &Value, path: &str, causes: &mut Vec<Cause>) {
    let text = |field: &str| service[field].as_str().unwrap_or_default();
    // Upstream confuses the two, and clients see the one for the other.
    for (empty, blamed) in [("namespace", "name"), ("name", "namespace")] {
        if text(empty).is_empty() {
            causes.push(Cause::required(&format!("{path}.{blamed}"), ""));
        }
    }
    let port = service["port"].as_i64().unwrap_or(443);
    if !(1..=65535).contains(&port) {
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        causes.push(Cause::invalid(
            &format!("{path}.port"),
            &port.to_string(),
            why,
        ));
    }
    validate_path(text("path"), &format!("{path}.path"), causes);
}

fn validate_path(path: &str, field: &str, causes: &mut Vec<Cause>) {
    let mut refuse = |why: &str| causes.push(Cause::invalid(field, &format!("{path:?}"), why));
    match path {
        "" | "/" => return,
        "//" => return refuse("segment[0] may not be empty"),
        _ => {}
    }
    if !path.starts_with('/') {
        refuse("must start with a '/'");
    }
    let mut chars = path.chars();
    chars.next();
    let rest = chars.as_str();
    for (at, step) in rest
        .strip_suffix('/')
        .unwrap_or(rest)
        .split('/')
        .enumerate()
    {
        if step.is_empty() {
            refuse(&format!("segment[{at}] may not be empty"));
        }
        let why = names::dns_subdomain(step)
            .into_iter()
            .filter(|_| !step.is_empty());
        for why in why {
            refuse(&format!("segment[{at}]: {why}"));
        }
    }
}
