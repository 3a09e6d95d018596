//! What an explanation needs of an object and of its events, whatever their kinds.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use serde::Serialize;
use serde_json::Value;

/// What an object says of itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct View {
    /// Its kind.
    pub kind: String,
    /// Its namespace, where it has one.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// When its deletion was asked for.
    pub deleting: Option<Timestamp>,
    /// The number of its declaration.
    pub generation: Option<i64>,
    /// The number of the declaration that its status speaks of; negative before the first look.
    pub observed: Option<i64>,
    /// What keeps it when it is to go.
    pub finalizers: Vec<String>,
    /// Its phase.
    pub phase: Option<String>,
    /// The sentence of its status.
    pub message: Option<String>,
    /// Its conditions.
    pub conditions: Vec<Condition>,
}

impl View {
    /// Reads an object as the API server gives it. What it does not have is left out.
    pub fn of(object: &Value) -> View {
        let text = |pointer: &str| {
            let value = object.pointer(pointer).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let number = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
        let list = |pointer: &str| {
            let items = object.pointer(pointer).and_then(Value::as_array);
            items.cloned().unwrap_or_default()
        };
        let conditions = list("/status/conditions").into_iter();
        View {
            kind: text("/kind").unwrap_or_default(),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name").unwrap_or_default(),
            created: time(object, "/metadata/creationTimestamp"),
            deleting: time(object, "/metadata/deletionTimestamp"),
            generation: number("/metadata/generation"),
            observed: number("/status/observedGeneration"),
            finalizers: list("/metadata/finalizers")
                .iter()
                .filter_map(|finalizer| finalizer.as_str().map(str::to_owned))
                .collect(),
            phase: text("/status/phase"),
            message: text("/status/message"),
            conditions: conditions
                .filter_map(|condition| serde_json::from_value(condition).ok())
                .collect(),
        }
    }

    /// Whether its status speaks of the declaration that it has now.
    pub fn was_looked_at(&self) -> bool {
        match (self.generation, self.observed) {
            (Some(generation), Some(observed)) => observed >= generation,
            (_, None) => !self.conditions.is_empty(),
            (None, Some(observed)) => observed >= 0,
        }
    }
}

/// One thing that happened to an object, once or several times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Happening {
    /// A stable word.
    pub reason: String,
    /// What happened, in a sentence.
    pub note: String,
    /// Whether it did not go as it should.
    pub failed: bool,
    /// How often.
    pub times: i64,
    /// The first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Timestamp>,
    /// The last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Timestamp>,
}

impl Happening {
    /// Reads an Event of `v1`.
    pub fn of(event: &Value) -> Happening {
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let first = time(event, "/firstTimestamp").or_else(|| time(event, "/eventTime"));
        let last =
            time(event, "/series/lastObservedTime").or_else(|| time(event, "/lastTimestamp"));
        let count = event["series"]["count"].as_i64();
        Happening {
            reason: text("reason"),
            note: text("message"),
            failed: event["type"] == "Warning",
            times: count.or(event["count"].as_i64()).unwrap_or(1).max(1),
            first,
            last: last.or(first),
        }
    }
}

fn time(object: &Value, pointer: &str) -> Option<Timestamp> {
    object.pointer(pointer)?.as_str()?.parse().ok()
}
