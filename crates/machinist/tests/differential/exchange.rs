//! One call at one server: the request that a scenario's data says, and the answer to it.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use futures::StreamExt as _;
use reqwest::{Client, Method, Response};
use serde_json::Value;
use tokio::task::JoinHandle;

use crate::scenario::{Call, Variables};

/// The headers that are compared.
const HEADERS: [&str; 8] = [
    "content-type",
    "warning",
    "allow",
    "retry-after",
    "cache-control",
    "location",
    "vary",
    "www-authenticate",
];
/// How long a condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// What a server answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub code: u16,
    pub headers: BTreeMap<String, Vec<String>>,
    /// One, but for watches: their events.
    pub bodies: Vec<Value>,
}

/// One of the two servers, in one scenario.
pub struct Side {
    client: Client,
    url: String,
    pub variables: Variables,
    watches: HashMap<String, JoinHandle<Answer>>,
}

impl Side {
    /// A server by its address and a client that it trusts.
    pub fn new(client: Client, url: String, variables: Variables) -> Side {
        Side {
            client,
            url,
            variables,
            watches: HashMap::new(),
        }
    }

    /// Makes the call, as often as its condition asks for, and keeps what is to be saved.
    pub async fn answer(&mut self, call: &Call) -> Option<Answer> {
        if let Some(name) = &call.collect {
            let watch = self.watches.remove(name).unwrap();
            return Some(watch.await.unwrap());
        }
        if let Some(name) = &call.open {
            let response = self.send(call).await;
            let task = tokio::spawn(read(response));
            self.watches.insert(name.clone(), task);
            return None;
        }
        let deadline = Instant::now() + PATIENCE;
        let answer = loop {
            let answer = read(self.send(call).await).await;
            if holds(call, &answer) {
                break answer;
            }
            assert!(
                Instant::now() < deadline,
                "{} never came to {:?}; last: {answer:#?}",
                call.line,
                call.until
            );
            tokio::time::sleep(PAUSE).await;
        };
        for (name, pointer) in &call.save {
            let value = answer.bodies.first().and_then(|body| body.pointer(pointer));
            let value = match value {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => format!("no-{name}"),
            };
            self.variables.set(name, value);
        }
        Some(answer)
    }

    async fn send(&self, call: &Call) -> Response {
        let line = self.variables.fill(&call.line);
        let (method, path) = line.split_once(' ').unwrap_or_else(|| panic!("{call:?}"));
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = self
            .client
            .request(method, format!("{}{path}", self.url))
            .header("user-agent", "differential/1.0");
        let body = match (&call.body, &call.text) {
            (Some(body), _) => Some(self.variables.fill(&body.to_string())),
            (None, Some(text)) => Some(self.variables.fill(text)),
            (None, None) => None,
        };
        let named = call.headers.keys().any(|name| name == "content-type");
        if let (Some(form), false) = (form(call), named) {
            request = request.header("content-type", form);
        }
        for (name, value) in &call.headers {
            request = request.header(name, self.variables.fill(value));
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let response = request.send().await;
        response.unwrap_or_else(|error| {
            // A server that hangs up gave an answer of a kind.
            let hung_up = http::Response::builder()
                .status(599)
                .body(error.to_string());
            hung_up.unwrap().into()
        })
    }
}

fn form(call: &Call) -> Option<&str> {
    Some(match call.form.as_deref() {
        None if call.body.is_some() || call.text.is_some() => "application/json",
        None => return None,
        Some("merge") => "application/merge-patch+json",
        Some("json") => "application/json-patch+json",
        Some("strategic") => "application/strategic-merge-patch+json",
        Some("apply") => "application/apply-patch+yaml",
        Some("yaml") => "application/yaml",
        Some("none") => return None,
        Some(other) => other,
    })
}

async fn read(response: Response) -> Answer {
    let code = response.status().as_u16();
    let mut headers = BTreeMap::new();
    for name in HEADERS {
        let values = response.headers().get_all(name).iter();
        let values: Vec<String> = values
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect();
        if !values.is_empty() {
            headers.insert(name.to_owned(), values);
        }
    }
    let asked = response.url();
    let is_watch =
        asked.query().is_some_and(|q| q.contains("watch=")) || asked.path().contains("/watch/");
    let is_watch = is_watch && code == 200;
    let mut bytes = Vec::new();
    let mut stream = response.bytes_stream();
    // A watch may be cut off at its end; what came before counts.
    while let Some(Ok(piece)) = stream.next().await {
        bytes.extend_from_slice(&piece);
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let bodies = if is_watch {
        let events = text.lines().map(parse).filter(|event| !is_idle(event));
        events.collect()
    } else {
        vec![parse(&text)]
    };
    Answer {
        code,
        headers,
        bodies,
    }
}

/// JSON or, failing that, YAML with more than one line; else the text itself.
fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| match serde_saphyr::from_str::<Value>(text) {
        Ok(value) if value.is_object() => value,
        _ => Value::String(text.to_owned()),
    })
}

/// Bookmarks come when a server sees fit, but for the one that ends the initial events.
fn is_idle(event: &Value) -> bool {
    let annotation = "/object/metadata/annotations/k8s.io~1initial-events-end";
    event["type"] == "BOOKMARK" && event.pointer(annotation).is_none()
}

fn holds(call: &Call, answer: &Answer) -> bool {
    let body = answer.bodies.first().unwrap_or(&Value::Null);
    call.until.iter().all(|(key, wanted)| match key.as_str() {
        "code" => *wanted == answer.code,
        pointer => body.pointer(pointer).unwrap_or(&Value::Null) == wanted,
    })
}
