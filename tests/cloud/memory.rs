//! What EC2 knows and moto does not: tokens, states on their way, which volumes are attached, and
//! what looks said before the last change.

use std::collections::HashMap;

use super::exchange::{Answer, Parameters};

/// A state that an instance shows for so many looks more.
#[derive(Debug, Clone)]
struct Moving {
    shown: (&'static str, &'static str),
    looks: u32,
}

#[derive(Debug, Default)]
pub struct Memory {
    tokens: HashMap<(String, String), (Parameters, Answer)>,
    moving: HashMap<String, Moving>,
    /// The state of each instance when it moves no more.
    states: HashMap<String, &'static str>,
    attached: HashMap<String, String>,
    /// What looks said last, and what they had said before the last change.
    said: HashMap<Parameters, Answer>,
    before: HashMap<Parameters, Answer>,
}

/// What is known of a call before it is made.
pub enum Known {
    /// It was made before, and was answered so.
    Replay(Answer),
    /// It cannot be carried out.
    Refuse(Answer),
    /// Nothing: it is made.
    New,
}

impl Memory {
    /// Judges a call as EC2 would, where moto does not.
    pub fn judge(&self, action: &str, parameters: &Parameters) -> Known {
        let at = |name: &str| parameters.get(name).map(String::as_str).unwrap_or_default();
        let token = (action.to_owned(), at("ClientToken").to_owned());
        if let Some((first, answer)) = self.tokens.get(&token) {
            return match first == parameters {
                true => Known::Replay(answer.clone()),
                false => refuse(
                    "IdempotentParameterMismatch",
                    "the token was used with other parameters",
                ),
            };
        }
        let of_many = at("InstanceId.1");
        let id = if of_many.is_empty() {
            at("InstanceId")
        } else {
            of_many
        };
        let state = self.state(id);
        let wrong = match action {
            "StopInstances" | "RebootInstances" => ["pending", "stopping"].contains(&state),
            "StartInstances" => state == "stopping",
            "ModifyInstanceAttribute" if parameters.contains_key("InstanceType.Value") => {
                state != "stopped"
            }
            _ => false,
        };
        if wrong {
            return refuse("IncorrectInstanceState", &format!("{id} is {state}"));
        }
        match (action, self.attached.get(at("VolumeId"))) {
            ("AttachVolume", Some(on)) => refuse(
                "VolumeInUse",
                &format!("{} is attached to {on}", at("VolumeId")),
            ),
            _ => Known::New,
        }
    }

    fn state(&self, id: &str) -> &'static str {
        match (self.moving.get(id), self.states.get(id)) {
            (Some(moving), _) => moving.shown.1,
            (None, Some(state)) => state,
            (None, None) => "running",
        }
    }

    /// Takes note of a change that was carried out. `looks` is how long states take to change.
    pub fn changed(&mut self, action: &str, parameters: &Parameters, answer: &Answer, looks: u32) {
        self.before = self.said.clone();
        if let Some(token) = parameters.get("ClientToken") {
            let token = (action.to_owned(), token.clone());
            self.tokens
                .insert(token, (parameters.clone(), answer.clone()));
        }
        let ids = || {
            let named = parameters
                .iter()
                .filter(|(name, _)| name.starts_with("InstanceId."));
            named.map(|(_, id)| id.clone()).collect::<Vec<_>>()
        };
        let (ids, shown, end) = match action {
            "RunInstances" => {
                let made = answer.between("instanceId").map(str::to_owned);
                (made.into_iter().collect(), ("0", "pending"), "running")
            }
            "StartInstances" => (ids(), ("0", "pending"), "running"),
            "StopInstances" => (ids(), ("64", "stopping"), "stopped"),
            "TerminateInstances" => (ids(), ("32", "shutting-down"), "terminated"),
            _ => (Vec::new(), ("", ""), ""),
        };
        for id in ids {
            if looks > 0 && self.states.get(&id) != Some(&end) {
                self.moving.insert(id.clone(), Moving { shown, looks });
            }
            self.states.insert(id, end);
        }
        let at = |name: &str| parameters.get(name).cloned().unwrap_or_default();
        match action {
            "AttachVolume" => {
                self.attached.insert(at("VolumeId"), at("InstanceId"));
            }
            "DetachVolume" | "DeleteVolume" => {
                self.attached.remove(&at("VolumeId"));
            }
            _ => {}
        }
    }

    /// Lets an answer to a look show states on their way, and remembers it.
    pub fn looked(&mut self, parameters: &Parameters, mut answer: Answer) -> Answer {
        for (id, moving) in &mut self.moving {
            let marker = format!("<instanceId>{id}</instanceId>");
            let Some(at) = answer.body.find(&marker) else {
                continue;
            };
            let Some(start) = answer.body[at..].find("<instanceState>").map(|n| at + n) else {
                continue;
            };
            let end = "</instanceState>";
            let Some(stop) = answer.body[start..]
                .find(end)
                .map(|n| start + n + end.len())
            else {
                continue;
            };
            let (code, name) = moving.shown;
            let state =
                format!("<instanceState><code>{code}</code><name>{name}</name></instanceState>");
            answer.body.replace_range(start..stop, &state);
            moving.looks -= 1;
        }
        self.moving.retain(|_, moving| moving.looks > 0);
        self.said.insert(parameters.clone(), answer.clone());
        answer
    }

    /// What a look said before the last change; one that was never made then finds nothing.
    pub fn stale(&self, action: &str, parameters: &Parameters) -> Answer {
        if let Some(answer) = self.before.get(parameters) {
            return answer.clone();
        }
        match parameters.get("InstanceId.1") {
            Some(id) => Answer::error(
                400,
                "InvalidInstanceID.NotFound",
                &format!("The instance ID '{id}' does not exist"),
            ),
            None => Answer {
                status: 200,
                body: format!("<{action}Response/>"),
            },
        }
    }
}

fn refuse(code: &str, message: &str) -> Known {
    Known::Refuse(Answer::error(400, code, message))
}
