//! One simulated machine, and how it gets from one state to the next.

use std::collections::BTreeMap;

use jiff::Timestamp;
use machinist_core::machine::{
    Architecture, Disk, DiskFacts, Facts, GuestFacts, MachineId, MachineKey, NicFacts, PowerState,
    Want,
};
use tokio::time::Instant;

use super::options::Transition;

#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub facts: Facts,
    pub console: String,
    /// The state that it is on its way to, and when it gets there.
    coming: Option<(PowerState, Due)>,
}

#[derive(Debug, Clone, Copy)]
enum Due {
    Looks(u32),
    At(Instant),
}

impl Due {
    fn after(transition: Transition) -> Due {
        match transition {
            Transition::Immediate => Due::Looks(0),
            Transition::Looks(count) => Due::Looks(count),
            Transition::After(time) => Due::At(Instant::now() + time),
        }
    }
}

impl Machine {
    pub(super) fn new(id: &str, key: &MachineKey, want: &Want, node: &str, number: u64) -> Machine {
        Machine {
            facts: facts(id, key, want, node, number),
            console: String::new(),
            coming: None,
        }
    }

    /// Sets out for another state.
    pub(super) fn go(&mut self, goal: PowerState, transition: Transition) {
        self.coming = Some((goal, Due::after(transition)));
        self.advance(false);
    }

    /// Sets out for its removal; asking again does not begin it anew.
    pub(super) fn leave(&mut self, transition: Transition) {
        if self.facts.power != PowerState::Deleting {
            self.facts.power = PowerState::Deleting;
            self.facts.state = "deleting".to_owned();
            self.coming = Some((PowerState::Deleting, Due::after(transition)));
        }
    }

    /// Lets time pass; a look counts where transitions are counted in looks.
    pub(super) fn advance(&mut self, is_look: bool) -> bool {
        let Some((goal, due)) = &mut self.coming else {
            return false;
        };
        let over = match due {
            Due::Looks(0) => true,
            Due::Looks(left) if is_look => {
                *left -= 1;
                false
            }
            Due::Looks(_) => false,
            Due::At(when) => *when <= Instant::now(),
        };
        if !over || *goal == PowerState::Deleting {
            return over;
        }
        self.facts.power = *goal;
        self.coming = None;
        let is_up = self.facts.power == PowerState::Running;
        if is_up {
            self.facts.started = Some(Timestamp::now());
            self.console = format!("{} is up\n", self.facts.provider_id);
        }
        self.facts.state = if is_up { "running" } else { "stopped" }.to_owned();
        self.facts
            .nics
            .iter_mut()
            .for_each(|nic| nic.confirmed = is_up);
        true
    }

    /// Whether its removal is over.
    pub(super) fn is_gone(&self) -> bool {
        match self.coming {
            Some((PowerState::Deleting, Due::Looks(left))) => left == 0,
            Some((PowerState::Deleting, Due::At(when))) => when <= Instant::now(),
            _ => false,
        }
    }
}

fn facts(id: &str, key: &MachineKey, want: &Want, node: &str, number: u64) -> Facts {
    let [.., high, low] = number.to_be_bytes();
    let nic = |name: &str| NicFacts {
        name: name.to_owned(),
        mac: Some(format!("52:54:01:00:{high:02x}:{low:02x}")),
        network: Some("sim".to_owned()),
        private: vec![format!("10.78.{high}.{low}")],
        ..NicFacts::default()
    };
    let disk = |disk: &Disk| DiskFacts {
        name: disk.name.clone(),
        device: Some(format!("{id}/{}", disk.name)),
        size: disk.size.or(Some(1 << 30)),
        used: Some(0),
        class: disk.class.clone(),
    };
    let mut nics: Vec<NicFacts> = want
        .nics
        .iter()
        .map(|declared| nic(&declared.name))
        .collect();
    if nics.is_empty() {
        nics.push(nic("default"));
    }
    Facts {
        id: MachineId::new(id),
        key: key.clone(),
        provider_id: format!("sim://{node}/{id}"),
        power: PowerState::Creating,
        state: "creating".to_owned(),
        problem: None,
        node: Some(node.to_owned()),
        cpus: Some(want.cpu.count()),
        memory: Some(want.memory),
        architecture: Some(Architecture::Amd64),
        disks: want.disks.iter().map(disk).collect(),
        nics,
        guest: Some(GuestFacts {
            hostname: Some(want.init.hostname.clone()),
            ..GuestFacts::default()
        }),
        created: Some(Timestamp::now()),
        started: None,
        details: BTreeMap::new(),
    }
}
