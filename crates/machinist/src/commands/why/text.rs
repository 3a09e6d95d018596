//! An answer for a person.

use jiff::Timestamp;
use machinist_core::explain::{Answer, Happening, State};

use crate::columns::{ago, align, moment};

/// The whole answer.
pub(super) fn render(answer: &Answer, now: Timestamp) -> String {
    let mut text = format!("{}\n\n", headline(answer));
    text.push_str(&facts(answer, now));
    if !answer.tried.is_empty() {
        text.push_str("\nWhat happened, the latest first:\n");
        text.push_str(&indent(&align(&tried(&answer.tried, now))));
    }
    if !answer.next.is_empty() {
        text.push_str("\nWhat to do:\n");
        for (index, step) in answer.next.iter().enumerate() {
            text.push_str(&format!("  {}. {step}\n", index + 1));
        }
    }
    if let Some(because) = &answer.because {
        text.push_str("\nWhat it waits for:\n\n");
        text.push_str(&indent(&render(because, now)));
    }
    text
}

fn headline(answer: &Answer) -> String {
    let object = match &answer.namespace {
        Some(namespace) => format!("{} {namespace}/{}", answer.kind, answer.name),
        None => format!("{} {}", answer.kind, answer.name),
    };
    let says = match answer.state {
        State::Fine => "is as declared.",
        State::Working => "is being worked on.",
        State::Waiting => "waits.",
        State::Stuck => "is stuck: nothing moves until somebody acts.",
    };
    format!("{object} {says}")
}

fn facts(answer: &Answer, now: Timestamp) -> String {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            rows.push(vec![name.to_owned(), value]);
        }
    };
    row("waits for", answer.waits_for.clone());
    row("it says", answer.message.clone());
    row(
        "since",
        answer
            .since
            .map(|since| format!("{} ({})", moment(since), ago(since, now))),
    );
    row("reason", Some(answer.reason.clone()));
    row("phase", answer.phase.clone());
    indent(&align(&rows))
}

fn tried(events: &[Happening], now: Timestamp) -> Vec<Vec<String>> {
    let one = |event: &Happening| {
        let when = event.last.map(|last| ago(last, now)).unwrap_or_default();
        let times = match event.times {
            1 => String::new(),
            times => format!("{times} times"),
        };
        vec![when, times, event.reason.clone(), event.note.clone()]
    };
    events.iter().map(one).collect()
}

fn indent(text: &str) -> String {
    let lines = text.lines().map(|line| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("  {line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use machinist_core::explain::{Surroundings, View, explain};
    use serde_json::{Value, json};

    use super::*;

    fn view(kind: &str, name: &str, condition: Value) -> View {
        View::of(&json!({
            "kind": kind,
            "metadata": {"name": name, "namespace": "shop", "generation": 1},
            "status": {"observedGeneration": 1, "phase": "Pending", "conditions": [condition]},
        }))
    }

    #[test]
    fn an_answer_reads_well() {
        let condition = |reason: &str, message: &str| {
            json!({"type": "Ready", "status": "False", "reason": reason, "message": message,
                "lastTransitionTime": "2026-01-01T10:00:00Z"})
        };
        let machine = condition(
            "ProviderNotReady",
            "MachineProvider shop/cloud is not ready.",
        );
        let provider = condition("SecretNotFound", "Secret shop/keys does not exist.");
        let event = json!({"reason": "SecretNotFound", "type": "Warning",
            "message": "Secret shop/keys does not exist.",
            "eventTime": "2026-01-01T10:00:00.000000Z",
            "series": {"count": 4, "lastObservedTime": "2026-01-01T10:02:00.000000Z"}});
        let around = Surroundings {
            provider: Some((
                view("MachineProvider", "cloud", provider),
                vec![Happening::of(&event)],
            )),
            ..Surroundings::default()
        };
        let answer = explain(&view("Machine", "web", machine), around);
        let now = "2026-01-01T10:03:00Z".parse().expect("a time");
        insta::assert_snapshot!(render(&answer, now));
    }
}
