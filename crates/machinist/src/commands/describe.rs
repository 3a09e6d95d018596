//! `machinist describe`: one object with its conditions and what happened to it.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use machinist_core::explain::{Happening, View};
use serde_json::{Map, Value};

use super::{
    get::{Question, named},
    why::events,
};
use crate::{
    cli,
    columns::{ago, align, moment},
    connection,
    failure::{self, Outcome},
    kinds::Kinds,
};

/// Annotations that repeat what is shown anyway.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Runs it.
pub(crate) async fn run(flags: cli::Describe) -> Outcome {
    let connection = connection::open(&flags.target).await?;
    let kinds = Kinds::discover(&connection).await?;
    let (word, names) = named(&flags.kind, &flags.names);
    let question = Question {
        connection: &connection,
        names: &names,
        namespace: Some(connection.namespace.as_str()),
        selector: None,
    };
    let objects = question.objects(kinds.one(&word)?).await?;
    if objects.is_empty() {
        eprintln!("No objects found in namespace {}.", connection.namespace);
    }
    for (index, object) in objects.iter().enumerate() {
        let happened = events(&connection, object).await?;
        if index > 0 {
            println!("\n");
        }
        print!("{}", describe(object, happened, Timestamp::now())?);
    }
    Ok(())
}

/// The whole description.
fn describe(object: &Value, events: Vec<Happening>, now: Timestamp) -> Outcome<String> {
    let view = View::of(object);
    let mut head = vec![vec!["Name:".to_owned(), view.name.clone()]];
    let mut row = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            head.push(vec![name.to_owned(), value]);
        }
    };
    row("Namespace:", view.namespace.clone());
    row(
        "Kind:",
        Some(format!("{} ({})", view.kind, word(&object["apiVersion"]))),
    );
    row("Labels:", pairs(&object["metadata"]["labels"]));
    row("Annotations:", pairs(&object["metadata"]["annotations"]));
    row(
        "Made:",
        view.created
            .map(|time| format!("{} ({})", moment(time), ago(time, now))),
    );
    row(
        "To go since:",
        view.deleting
            .map(|time| format!("{} ({})", moment(time), ago(time, now))),
    );
    row("Phase:", view.phase.clone());
    row("Message:", view.message.clone());
    let mut text = align(&head);
    let mut rest = object.as_object().cloned().unwrap_or_default();
    for key in ["apiVersion", "kind", "metadata"] {
        rest.remove(key);
    }
    if view.kind == "Secret" {
        hide(&mut rest);
    }
    if let Some(status) = rest.get_mut("status").and_then(Value::as_object_mut) {
        for key in ["conditions", "phase", "message"] {
            status.remove(key);
        }
    }
    for (key, value) in rest {
        text.push_str(&section(&key, &value)?);
    }
    if !view.conditions.is_empty() {
        text.push_str("Conditions:\n");
        text.push_str(&indented(&align(&conditions(&view.conditions, now))));
    }
    text.push_str(&happenings(events, now));
    Ok(text)
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn pairs(map: &Value) -> Option<String> {
    let map = map.as_object()?;
    let pairs = map.iter().filter(|(key, _)| *key != LAST_APPLIED);
    let pairs: Vec<String> = pairs
        .map(|(key, value)| format!("{key}={}", word(value)))
        .collect();
    (!pairs.is_empty()).then(|| pairs.join(", "))
}

/// A Secret shows how long its values are, and no value.
fn hide(rest: &mut Map<String, Value>) {
    for key in ["data", "stringData"] {
        for (_, value) in rest
            .get_mut(key)
            .and_then(Value::as_object_mut)
            .into_iter()
            .flatten()
        {
            *value = format!("{} characters", word(value).len()).into();
        }
    }
}

fn section(key: &str, value: &Value) -> Outcome<String> {
    let mut title = key.to_owned();
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    match value {
        Value::Object(map) if map.is_empty() => Ok(String::new()),
        Value::Object(_) | Value::Array(_) => {
            let text = serde_saphyr::to_string(value)
                .map_err(|e| failure::internal("could not write YAML", e))?;
            Ok(format!("{title}:\n{}", indented(&text)))
        }
        Value::String(text) => Ok(format!("{title}: {text}\n")),
        other => Ok(format!("{title}: {other}\n")),
    }
}

fn conditions(conditions: &[Condition], now: Timestamp) -> Vec<Vec<String>> {
    let header = ["TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"]
        .map(str::to_owned)
        .to_vec();
    let one = |condition: &Condition| {
        vec![
            condition.type_.clone(),
            condition.status.clone(),
            ago(condition.last_transition_time.0, now),
            condition.reason.clone(),
            condition.message.clone(),
        ]
    };
    std::iter::once(header)
        .chain(conditions.iter().map(one))
        .collect()
}

fn happenings(mut events: Vec<Happening>, now: Timestamp) -> String {
    if events.is_empty() {
        return "Events: none\n".into();
    }
    events.sort_by_key(|event| event.last);
    let header = ["TYPE", "REASON", "LAST", "TIMES", "MESSAGE"]
        .map(str::to_owned)
        .to_vec();
    let one = |event: &Happening| {
        vec![
            if event.failed { "Warning" } else { "Normal" }.to_owned(),
            event.reason.clone(),
            event.last.map(|last| ago(last, now)).unwrap_or_default(),
            event.times.to_string(),
            event.note.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(header)
        .chain(events.iter().map(one))
        .collect();
    format!("Events:\n{}", indented(&align(&rows)))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_shows_no_value() {
        let secret = json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "keys", "namespace": "shop", "annotations": {
                LAST_APPLIED: "{\"data\":{\"key\":\"aHVudGVyMg==\"}}"}},
            "data": {"key": "aHVudGVyMg=="}});
        let text = describe(&secret, Vec::new(), Timestamp::UNIX_EPOCH).expect("a description");
        assert!(text.contains("12 characters"), "{text}");
        assert!(!text.contains("aHVudGVyMg=="), "{text}");
    }
}
