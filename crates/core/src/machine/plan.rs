//! The planner: one total decision over what is wanted and what was seen.
//!
//! It does no I/O and reads no clock. It names at most one step; the engine carries it
//! out, looks again, and asks again. Everything that makes a machine exist exactly once
//! is decided here:
//!
//! - nothing is created before the binding (finalizer, provider, key) is durable;
//! - what could not be seen is unknown, and unknown never leads to a create or a delete;
//! - an object is let go only when it is proven that nothing is left at the platform;
//! - two machines with one key are reported, and never guessed away.

use super::{
    Change, Facts, MachineId, Power, PowerState, Refusal, Want,
    difference::{Difference, differences, fits},
};
use crate::provider::{Capabilities, When};

/// Everything that the decision may depend on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The object is being deleted.
    pub deleting: bool,
    /// Finalizer, provider and key are durable on the object.
    pub bound: bool,
    /// What is declared; `None` when the declaration cannot be understood or resolved.
    pub want: Option<&'a Want>,
    /// What the platform shows under the machine's key.
    pub seen: Seen<'a>,
    /// What it is worth when the platform shows nothing.
    pub absence: Absence,
    /// What the platform can do.
    pub can: Capabilities,
}

/// What looking at the platform gave.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'a> {
    /// The platform could not be asked, or did not answer. Not the same as absent.
    Unknown,
    /// Everything that carries the machine's key.
    Machines(&'a [Facts]),
}

/// What an empty answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// The answer may be behind the times. Asking for the machine again under its key is safe,
    /// because the platform knows the key; letting its object go is not.
    Apparent,
    /// There is no such machine: the platform's lookup is consistent, or the id that the machine
    /// had was looked up and is not there, or the platform refused to make it.
    Proven,
}

/// The one thing to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Make finalizer, provider and key durable.
    Bind,
    /// Make the machine exist.
    Create,
    /// Ask for the machine once more under its key, to learn which one it is before it is
    /// removed: a lookup that is behind the times does not prove that there is none.
    Reclaim,
    /// Change one thing about it.
    Update(MachineId, Change),
    /// Remove it from the platform.
    Delete(MachineId),
    /// Nothing is left at the platform: let the object go.
    Release,
    /// Something is under way, or could not be seen: look again.
    Wait(Waiting),
    /// Only a person can help.
    Stall(Stall),
    /// It is as declared.
    Settled,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// The platform, to say what is there.
    Sight,
    /// The declaration, to become complete or valid.
    Declaration,
    /// A machine that is being made.
    Creation,
    /// A machine that is on its way up.
    Startup,
    /// A machine that is on its way down.
    Shutdown,
    /// A machine that is being removed.
    Removal,
}

/// Why only a person can help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stall {
    /// Several machines carry the key.
    Duplicates,
    /// The platform gave up on the machine.
    Broken,
    /// The machine cannot become what is declared.
    Refused(Refusal),
    /// Nothing proves that the machine is gone, and its declaration cannot be understood, so that
    /// it cannot be asked for again.
    Unproven,
}

/// Decides the next step.
pub fn plan(situation: Situation<'_>) -> Step {
    let Situation {
        deleting,
        bound,
        want,
        seen,
        absence,
        can,
    } = situation;
    match (deleting, bound, seen, want) {
        // Never bound means that nothing was ever asked of a platform.
        (true, false, _, _) => Step::Release,
        (true, true, Seen::Unknown, _) => Step::Wait(Waiting::Sight),
        (true, true, Seen::Machines([]), want) => match (absence, want) {
            (Absence::Proven, _) => Step::Release,
            (Absence::Apparent, Some(_)) => Step::Reclaim,
            (Absence::Apparent, None) => Step::Stall(Stall::Unproven),
        },
        (true, true, Seen::Machines([first, rest @ ..]), _) => remove(first, rest),
        (false, false, _, None) | (false, true, Seen::Machines([]), None) => {
            Step::Wait(Waiting::Declaration)
        }
        (false, false, _, Some(_)) => Step::Bind,
        (false, true, Seen::Unknown, _) => Step::Wait(Waiting::Sight),
        (false, true, Seen::Machines([]), Some(_)) => Step::Create,
        (false, true, Seen::Machines([machine]), Some(want)) => keep(want, machine, &can),
        // A declaration that cannot be understood leaves what runs alone.
        (false, true, Seen::Machines([_]), None) => Step::Wait(Waiting::Declaration),
        (false, true, Seen::Machines([_, _, ..]), _) => Step::Stall(Stall::Duplicates),
    }
}

/// All that carry the key are ours, duplicates included, and all of them go.
fn remove(first: &Facts, rest: &[Facts]) -> Step {
    let still_there = |machine: &&Facts| machine.power != PowerState::Deleting;
    match std::iter::once(first).chain(rest).find(still_there) {
        Some(machine) => Step::Delete(machine.id.clone()),
        None => Step::Wait(Waiting::Removal),
    }
}

fn keep(want: &Want, machine: &Facts, can: &Capabilities) -> Step {
    match machine.power {
        PowerState::Running | PowerState::Stopped => correct(want, machine, can),
        PowerState::Creating => Step::Wait(Waiting::Creation),
        PowerState::Starting => Step::Wait(Waiting::Startup),
        PowerState::Stopping => Step::Wait(Waiting::Shutdown),
        PowerState::Deleting => Step::Wait(Waiting::Removal),
        PowerState::Failed => Step::Stall(Stall::Broken),
    }
}

/// The next correction of a machine that is up or down. A machine that should be down goes down
/// first, so that no other change that fails can keep it up; one that should be up is started
/// last, so that what needs it to be down is done by then.
fn correct(want: &Want, machine: &Facts, can: &Capabilities) -> Step {
    let update = |change| Step::Update(machine.id.clone(), change);
    let stop = || update(Change::Stop { grace: want.grace });
    let runs = machine.power == PowerState::Running;
    let refused = Step::Stall(Stall::Refused(Refusal::Power));
    if runs && want.power == Power::Off {
        return if can.power { stop() } else { refused };
    }
    let differences = differences(want, machine, can);
    let mut refusal = None;
    let mut needs_stop = false;
    for difference in differences {
        match difference {
            Difference::Due(change, when) if fits(when, machine.power) => return update(change),
            Difference::Due(..) => needs_stop = true,
            Difference::Refused(why) => refusal = refusal.or(Some(why)),
        }
    }
    if needs_stop {
        return if can.power { stop() } else { refused };
    }
    let restart = want
        .restart
        .clone()
        .filter(|token| machine.restart.as_ref() != Some(token));
    match (want.power, runs, restart, refusal) {
        (Power::On, _, Some(token), _) if can.power => update(Change::Restart {
            token,
            grace: want.grace,
        }),
        (Power::On, false, _, _) => update(Change::Start),
        (_, _, _, Some(why)) => Step::Stall(Stall::Refused(why)),
        (_, _, _, None) => Step::Settled,
    }
}

/// Which declared changes of a running machine will have it stopped and started again.
pub fn needs_restart(want: &Want, machine: &Facts, can: &Capabilities) -> Vec<Change> {
    let stopped_only = |difference| match difference {
        Difference::Due(change, When::Stopped) => Some(change),
        Difference::Due(_, When::Always | When::Never) | Difference::Refused(_) => None,
    };
    let all = differences(want, machine, can);
    all.into_iter().filter_map(stopped_only).collect()
}

impl Step {
    /// Whether carrying it out changes a platform or lets an object go, so that a stale
    /// view of the object must not lead to it.
    pub fn is_consequential(&self) -> bool {
        match self {
            Step::Create
            | Step::Reclaim
            | Step::Update(..)
            | Step::Delete(_)
            | Step::Release
            | Step::Bind => true,
            Step::Wait(_) | Step::Stall(_) | Step::Settled => false,
        }
    }

    /// A stable name for logs, events and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Step::Bind => "bind",
            Step::Create => "create",
            Step::Reclaim => "reclaim",
            Step::Update(_, change) => change.name(),
            Step::Delete(_) => "delete",
            Step::Release => "release",
            Step::Wait(_) => "wait",
            Step::Stall(_) => "stall",
            Step::Settled => "settled",
        }
    }
}
