//! Phase and message: a view of the situation, computed in one place, never read back.

use std::time::Duration;

use super::{
    Change, Facts, Power, PowerState, Want,
    plan::{Seen, Situation, Stall, Step, Waiting, needs_restart},
};

/// A condition in the making; the time of its last change is the dialect's to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// `Ready`, `NetworkReady`, …
    pub kind: &'static str,
    /// True, false or unknown.
    pub status: Truth,
    /// A stable word.
    pub reason: String,
    /// A sentence for a person.
    pub message: String,
}

impl Condition {
    /// Puts one together.
    pub fn new(
        kind: &'static str,
        status: Truth,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Condition {
        Condition {
            kind,
            status,
            reason: reason.into(),
            message: message.into(),
        }
    }
}

/// The three values of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody can say.
    Unknown,
}

/// Where a machine is in its life, in the documented words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Accepted, waiting to be processed.
    Pending,
    /// Being provisioned.
    Creating,
    /// Running.
    Running,
    /// Being stopped.
    Stopping,
    /// Stopped, not removed.
    Stopped,
    /// Being removed.
    Terminating,
    /// Removed.
    Terminated,
    /// Creation or operation failed.
    Failed,
}

/// What kept a pass from its goal: an error already folded into reason and sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// A stable word.
    pub reason: String,
    /// What happened and the way out; never a secret.
    pub message: String,
    /// Whether trying again without a change is pointless.
    pub terminal: bool,
    /// When to try again, where the platform said so.
    pub retry_after: Option<Duration>,
}

/// Everything that the view is computed from.
#[derive(Debug, Clone, Copy)]
pub struct Outlook<'a> {
    /// What the planner saw.
    pub situation: Situation<'a>,
    /// What it decided.
    pub step: &'a Step,
    /// What went wrong in this pass, if anything did.
    pub trouble: Option<&'a Trouble>,
}

impl<'a> Outlook<'a> {
    /// The machine at the platform, when there is just one.
    pub fn machine(&self) -> Option<&'a Facts> {
        match self.situation.seen {
            Seen::Machines([machine]) => Some(machine),
            Seen::Machines(_) | Seen::Unknown => None,
        }
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.trouble.is_some_and(|trouble| trouble.terminal) || matches!(self.step, Step::Stall(_))
    }

    /// Whether there should be a machine that the platform says nothing about just now.
    pub fn is_out_of_sight(&self) -> bool {
        let Situation {
            deleting,
            bound,
            seen,
            ..
        } = self.situation;
        bound && !deleting && matches!(seen, Seen::Unknown)
    }

    /// The phase: the first row that matches.
    pub fn phase(&self) -> Phase {
        let power = self.machine().map(|machine| machine.power);
        match (self.situation.deleting, self.step, power) {
            (true, Step::Release, _) => Phase::Terminated,
            (true, _, _) => Phase::Terminating,
            (false, Step::Update(_, Change::Stop { .. }), _) => Phase::Stopping,
            (false, Step::Update(_, Change::Restart { .. }), Some(PowerState::Running)) => {
                Phase::Stopping
            }
            (false, _, Some(PowerState::Failed)) => Phase::Failed,
            (false, _, Some(PowerState::Running)) => Phase::Running,
            (false, _, Some(PowerState::Stopping)) => Phase::Stopping,
            (
                false,
                Step::Update(_, Change::Start | Change::Restart { .. }),
                Some(PowerState::Stopped),
            ) => Phase::Creating,
            (false, _, Some(PowerState::Stopped)) => Phase::Stopped,
            (
                false,
                _,
                Some(PowerState::Creating | PowerState::Starting | PowerState::Deleting),
            ) => Phase::Creating,
            (false, _, None) if self.is_terminal() => Phase::Failed,
            (false, Step::Create, None) => Phase::Creating,
            (false, _, None) => Phase::Pending,
        }
    }

    /// One sentence that says how it stands.
    pub fn message(&self) -> String {
        if let Some(trouble) = self.trouble {
            return trouble.message.clone();
        }
        match self.step {
            Step::Bind => "Accepted; waiting to be placed.".into(),
            Step::Create => "The machine is being created.".into(),
            Step::Reclaim => {
                "The provider is asked which machine this is, so that it can be removed.".into()
            }
            Step::Update(_, Change::Stop { .. }) if self.stops_to_change() => self.stop_reason(),
            Step::Update(_, change) => change.doing(),
            Step::Delete(_) | Step::Wait(Waiting::Removal) => {
                "The machine is being removed.".into()
            }
            Step::Release => "The machine and all that was made for it are gone.".into(),
            Step::Wait(Waiting::Sight) => "The provider has not said yet what is there.".into(),
            Step::Wait(Waiting::Declaration) => "The declaration is not complete.".into(),
            Step::Wait(Waiting::Creation) => "The provider is creating the machine.".into(),
            Step::Wait(Waiting::Startup) => "The machine is starting.".into(),
            Step::Wait(Waiting::Shutdown) => "The guest is shutting down.".into(),
            Step::Stall(Stall::Duplicates) => self.duplicates(),
            Step::Stall(Stall::Broken) => self.broken(),
            Step::Stall(Stall::Refused(refusal)) => refusal.message(),
            Step::Stall(Stall::Unproven) => "The provider shows no such machine, which may be \
                behind the times, and the declaration cannot be understood, so that the machine \
                cannot be asked for again. Correct the declaration; or make sure at the provider \
                that there is none, and remove the finalizer."
                .into(),
            Step::Settled => match self.situation.want.map(|want| want.power) {
                Some(Power::Off) => "The machine is stopped, as declared.".into(),
                _ => "The machine is running.".into(),
            },
        }
    }

    /// Whether the machine is to be stopped although it should run: for a change that needs it.
    pub(super) fn stops_to_change(&self) -> bool {
        self.situation.want.is_some_and(Want::should_run)
    }

    /// What must be said before the step is taken: that a declared change costs a restart.
    pub fn announcement(&self) -> Option<String> {
        match self.step {
            Step::Update(_, Change::Stop { .. }) if self.stops_to_change() => {
                Some(self.stop_reason())
            }
            _ => None,
        }
    }

    /// Which changes have a machine stopped that should run.
    fn stop_reason(&self) -> String {
        let changes = match (self.situation.want, self.machine()) {
            (Some(want), Some(machine)) => needs_restart(want, machine, &self.situation.can),
            _ => Vec::new(),
        };
        let names: Vec<&str> = changes.iter().map(Change::name).collect();
        format!(
            "The provider can do this only while the machine is stopped: {}. It is stopped, and started again after that.",
            names.join(", ")
        )
    }

    pub(super) fn duplicates(&self) -> String {
        let ids: Vec<&str> = match self.situation.seen {
            Seen::Machines(machines) => machines.iter().map(|m| m.id.as_str()).collect(),
            Seen::Unknown => Vec::new(),
        };
        format!(
            "{} machines carry this object's key: {}. Remove all but one of them at the provider, \
             or delete this object to remove them all.",
            ids.len(),
            ids.join(", ")
        )
    }

    pub(super) fn broken(&self) -> String {
        let problem = self
            .machine()
            .and_then(|machine| machine.problem.as_deref());
        format!(
            "The provider reports the machine as failed: {}. Delete it to have it made anew.",
            problem.unwrap_or("no reason given")
        )
    }
}

impl Phase {
    /// The documented word.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Pending => "Pending",
            Phase::Creating => "Creating",
            Phase::Running => "Running",
            Phase::Stopping => "Stopping",
            Phase::Stopped => "Stopped",
            Phase::Terminating => "Terminating",
            Phase::Terminated => "Terminated",
            Phase::Failed => "Failed",
        }
    }
}

impl Truth {
    /// As Kubernetes writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Truth::True => "True",
            Truth::False => "False",
            Truth::Unknown => "Unknown",
        }
    }
}

impl Want {
    /// Whether it should run.
    pub fn should_run(&self) -> bool {
        self.power == Power::On
    }
}
