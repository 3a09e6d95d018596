//! Conditions and phase: a view of the situation, computed in one place, never read back.

use super::{Facts, NicFacts, Power, PowerState, Want, plan::*};

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

    fn is_terminal(&self) -> bool {
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
            (false, Step::Power(_, Power::Off), _) => Phase::Stopping,
            (false, Step::Restart(_), _) => Phase::Stopping,
            (false, _, Some(PowerState::Failed)) => Phase::Failed,
            (false, _, Some(PowerState::Running)) => Phase::Running,
            (false, _, Some(PowerState::Stopping)) => Phase::Stopping,
            (false, Step::Power(_, Power::On), Some(PowerState::Stopped)) => Phase::Creating,
            (false, _, Some(PowerState::Stopped)) => Phase::Stopped,
            (false, _, Some(PowerState::Creating | PowerState::Deleting)) => Phase::Creating,
            (false, _, None) if self.is_terminal() => Phase::Failed,
            (false, Step::Create, None) => Phase::Creating,
            (false, _, None) => Phase::Pending,
        }
    }

    /// All conditions, `Ready` first.
    pub fn conditions(&self) -> Vec<Condition> {
        let infrastructure = self.infrastructure();
        let network = self.network();
        vec![
            self.ready(&infrastructure, &network),
            infrastructure,
            network,
            self.bootstrap(),
            self.reconciling(),
            self.stalled(),
        ]
    }

    /// One sentence that says how it stands.
    pub fn message(&self) -> String {
        if let Some(trouble) = self.trouble {
            return trouble.message.clone();
        }
        match self.step {
            Step::Bind => "Accepted; waiting to be placed.".into(),
            Step::Create => "The machine is being created.".into(),
            Step::Power(_, Power::On) => "The machine is being started.".into(),
            Step::Power(_, Power::Off) => "The machine is being stopped.".into(),
            Step::Restart(_) => "The machine is being restarted.".into(),
            Step::Delete(_) | Step::Wait(Waiting::Removal) => {
                "The machine is being removed.".into()
            }
            Step::Release => "The machine and all that was made for it are gone.".into(),
            Step::Wait(Waiting::Sight) => "The provider has not said yet what is there.".into(),
            Step::Wait(Waiting::Declaration) => "The declaration is not complete.".into(),
            Step::Wait(Waiting::Creation) => "The provider is creating the machine.".into(),
            Step::Wait(Waiting::Shutdown) => "The guest is shutting down.".into(),
            Step::Stall(Stall::Duplicates) => self.duplicates(),
            Step::Stall(Stall::Broken) => self.broken(),
            Step::Settled => match self.situation.want.map(|want| want.power) {
                Some(Power::Off) => "The machine is stopped, as declared.".into(),
                _ => "The machine is running.".into(),
            },
        }
    }

    fn duplicates(&self) -> String {
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

    fn broken(&self) -> String {
        let problem = self
            .machine()
            .and_then(|machine| machine.problem.as_deref());
        format!(
            "The provider reports the machine as failed: {}. Delete it to have it made anew.",
            problem.unwrap_or("no reason given")
        )
    }

    fn ready(&self, infrastructure: &Condition, network: &Condition) -> Condition {
        let running = self.machine().map(|m| m.power) == Some(PowerState::Running);
        let (status, reason) = match self.phase() {
            phase if self.is_out_of_sight() => {
                (Truth::Unknown, phase_reason(phase, self.trouble, self.step))
            }
            Phase::Running if running && infrastructure.status == Truth::True => {
                match network.status {
                    Truth::True => (Truth::True, "Running".to_owned()),
                    Truth::False | Truth::Unknown => (Truth::False, network.reason.clone()),
                }
            }
            phase => (Truth::False, phase_reason(phase, self.trouble, self.step)),
        };
        let message = match (status, self.trouble) {
            // A running machine that could not be looked at just now is still the last thing known.
            (Truth::False, _) if reason == network.reason => network.message.clone(),
            _ => self.message(),
        };
        condition("Ready", status, reason, message)
    }

    fn infrastructure(&self) -> Condition {
        let kind = "InfrastructureReady";
        match (self.machine(), self.situation.seen) {
            (Some(machine), _) => match machine.power {
                PowerState::Running | PowerState::Stopping | PowerState::Stopped => condition(
                    kind,
                    Truth::True,
                    "Provisioned",
                    format!("The provider knows it as {}.", machine.id),
                ),
                PowerState::Creating => condition(
                    kind,
                    Truth::False,
                    "Creating",
                    "The provider is creating the machine.",
                ),
                PowerState::Deleting => condition(
                    kind,
                    Truth::False,
                    "Deleting",
                    "The machine is being removed.",
                ),
                PowerState::Failed => condition(kind, Truth::False, "Failed", self.broken()),
            },
            (None, Seen::Machines([])) => condition(
                kind,
                Truth::False,
                "NotProvisioned",
                "The provider has no such machine yet.",
            ),
            (None, Seen::Machines(_)) => {
                condition(kind, Truth::False, "Duplicates", self.duplicates())
            }
            (None, Seen::Unknown) => condition(
                kind,
                Truth::Unknown,
                "NotSeen",
                "The provider was not asked yet.",
            ),
        }
    }

    fn network(&self) -> Condition {
        let kind = "NetworkReady";
        if self.is_out_of_sight() {
            return condition(
                kind,
                Truth::Unknown,
                "NotSeen",
                "The provider does not answer.",
            );
        }
        let Some(machine) = self.machine().filter(|m| m.power == PowerState::Running) else {
            return condition(
                kind,
                Truth::False,
                "NotRunning",
                "The machine is not running.",
            );
        };
        let addresses = |nic: &NicFacts| nic.private.iter().chain(&nic.public).cloned().collect();
        let confirmed: Vec<String> = collect(machine, |nic| nic.confirmed, addresses);
        if !confirmed.is_empty() {
            let message = format!("The guest has {}.", confirmed.join(", "));
            return condition(kind, Truth::True, "AddressConfirmed", message);
        }
        let assigned: Vec<String> = collect(machine, |_| true, addresses);
        if assigned.is_empty() {
            return condition(
                kind,
                Truth::False,
                "WaitingForAddress",
                "The machine has no address yet.",
            );
        }
        let message = format!(
            "The network assigned {}; the guest has not confirmed it.",
            assigned.join(", ")
        );
        condition(kind, Truth::True, "AddressAssigned", message)
    }

    fn bootstrap(&self) -> Condition {
        let kind = "BootstrapReady";
        match self.machine() {
            Some(Facts { guest: Some(_), .. }) => condition(
                kind,
                Truth::True,
                "GuestReported",
                "The guest is up and answers.",
            ),
            Some(_) => condition(
                kind,
                Truth::Unknown,
                "GuestSilent",
                "The guest has not reported; without a guest agent it never will.",
            ),
            None => condition(
                kind,
                Truth::False,
                "NotProvisioned",
                "There is no guest yet.",
            ),
        }
    }

    fn reconciling(&self) -> Condition {
        let busy = !self.is_terminal() && (*self.step != Step::Settled || self.trouble.is_some());
        let (status, reason) = match busy {
            true => (Truth::True, "Progressing"),
            false => (Truth::False, "Settled"),
        };
        condition("Reconciling", status, reason, self.message())
    }

    fn stalled(&self) -> Condition {
        let reason = match (self.trouble, self.step) {
            (Some(trouble), _) if trouble.terminal => trouble.reason.clone(),
            (_, Step::Stall(Stall::Duplicates)) => "Duplicates".into(),
            (_, Step::Stall(Stall::Broken)) => "Broken".into(),
            _ => {
                return condition(
                    "Stalled",
                    Truth::False,
                    "Progressing",
                    "Nothing is in the way.",
                );
            }
        };
        condition("Stalled", Truth::True, reason, self.message())
    }
}

fn collect(
    machine: &Facts,
    which: impl Fn(&NicFacts) -> bool,
    addresses: impl Fn(&NicFacts) -> Vec<String>,
) -> Vec<String> {
    machine
        .nics
        .iter()
        .filter(|nic| which(nic))
        .flat_map(addresses)
        .collect()
}

fn phase_reason(phase: Phase, trouble: Option<&Trouble>, step: &Step) -> String {
    match (trouble, step) {
        (Some(trouble), _) => trouble.reason.clone(),
        (None, Step::Stall(Stall::Duplicates)) => "Duplicates".into(),
        (None, _) => phase.as_str().into(),
    }
}

fn condition(
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
