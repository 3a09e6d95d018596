//! A plan for a person.

use machinist_core::preview::{FieldChange, Verdict};
use serde_json::Value;

use super::Planned;
use crate::columns::align;

/// How long a value may be before it is cut.
const LONGEST: usize = 40;

/// The whole plan.
pub(super) fn render(planned: &[Planned]) -> String {
    let mut text = String::new();
    for object in planned {
        let name = match &object.namespace {
            Some(namespace) => format!("{} {namespace}/{}", object.kind, object.name),
            None => format!("{} {}", object.kind, object.name),
        };
        text.push_str(&format!(
            "{} {name}: {}\n",
            sign(object.verdict),
            word(object.verdict)
        ));
        if let Some(note) = &object.note {
            text.push_str(&format!("    {note}\n    ({})\n", object.origin));
        }
        let rows: Vec<Vec<String>> = object.fields.iter().map(row).collect();
        for line in align(&rows).lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text.push_str(&summary(planned));
    text
}

fn row(field: &FieldChange) -> Vec<String> {
    vec![
        format!("{}:", field.path),
        format!("{} → {}", value(&field.before), value(&field.after)),
        word(field.verdict).to_owned(),
        field.how.clone().unwrap_or_default(),
    ]
}

fn value(value: &Option<Value>) -> String {
    let text = match value {
        None => return "(none)".into(),
        Some(Value::String(text)) => format!("{text:?}"),
        Some(other) => other.to_string(),
    };
    match text.chars().count() > LONGEST {
        true => text.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => text,
    }
}

fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::NoChange => '=',
        Verdict::Create => '+',
        Verdict::InPlace | Verdict::Unknown => '~',
        Verdict::Restart => '!',
        Verdict::Replace => '±',
        Verdict::Refused => '✗',
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::NoChange => "no change",
        Verdict::Create => "create",
        Verdict::InPlace => "in place",
        Verdict::Unknown => "in place or restart",
        Verdict::Restart => "restart",
        Verdict::Replace => "replace",
        Verdict::Refused => "refused",
    }
}

fn summary(planned: &[Planned]) -> String {
    let all = [
        Verdict::Create,
        Verdict::InPlace,
        Verdict::Unknown,
        Verdict::Restart,
        Verdict::Replace,
        Verdict::Refused,
        Verdict::NoChange,
    ];
    let count = |verdict| {
        planned
            .iter()
            .filter(|object| object.verdict == verdict)
            .count()
    };
    let parts: Vec<String> = all
        .into_iter()
        .filter(|verdict| count(*verdict) > 0)
        .map(|verdict| format!("{} {}", count(verdict), word(verdict)))
        .collect();
    format!("\nPlan: {}. Nothing was changed.\n", parts.join(", "))
}
