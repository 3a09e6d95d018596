//! Why an object is not ready: what it waits for, since when, what was tried, what to do next.
//!
//! The answer is computed from what the API server holds (conditions, events, finalizers) and
//! from one table of reasons, so that it can be given by whoever can read the object. Reading it,
//! and saying it to a person, is the caller's.

mod places;
mod reasons;
mod view;

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use machinist_api::{conditions, names};
use serde::Serialize;

pub use reasons::{Reason, Turn, reason};
pub use view::{Happening, View};

/// How many attempts an answer lists.
const TOLD: usize = 8;

/// Whether something is wrong, and whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum State {
    /// It is as declared.
    Fine,
    /// Machinist is at work.
    Working,
    /// Machinist waits for somebody or something else, and goes on by itself after that.
    Waiting,
    /// Nothing moves until a person acts.
    Stuck,
}

/// Why an object is as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Its kind.
    pub kind: String,
    /// Its namespace, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its phase, as its status says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Whether something is wrong.
    pub state: State,
    /// The stable word that decides.
    pub reason: String,
    /// What is waited for; nothing when it is fine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// What the status says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// What was tried, the latest first.
    pub tried: Vec<Happening>,
    /// What to do next, in this order.
    pub next: Vec<String>,
    /// The answer for the object that this one waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<Box<Answer>>,
}

/// What else is known when the question is asked.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// What happened to the object.
    pub events: Vec<Happening>,
    /// The provider that it is bound to or means, and what happened to that.
    pub provider: Option<(View, Vec<Happening>)>,
    /// What could be meant instead, or what uses the object, as `namespace/name`.
    pub others: Vec<String>,
}

/// Explains an object.
pub fn explain(view: &View, around: Surroundings) -> Answer {
    let Surroundings {
        events,
        provider,
        others,
    } = around;
    let Finding {
        state,
        reason,
        waits_for,
        message,
        since,
        advice,
    } = find(view);
    let mut next: Vec<String> = advice.iter().map(|text| fill(text, view)).collect();
    if let Some(hint) = among(&reason, &others) {
        next.insert(0, hint);
    }
    let because = provider
        .filter(|_| points_at_provider(&reason))
        .map(|(provider, events)| {
            let around = Surroundings {
                events,
                ..Surroundings::default()
            };
            explain(&provider, around)
        })
        .filter(|answer| answer.state != State::Fine);
    Answer {
        kind: view.kind.clone(),
        namespace: view.namespace.clone(),
        name: view.name.clone(),
        phase: view.phase.clone(),
        state,
        reason,
        waits_for: waits_for.map(|text| fill(&text, view)),
        message,
        since,
        tried: latest(events),
        next,
        because: because.map(Box::new),
    }
}

/// What decides.
struct Finding {
    state: State,
    reason: String,
    waits_for: Option<String>,
    message: Option<String>,
    since: Option<Timestamp>,
    advice: Vec<&'static str>,
}

/// The first row that matches.
fn find(view: &View) -> Finding {
    let get = |kind| conditions::find(&view.conditions, kind);
    let stalled = get(conditions::STALLED).filter(|c| c.status == conditions::TRUE);
    let busy = get(conditions::RECONCILING).filter(|c| c.status == conditions::TRUE);
    let ready = get(conditions::READY);
    let is_ready = ready.is_some_and(|c| c.status == conditions::TRUE);
    match (view.deleting, others_finalizers(view), view.was_looked_at()) {
        (Some(since), Some(others), _) => held(&others, since),
        (_, _, false) => unseen(view),
        _ => match (stalled, ready, busy) {
            (Some(stalled), _, _) => of(stalled, Some(State::Stuck)),
            (None, Some(_), Some(busy)) if is_ready => of(busy, Some(State::Working)),
            (None, Some(ready), _) if is_ready => of(ready, Some(State::Fine)),
            (None, Some(ready), _) => of(ready, None),
            (None, None, Some(busy)) => of(busy, Some(State::Working)),
            (None, None, None) => unjudged(view),
        },
    }
}

fn of(condition: &Condition, state: Option<State>) -> Finding {
    let known = reason(&condition.reason);
    let turn = known.map(|reason| match reason.turn {
        Turn::Nobody => State::Fine,
        Turn::Machinist => State::Working,
        Turn::Other => State::Waiting,
        Turn::Person => State::Stuck,
    });
    let state = state.or(turn).unwrap_or(State::Waiting);
    let waits_for = known.map(|reason| reason.waits_for.to_owned());
    let advice = known.map(|reason| reason.next).unwrap_or(UNKNOWN_REASON);
    Finding {
        state,
        reason: condition.reason.clone(),
        waits_for: waits_for.filter(|_| state != State::Fine),
        message: Some(condition.message.clone()).filter(|text| !text.is_empty()),
        since: Some(condition.last_transition_time.0),
        advice: match state {
            State::Fine => Vec::new(),
            State::Working | State::Waiting | State::Stuck => advice.to_vec(),
        },
    }
}

const UNKNOWN_REASON: &[&str] =
    &["Do as the message says; `machinist describe {kind} {name}{-n}` shows all that is known."];

/// It is to go, and only others hold it.
fn held(others: &[&str], since: Timestamp) -> Finding {
    Finding {
        state: State::Waiting,
        reason: "Held".into(),
        waits_for: Some(format!(
            "whoever put {} on it, to take it off",
            others.join(", ")
        )),
        message: Some("Machinist has let it go; finalizers of others keep it.".into()),
        since: Some(since),
        advice: vec![
            "See that the owner of that finalizer runs; it takes the finalizer off when its own work is done.",
            "Take the finalizer off yourself only if its owner is gone for good: `kubectl edit {kind} {name}{-n}`.",
        ],
    }
}

/// No controller has answered this declaration.
fn unseen(view: &View) -> Finding {
    let fresh = view.observed.is_none_or(|observed| observed < 0);
    Finding {
        state: State::Waiting,
        reason: "NotObserved".into(),
        waits_for: Some("an engine to look at this declaration".into()),
        message: Some(match fresh {
            true => "Nothing has looked at it since it was made.".into(),
            false => format!(
                "It was changed (generation {}), and the last look was at generation {}.",
                view.generation.unwrap_or_default(),
                view.observed.unwrap_or_default()
            ),
        }),
        since: view.created.filter(|_| fresh),
        advice: vec![
            "Ask again in a few seconds: a fresh change is taken up at once.",
            "If it stays so, no engine runs: start `machinist up` (without --api-only), or look at the operator's pod and its leader lease.",
        ],
    }
}

/// Its controller, if there is one, writes no Ready condition.
fn unjudged(view: &View) -> Finding {
    Finding {
        state: State::Fine,
        reason: "NotJudged".into(),
        waits_for: None,
        message: view.message.clone().or_else(|| {
            Some("It has no Ready condition; nothing says that something is wrong.".into())
        }),
        since: view.created,
        advice: Vec::new(),
    }
}

/// The finalizers of others, when ours is gone already.
fn others_finalizers(view: &View) -> Option<Vec<&str>> {
    let ours = [names::MACHINE_FINALIZER, names::PROVIDER_FINALIZER];
    let all: Vec<&str> = view.finalizers.iter().map(String::as_str).collect();
    let held_by_us = all.iter().any(|finalizer| ours.contains(finalizer));
    (!held_by_us && !all.is_empty()).then_some(all)
}

fn points_at_provider(reason: &str) -> bool {
    let by_provider = [
        "ProviderNotReady",
        "NoProviderFits",
        "ProviderUnreachable",
        "CredentialsRefused",
        "CredentialsExpired",
        "EndpointUntrusted",
        "NotSeen",
        "ProviderBusy",
        "Throttled",
        "NoCapacity",
    ];
    by_provider.contains(&reason)
}

/// What is at hand, where a name was not found or something is in use.
fn among(reason: &str, others: &[String]) -> Option<String> {
    match (reason, others) {
        ("ProviderNotFound", []) => Some("There is no MachineProvider at all yet.".into()),
        ("ProviderNotFound", some) => Some(format!("There is: {}.", some.join(", "))),
        ("InUse", some) if !some.is_empty() => {
            Some(format!("Delete what runs on it: {}.", some.join(", ")))
        }
        _ => None,
    }
}

/// What happened last, the latest first.
fn latest(mut events: Vec<Happening>) -> Vec<Happening> {
    events.sort_by_key(|event| std::cmp::Reverse(event.last));
    events.truncate(TOLD);
    events
}

/// Names the object in a sentence of the table.
fn fill(text: &str, view: &View) -> String {
    let namespace = match view.namespace.as_deref() {
        None | Some("default") => String::new(),
        Some(namespace) => format!(" -n {namespace}"),
    };
    text.replace("{kind}", &view.kind.to_lowercase())
        .replace("{name}", &view.name)
        .replace("{-n}", &namespace)
}
