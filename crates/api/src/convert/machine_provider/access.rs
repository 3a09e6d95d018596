//! How a provider is reached: `config` and `endpoint`, `authentication` and `credentials` of
//! v1alpha1; `endpoint`, `parameters` and `authentication` of v1beta1.

use serde_json::{Value, json};

use super::super::concept::{Concept, Fields};
use super::super::value::{copy, copy_back, object, set, set_object, text};

pub(super) const CONCEPTS: &[Concept] = &[
    Concept::spec(
        "endpoint",
        &["config", "endpoint"],
        &["endpoint", "parameters", "proxmox", "kubevirt"],
        up,
        down,
    ),
    Concept::spec(
        "authentication",
        &["authentication", "credentials"],
        &["authentication"],
        authentication_up,
        authentication_down,
    ),
];

const RETRY: &[(&str, &str)] = &[
    ("maxRetries", "attempts"),
    ("backoffMultiplier", "backoffMultiplier"),
    ("maxBackoffDelay", "maxDelay"),
];
const RATE: &[(&str, &str)] = &[
    ("requestsPerSecond", "requestsPerSecond"),
    ("burstLimit", "burst"),
];
const PLATFORMS: &[(&str, &str)] = &[("proxmox", "proxmox"), ("kubevirt", "kubevirt")];
const TRUST: &[(&str, &str)] = &[
    ("insecureSkipTLSVerify", "insecureSkipTLSVerify"),
    ("caBundle", "caBundle"),
];
/// Members of `config` that are no settings of the platform's.
const OURS: &[&str] = &[
    "endpoint",
    "version",
    "timeout",
    "retryPolicy",
    "rateLimiting",
    "customSettings",
    "proxmox",
    "kubevirt",
];

fn up(alpha: &Fields) -> Fields {
    let config = object(alpha, "config").unwrap_or_default();
    let given = object(alpha, "endpoint").unwrap_or_default();
    let mut endpoint = Fields::new();
    copy(
        &config,
        &mut endpoint,
        &[
            ("endpoint", "address"),
            ("version", "version"),
            ("timeout", "timeout"),
        ],
    );
    copy(
        &given,
        &mut endpoint,
        &[("url", "address"), ("timeout", "timeout")],
    );
    copy(
        &given,
        &mut endpoint,
        &[("insecureSkipVerify", "insecureSkipTLSVerify")],
    );
    copy(&given, &mut endpoint, TRUST);
    if let Some(seconds) = given.get("timeoutSeconds").and_then(Value::as_i64)
        && !endpoint.contains_key("timeout")
    {
        endpoint.insert("timeout".to_owned(), format!("{seconds}s").into());
    }
    let mut retry = Fields::new();
    copy(&given, &mut retry, &[("retryAttempts", "attempts")]);
    copy(
        &object(&config, "retryPolicy").unwrap_or_default(),
        &mut retry,
        RETRY,
    );
    set_object(&mut endpoint, "retry", retry);
    let mut rate = Fields::new();
    copy(
        &object(&config, "rateLimiting").unwrap_or_default(),
        &mut rate,
        RATE,
    );
    set_object(&mut endpoint, "rateLimit", rate);
    let mut parameters = object(&config, "customSettings").unwrap_or_default();
    for (key, value) in &config {
        if value.is_string() && !OURS.contains(&key.as_str()) {
            parameters.entry(key.clone()).or_insert(value.clone());
        }
    }
    let mut beta = Fields::new();
    if !endpoint.is_empty() || alpha.contains_key("endpoint") {
        beta.insert("endpoint".to_owned(), Value::Object(endpoint));
    }
    set_object(&mut beta, "parameters", parameters);
    copy(&config, &mut beta, PLATFORMS);
    beta
}

fn down(beta: &Fields) -> Fields {
    let given = object(beta, "endpoint").unwrap_or_default();
    let mut config = Fields::new();
    let mut endpoint = Fields::new();
    copy_back(&given, &mut endpoint, TRUST);
    // Only the second form has trust, only the first takes a host without a scheme.
    let address = text(&given, "address");
    let is_url = address
        .as_deref()
        .is_some_and(|address| address.contains("://"));
    if is_url || !endpoint.is_empty() {
        let url = address.map(|address| match is_url {
            true => address,
            false => format!("https://{address}"),
        });
        set(&mut endpoint, "url", url);
        copy(&given, &mut endpoint, &[("timeout", "timeout")]);
    } else {
        set(&mut config, "endpoint", address);
        copy(&given, &mut config, &[("timeout", "timeout")]);
    }
    copy(&given, &mut config, &[("version", "version")]);
    let mut retry = Fields::new();
    copy_back(
        &object(&given, "retry").unwrap_or_default(),
        &mut retry,
        RETRY,
    );
    set_object(&mut config, "retryPolicy", retry);
    let mut rate = Fields::new();
    copy_back(
        &object(&given, "rateLimit").unwrap_or_default(),
        &mut rate,
        RATE,
    );
    set_object(&mut config, "rateLimiting", rate);
    set_object(
        &mut config,
        "customSettings",
        object(beta, "parameters").unwrap_or_default(),
    );
    copy_back(beta, &mut config, PLATFORMS);
    let mut alpha = Fields::new();
    set_object(&mut alpha, "config", config);
    set_object(&mut alpha, "endpoint", endpoint);
    alpha
}

/// Methods of v1alpha1: the word in `type`, the field in v1alpha1 and the one in v1beta1.
const METHODS: &[(&str, &str, &str)] = &[
    ("apikey", "apiKey", "apiKey"),
    ("oauth2", "oauth2", "oauth2"),
    ("certificate", "certificate", "certificate"),
    ("serviceaccount", "serviceAccount", "serviceAccount"),
    ("serviceAccount", "serviceAccount", "serviceAccount"),
    ("certificate", "credentialsRef", "credentials"),
    ("credentials", "credentialsRef", "credentials"),
    ("token", "credentialsRef", "credentials"),
];

fn authentication_up(alpha: &Fields) -> Fields {
    let mut made = Fields::new();
    if let Some(credentials) = alpha.get("credentials") {
        made.insert("credentials".to_owned(), credentials.clone());
    } else if let Some(given) = object(alpha, "authentication") {
        copy(&given, &mut made, &[("parameters", "parameters")]);
        let type_ = text(&given, "type");
        let there = |method: &&(&str, &str, &str)| given.contains_key(method.1);
        let named = |method: &&(&str, &str, &str)| type_.as_deref() == Some(method.0);
        let methods = || METHODS.iter().filter(there);
        if let Some((_, field, method)) = methods().find(named).or_else(|| methods().next()) {
            let value = method_up(method, &given[*field], type_.as_deref());
            made.insert((*method).to_owned(), value);
        } else if let Some(ambient) =
            type_.filter(|word| word == "instanceProfile" || word == "managedIdentity")
        {
            made.insert("ambient".to_owned(), ambient.into());
        }
    }
    let mut beta = Fields::new();
    set_object(&mut beta, "authentication", made);
    beta
}

fn method_up(method: &str, given: &Value, type_: Option<&str>) -> Value {
    match (method, given.as_object()) {
        ("serviceAccount", Some(given)) => {
            let mut account = Fields::new();
            copy(
                given,
                &mut account,
                &[("accountID", "accountID"), ("scopes", "scopes")],
            );
            if let Some(key) = object(given, "keyRef") {
                account.insert("secretRef".to_owned(), secret(&key));
            }
            copy(given, &mut account, &[("secretRef", "secretRef")]);
            Value::Object(account)
        }
        ("credentials", Some(given)) => {
            let mut credentials = Fields::new();
            let word = type_.filter(|word| ["token", "certificate"].contains(word));
            set(&mut credentials, "type", word);
            credentials.insert("secretRef".to_owned(), secret(given));
            Value::Object(credentials)
        }
        _ => given.clone(),
    }
}

/// A reference to a Secret, from either spelling of its name.
fn secret(given: &Fields) -> Value {
    let mut secret = Fields::new();
    copy(given, &mut secret, &[("secretName", "name")]);
    copy(
        given,
        &mut secret,
        &[("name", "name"), ("namespace", "namespace"), ("key", "key")],
    );
    Value::Object(secret)
}

fn authentication_down(beta: &Fields) -> Fields {
    let given = object(beta, "authentication").unwrap_or_default();
    let mut alpha = Fields::new();
    let parameters = given.contains_key("parameters");
    if let Some(credentials) = given.get("credentials")
        && !parameters
    {
        alpha.insert("credentials".to_owned(), credentials.clone());
        return alpha;
    }
    let mut made = Fields::new();
    copy(
        &given,
        &mut made,
        &[("parameters", "parameters"), ("ambient", "type")],
    );
    if let Some(credentials) = object(&given, "credentials") {
        let word = text(&credentials, "type").filter(|word| word != "password");
        made.insert(
            "type".to_owned(),
            json!(word.unwrap_or("credentials".to_owned())),
        );
        copy(&credentials, &mut made, &[("secretRef", "credentialsRef")]);
    }
    for (type_, field, method) in METHODS.iter().take(4) {
        if let Some(value) = given.get(*method) {
            made.insert("type".to_owned(), (*type_).into());
            made.insert((*field).to_owned(), value.clone());
        }
    }
    set_object(&mut alpha, "authentication", made);
    alpha
}
