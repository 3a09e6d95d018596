//! The conditions of a machine, one function each.

use super::{
    Change, Facts, NicFacts, PowerState,
    plan::{Seen, Stall, Step},
    status::{Condition, Outlook, Phase, Trouble, Truth},
};

impl Outlook<'_> {
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

    fn ready(&self, infrastructure: &Condition, network: &Condition) -> Condition {
        let running = self.machine().map(|m| m.power) == Some(PowerState::Running);
        let (status, reason) = match self.phase() {
            phase if self.is_out_of_sight() => {
                (Truth::Unknown, phase_reason(phase, self.trouble, self.step))
            }
            // It can be used, but it is not what is declared.
            Phase::Running if matches!(self.step, Step::Stall(Stall::Refused(_))) => {
                (Truth::False, "Refused".to_owned())
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
        Condition::new("Ready", status, reason, message)
    }

    fn infrastructure(&self) -> Condition {
        let kind = "InfrastructureReady";
        match (self.machine(), self.situation.seen) {
            (Some(machine), _) => match machine.power {
                PowerState::Starting
                | PowerState::Running
                | PowerState::Stopping
                | PowerState::Stopped => Condition::new(
                    kind,
                    Truth::True,
                    "Provisioned",
                    format!("The provider knows it as {}.", machine.id),
                ),
                PowerState::Creating => Condition::new(
                    kind,
                    Truth::False,
                    "Creating",
                    "The provider is creating the machine.",
                ),
                PowerState::Deleting => Condition::new(
                    kind,
                    Truth::False,
                    "Deleting",
                    "The machine is being removed.",
                ),
                PowerState::Failed => Condition::new(kind, Truth::False, "Failed", self.broken()),
            },
            (None, Seen::Machines([])) => Condition::new(
                kind,
                Truth::False,
                "NotProvisioned",
                "The provider has no such machine yet.",
            ),
            (None, Seen::Machines(_)) => {
                Condition::new(kind, Truth::False, "Duplicates", self.duplicates())
            }
            (None, Seen::Unknown) => Condition::new(
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
            return not_seen(kind);
        }
        let Some(machine) = self.machine().filter(|m| m.power == PowerState::Running) else {
            return Condition::new(
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
            return Condition::new(kind, Truth::True, "AddressConfirmed", message);
        }
        let assigned: Vec<String> = collect(machine, |_| true, addresses);
        if assigned.is_empty() {
            return Condition::new(
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
        Condition::new(kind, Truth::True, "AddressAssigned", message)
    }

    fn bootstrap(&self) -> Condition {
        let kind = "BootstrapReady";
        match self.machine() {
            Some(Facts { guest: Some(_), .. }) => Condition::new(
                kind,
                Truth::True,
                "GuestReported",
                "The guest is up and answers.",
            ),
            Some(_) => Condition::new(
                kind,
                Truth::Unknown,
                "GuestSilent",
                "The guest has not reported; without a guest agent it never will.",
            ),
            None if self.is_out_of_sight() => not_seen(kind),
            None => Condition::new(
                kind,
                Truth::False,
                "NotProvisioned",
                "There is no guest yet.",
            ),
        }
    }

    fn reconciling(&self) -> Condition {
        let busy = !self.is_terminal() && (*self.step != Step::Settled || self.trouble.is_some());
        let (status, reason) = match (busy, self.step) {
            (false, _) => (Truth::False, "Settled"),
            // Said before it is done: a declared change that costs a restart.
            (true, Step::Update(_, Change::Stop { .. })) if self.stops_to_change() => {
                (Truth::True, "RestartNeeded")
            }
            (true, _) => (Truth::True, "Progressing"),
        };
        Condition::new("Reconciling", status, reason, self.message())
    }

    fn stalled(&self) -> Condition {
        let reason = match (self.trouble, self.step) {
            (Some(trouble), _) if trouble.terminal => trouble.reason.clone(),
            (_, Step::Stall(Stall::Duplicates)) => "Duplicates".into(),
            (_, Step::Stall(Stall::Broken)) => "Broken".into(),
            (_, Step::Stall(Stall::Refused(_))) => "Refused".into(),
            (_, Step::Stall(Stall::Unproven)) => "Unproven".into(),
            _ => {
                return Condition::new(
                    "Stalled",
                    Truth::False,
                    "Progressing",
                    "Nothing is in the way.",
                );
            }
        };
        Condition::new("Stalled", Truth::True, reason, self.message())
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

fn not_seen(kind: &'static str) -> Condition {
    Condition::new(
        kind,
        Truth::Unknown,
        "NotSeen",
        "The provider does not answer.",
    )
}
