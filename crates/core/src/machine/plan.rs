//! The planner: one total decision over what is wanted and what was seen.
//!
//! It does no I/O and reads no clock. It names at most one step; the engine carries it
//! out, looks again, and asks again. Everything that makes a machine exist exactly once
//! is decided here:
//!
//! - nothing is created before the binding (finalizer, provider, key) is durable;
//! - what could not be seen is unknown, and unknown never leads to a create or a delete;
//! - two machines with one key are reported, and never guessed away.

use jiff::Timestamp;

use super::{Facts, MachineId, Power, PowerState, Want};

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
    /// When a restart was last asked for.
    pub restart: Option<Timestamp>,
}

/// What looking at the platform gave.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'a> {
    /// The platform could not be asked, or did not answer. Not the same as absent.
    Unknown,
    /// Everything that carries the machine's key.
    Machines(&'a [Facts]),
}

/// The one thing to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Make finalizer, provider and key durable.
    Bind,
    /// Make the machine exist.
    Create,
    /// Start it, or shut it down.
    Power(MachineId, Power),
    /// Shut it down and start it again.
    Restart(MachineId),
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
    /// A machine that is on its way down.
    Shutdown,
    /// A machine that is being removed.
    Removal,
}

/// Why only a person can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stall {
    /// Several machines carry the key.
    Duplicates,
    /// The platform gave up on the machine.
    Broken,
}

/// Decides the next step.
pub fn plan(situation: Situation<'_>) -> Step {
    let Situation {
        deleting,
        bound,
        want,
        seen,
        restart,
    } = situation;
    match (deleting, bound, seen, want) {
        // Never bound means that nothing was ever asked of a platform.
        (true, false, _, _) => Step::Release,
        (true, true, Seen::Unknown, _) => Step::Wait(Waiting::Sight),
        (true, true, Seen::Machines(machines), _) => remove(machines),
        (false, false, _, None) | (false, true, Seen::Machines([]), None) => {
            Step::Wait(Waiting::Declaration)
        }
        (false, false, _, Some(_)) => Step::Bind,
        (false, true, Seen::Unknown, _) => Step::Wait(Waiting::Sight),
        (false, true, Seen::Machines([]), Some(_)) => Step::Create,
        (false, true, Seen::Machines([machine]), Some(want)) => keep(want, machine, restart),
        // A declaration that cannot be understood leaves what runs alone.
        (false, true, Seen::Machines([_]), None) => Step::Wait(Waiting::Declaration),
        (false, true, Seen::Machines([_, _, ..]), _) => Step::Stall(Stall::Duplicates),
    }
}

/// All that carry the key are ours, duplicates included, and all of them go.
fn remove(machines: &[Facts]) -> Step {
    let still_there = machines
        .iter()
        .find(|machine| machine.power != PowerState::Deleting);
    match (still_there, machines) {
        (Some(machine), _) => Step::Delete(machine.id.clone()),
        (None, []) => Step::Release,
        (None, [_, ..]) => Step::Wait(Waiting::Removal),
    }
}

fn keep(want: &Want, machine: &Facts, restart: Option<Timestamp>) -> Step {
    let id = || machine.id.clone();
    match (want.power, machine.power) {
        (Power::On, PowerState::Running) if restart_due(machine, restart) => Step::Restart(id()),
        (Power::On, PowerState::Running) | (Power::Off, PowerState::Stopped) => Step::Settled,
        (Power::On, PowerState::Stopped) => Step::Power(id(), Power::On),
        (Power::Off, PowerState::Running) => Step::Power(id(), Power::Off),
        (_, PowerState::Creating) => Step::Wait(Waiting::Creation),
        (_, PowerState::Stopping) => Step::Wait(Waiting::Shutdown),
        (_, PowerState::Deleting) => Step::Wait(Waiting::Removal),
        (_, PowerState::Failed) => Step::Stall(Stall::Broken),
    }
}

/// A restart is due while the machine has been up since before it was asked for. A start
/// time that is not known is no reason to restart.
fn restart_due(machine: &Facts, asked: Option<Timestamp>) -> bool {
    matches!((asked, machine.started), (Some(asked), Some(started)) if started < asked)
}

impl Step {
    /// Whether carrying it out changes a platform or lets an object go, so that a stale
    /// view of the object must not lead to it.
    pub fn is_consequential(&self) -> bool {
        match self {
            Step::Create
            | Step::Power(..)
            | Step::Restart(_)
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
            Step::Power(_, Power::On) => "start",
            Step::Power(_, Power::Off) => "stop",
            Step::Restart(_) => "restart",
            Step::Delete(_) => "delete",
            Step::Release => "release",
            Step::Wait(_) => "wait",
            Step::Stall(_) => "stall",
            Step::Settled => "settled",
        }
    }
}
