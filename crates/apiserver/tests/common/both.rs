//! The same calls to the embedded server and to a real one, and their answers side by side.

use axum::body::Body;
use http_body_util::BodyExt as _;
use kube::client::Body as KubeBody;
use serde_json::{Value, json};

/// A server under test, by its client.
pub struct Peer {
    pub name: &'static str,
    pub client: kube::Client,
}

/// What a server answered.
#[derive(Debug, Clone)]
pub struct Answer {
    pub code: u16,
    pub body: Value,
    pub warnings: Vec<String>,
}

impl Answer {
    /// The answer as one value, without what differs from run to run.
    pub fn masked(&self) -> Value {
        json!({"code": self.code, "body": masked(&self.body), "warnings": self.warnings})
    }
}

impl Peer {
    /// Calls the server in the shorthand of the tables.
    pub async fn call(&self, line: &str, body: Option<&Value>) -> Answer {
        let (parts, _) = super::request(line, body).into_parts();
        let body = body.map_or_else(KubeBody::empty, |b| {
            KubeBody::from(b.to_string().into_bytes())
        });
        let response = self
            .client
            .send(http::Request::from_parts(parts, body))
            .await
            .unwrap();
        let code = response.status().as_u16();
        let warnings = response.headers().get_all("warning").iter();
        let warnings = warnings.map(|w| w.to_str().unwrap().to_owned()).collect();
        let bytes = Body::new(response.into_body())
            .collect()
            .await
            .unwrap()
            .to_bytes();
        // A watch is a list of lines.
        let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        let events: Result<Vec<Value>, _> = lines.map(serde_json::from_slice).collect();
        if let Ok(events) = events
            && line.contains("watch=")
        {
            return Answer {
                code,
                body: events.into(),
                warnings,
            };
        }
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        Answer {
            code,
            body,
            warnings,
        }
    }

    /// Calls the server and expects success.
    pub async fn ok(&self, line: &str, body: Option<&Value>) -> Value {
        let answer = self.call(line, body).await;
        assert!(answer.code < 300, "{}: {line}: {answer:?}", self.name);
        answer.body
    }
}

/// A value without what differs from server to server and from run to run.
pub fn masked(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut out = serde_json::Map::new();
            for (key, value) in map {
                let value = match (key.as_str(), value) {
                    ("uid", Value::String(_)) => "UID".into(),
                    ("resourceVersion", Value::String(_)) => "RV".into(),
                    ("time" | "creationTimestamp" | "deletionTimestamp", Value::String(_)) => {
                        "TIME".into()
                    }
                    ("userInfo", _) => "USER".into(),
                    // An empty token and no token are the same.
                    ("continue", Value::String(text)) if text.is_empty() => continue,
                    // A write through scale has no time on a real server, and so comes first.
                    ("managedFields", Value::Array(entries)) => {
                        let mut entries: Vec<Value> = entries.iter().map(masked).collect();
                        for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
                            entry.remove("time");
                        }
                        entries.sort_by_key(Value::to_string);
                        entries.into()
                    }
                    ("name", Value::String(name)) if name.starts_with("gen-") => "gen-NAME".into(),
                    (_, value) => masked(value),
                };
                out.insert(key.clone(), value);
            }
            Value::Object(out)
        }
        Value::Array(items) => items.iter().map(masked).collect(),
        Value::String(text) => without_uids(text).into(),
        other => other.clone(),
    }
}

fn without_uids(text: &str) -> String {
    let words = text.split('"');
    let masked = words.map(|word| match uuid::Uuid::try_parse(word) {
        Ok(_) => "UID",
        Err(_) => word,
    });
    masked.collect::<Vec<_>>().join("\"")
}

/// Fails with the first difference between two transcripts.
pub fn assert_same(ours: &[(String, Value)], theirs: &[(String, Value)]) {
    let mut differences = Vec::new();
    for ((line, ours), (_, theirs)) in ours.iter().zip(theirs) {
        compare(ours, theirs, line, &mut differences);
    }
    assert_eq!(ours.len(), theirs.len(), "another number of calls");
    assert!(
        differences.is_empty(),
        "{} differences (ours, then the real one's):\n{}",
        differences.len(),
        differences.join("\n")
    );
}

fn compare(ours: &Value, theirs: &Value, at: &str, out: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let (a, b) = (a.get(key), b.get(key));
                let (a, b) = (a.unwrap_or(&Value::Null), b.unwrap_or(&Value::Null));
                compare(a, b, &format!("{at} .{key}"), out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                compare(a, b, &format!("{at} [{index}]"), out);
            }
        }
        (a, b) if a != b => out.push(format!("{at}\n    {a}\n    {b}")),
        _ => {}
    }
}
