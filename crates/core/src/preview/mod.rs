//! What applying a declaration would do, before it is applied: field by field, and how each
//! difference would be carried out.
//!
//! The planner's own comparison decides, on the machine as its status shows it and on what the
//! provider says that it can do. Reading objects, and having the API server judge a manifest, is
//! the caller's.

mod fields;
mod known;

#[cfg(test)]
mod tests;

use machinist_api::{
    names,
    vitistack::{Machine, MachineProvider},
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    dialect::vitistack::lower,
    machine::{
        Absence, Change, Difference, Facts, Power, PowerState, Seen, Situation, Stall, Step, Want,
        differences, plan,
    },
    provider::{Capabilities, When},
};

pub use fields::{Field, Path, fields, three_way, with};

/// What happens to an object, or for the sake of one field; the worst is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing.
    NoChange,
    /// It is made.
    Create,
    /// It is changed while it goes on.
    InPlace,
    /// It is changed; whether that needs a restart is not known.
    Unknown,
    /// The machine is stopped for it and started again, or restarted because that is declared.
    Restart,
    /// The machine that there is stays as it is: only one that is made anew has it.
    Replace,
    /// It cannot be done.
    Refused,
}

/// One field, and how the difference would be carried out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldChange {
    /// Where it is: `spec.disks[root].sizeGB`.
    pub path: String,
    /// What it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What it will be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// What happens for its sake.
    pub verdict: Verdict,
    /// How, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
}

/// Annotations that others than users write.
const NOT_DECLARED: &[&str] = &[
    "kubectl.kubernetes.io/last-applied-configuration",
    names::PROVIDER_ANNOTATION,
    names::CLUSTER_ANNOTATION,
];

/// Annotations in which a conversion keeps what the other version cannot say.
const KEPT_BY_CONVERSION: &str = "conversion.vitistack.io/";

/// The part of an object that is declared.
pub fn declared(object: &Value) -> Value {
    let mut object = object.clone();
    let Some(fields) = object.as_object_mut() else {
        return object;
    };
    fields.remove("status");
    let metadata = fields.remove("metadata").unwrap_or_default();
    // Both are always there, so that each entry is a difference of its own.
    let mut kept = serde_json::Map::new();
    for key in ["labels", "annotations"] {
        let mut map = metadata[key].as_object().cloned().unwrap_or_default();
        map.retain(|key, _| {
            !NOT_DECLARED.contains(&key.as_str()) && !key.starts_with(KEPT_BY_CONVERSION)
        });
        kept.insert(key.into(), map.into());
    }
    fields.insert("metadata".into(), kept.into());
    object
}

/// The fields of an object that nothing but the API server looks at when they change.
pub fn plain_changes(before: &Value, after: &Value) -> Vec<FieldChange> {
    let found = fields(&declared(before), &declared(after));
    let one = |field: Field| change(field, Verdict::InPlace, None);
    found.into_iter().map(one).collect()
}

fn change(field: Field, verdict: Verdict, how: Option<String>) -> FieldChange {
    let Field {
        path,
        before,
        after,
    } = field;
    FieldChange {
        path: path.to_string(),
        before,
        after,
        verdict,
        how,
    }
}

/// A machine before and after, both as `vitistack.io/v1alpha1`, and who carries it out.
#[derive(Debug, Clone, Copy)]
pub struct MachineChange<'a> {
    /// As it is.
    pub before: &'a Value,
    /// As it would be.
    pub after: &'a Value,
    /// Its provider.
    pub provider: &'a MachineProvider,
    /// What the provider can do, when it has said so.
    pub can: Option<Capabilities>,
}

/// The fields of a machine that would change, and how each is carried out.
pub fn machine_changes(about: MachineChange<'_>) -> Vec<FieldChange> {
    let found = fields(&declared(about.before), &declared(about.after));
    let judge = match Judge::new(about) {
        Ok(judge) => judge,
        // A declaration that cannot be understood leaves what runs alone.
        Err(fault) => {
            let one = |field| change(field, Verdict::Refused, Some(fault.clone()));
            return found.into_iter().map(one).collect();
        }
    };
    let mut changes: Vec<FieldChange> = found
        .into_iter()
        .map(|field| {
            let (verdict, how) = judge.field(&field);
            change(field, verdict, how)
        })
        .collect();
    // Fields may mean more together than one by one; what the planner says of all of them counts.
    let (verdict, how) = judge.all();
    let worst = changes.iter().map(|change| change.verdict).max();
    if let Some(last) = changes.last_mut()
        && worst < Some(verdict)
    {
        (last.verdict, last.how) = (verdict, how);
    }
    changes
}

/// What the effect of a machine's changes is seen with.
struct Judge<'a> {
    about: MachineChange<'a>,
    before: Option<Want>,
    after: Want,
    facts: Option<Facts>,
}

impl<'a> Judge<'a> {
    fn new(about: MachineChange<'a>) -> Result<Judge<'a>, String> {
        let after = understand(about.after, about.provider)?;
        let before = understand(about.before, about.provider).ok();
        let machine: Option<Machine> = serde_json::from_value(about.before.clone()).ok();
        let facts = match (&machine, &before) {
            (Some(machine), Some(before)) => known::facts(machine, before),
            _ => None,
        };
        Ok(Judge {
            about,
            before,
            after,
            facts,
        })
    }

    /// What one field does, taken by itself.
    fn field(&self, field: &Field) -> (Verdict, Option<String>) {
        let (Some(before), Some(facts)) = (&self.before, &self.facts) else {
            return (
                Verdict::InPlace,
                Some("The machine is not made yet.".into()),
            );
        };
        let alone = with(self.about.before, field);
        let want = match understand(&alone, self.about.provider) {
            Ok(want) => want,
            // It has a meaning only with other fields.
            Err(_) => return self.all(),
        };
        match (want == *before, self.about.can) {
            (true, _) => (Verdict::InPlace, None),
            (false, None) => (Verdict::Unknown, Some(UNKNOWN.into())),
            (false, Some(can)) => self.effect(before, &want, facts, can),
        }
    }

    /// What all of them do together: the planner's next step.
    fn all(&self) -> (Verdict, Option<String>) {
        let (Some(facts), Some(can)) = (&self.facts, self.about.can) else {
            return (Verdict::NoChange, None);
        };
        let seen = [facts.clone()];
        let step = plan(Situation {
            deleting: false,
            bound: true,
            want: Some(&self.after),
            seen: Seen::Machines(&seen),
            absence: Absence::Apparent,
            can,
            refused: None,
        });
        match step {
            Step::Update(_, Change::Stop { .. }) if self.after.should_run() => {
                (Verdict::Restart, Some(RESTART.into()))
            }
            Step::Update(_, Change::Restart { .. }) => (Verdict::Restart, None),
            Step::Update(_, change) => (Verdict::InPlace, Some(change.doing())),
            Step::Stall(Stall::Refused(refusal)) => (Verdict::Refused, Some(refusal.message())),
            _ => (Verdict::NoChange, None),
        }
    }

    fn effect(
        &self,
        before: &Want,
        want: &Want,
        facts: &Facts,
        can: Capabilities,
    ) -> (Verdict, Option<String>) {
        let already = differences(before, facts, &can);
        let new = differences(want, facts, &can);
        let new = new
            .into_iter()
            .filter(|difference| !already.contains(difference));
        let goes_on = facts.power == PowerState::Running && self.after.should_run();
        let effect = |difference| match difference {
            Difference::Refused(refusal) => (Verdict::Refused, refusal.message()),
            Difference::Due(change, When::Stopped) if goes_on && can.power => {
                (Verdict::Restart, format!("{} {RESTART}", change.doing()))
            }
            Difference::Due(change, When::Stopped) if goes_on => {
                let message = crate::machine::Refusal::Power.message();
                (Verdict::Refused, format!("{} {message}", change.doing()))
            }
            Difference::Due(change, _) => (Verdict::InPlace, change.doing()),
        };
        if let Some((verdict, how)) = new.map(effect).max_by_key(|(verdict, _)| *verdict) {
            return (verdict, Some(how));
        }
        match (want.power, before.power) {
            (Power::On, Power::Off) => return in_place("The machine is started."),
            (Power::Off, Power::On) => return in_place("The machine is stopped."),
            (Power::On, Power::On) | (Power::Off, Power::Off) => {}
        }
        if want.restart != before.restart {
            return match goes_on {
                true => (
                    Verdict::Restart,
                    Some("The machine is restarted, as declared.".into()),
                ),
                false => in_place("It is stopped and stays so."),
            };
        }
        // What a machine is asked at its end counts from now on; so does what it is made good with.
        let later = Want {
            grace: before.grace,
            ..want.clone()
        };
        match later == *before {
            true => in_place("It counts from the next shutdown on."),
            false if self.is_made_good(want, before, &can) => {
                in_place("It is as declared already.")
            }
            false => (Verdict::Replace, Some(REPLACE.into())),
        }
    }

    /// Whether what differs is among the things that the planner compares, and the machine has it.
    fn is_made_good(&self, want: &Want, before: &Want, can: &Capabilities) -> bool {
        let compared = Want {
            cpu: before.cpu,
            memory: before.memory,
            instance_type: match can.instance_types {
                true => before.instance_type.clone(),
                false => want.instance_type.clone(),
            },
            disks: before.disks.clone(),
            nics: before.nics.clone(),
            tags: match can.tags {
                true => before.tags.clone(),
                false => want.tags.clone(),
            },
            ..want.clone()
        };
        let names = |want: &Want| {
            let disks = want.disks.iter().map(|disk| (disk.name.clone(), disk.size));
            let nics = want.nics.iter().map(|nic| nic.name.clone());
            (disks.collect::<Vec<_>>(), nics.collect::<Vec<_>>())
        };
        compared == *before && names(want) != names(before)
    }
}

const RESTART: &str = "The machine is stopped for it, and started again.";
const REPLACE: &str =
    "The machine that there is stays as it is; only one that is deleted and declared anew has it.";
const UNKNOWN: &str =
    "The provider has not said what it can do; whether this needs a restart is not known.";

fn in_place(how: &str) -> (Verdict, Option<String>) {
    (Verdict::InPlace, Some(how.to_owned()))
}

/// What a declaration means on a provider.
///
/// # Errors
/// Names the field that has no meaning there.
pub fn understand(machine: &Value, provider: &MachineProvider) -> Result<Want, String> {
    let machine: Machine =
        serde_json::from_value(machine.clone()).map_err(|error| error.to_string())?;
    lower(&machine, provider).map_err(|error| error.to_string())
}
