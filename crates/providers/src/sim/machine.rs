//! One simulated machine, and how it gets from one state to the next.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use machinist_core::machine::{
    Architecture, Disk, DiskFacts, Facts, GuestFacts, MachineId, MachineKey, NicFacts, PowerState,
    Want,
};
use tokio::time::Instant;

use super::options::Transition;

#[derive(Debug, Clone)]
pub(super) struct Machine {
    /// What it is, but for its tags. Boxed, because a tree has room for half as many machines again as
    /// are in it.
    pub bare: Box<Facts>,
    /// Its tags, which many machines have in common.
    tags: Arc<BTreeMap<String, String>>,
    pub console: String,
    /// How often it was restarted on request.
    pub restarts: u64,
    number: u64,
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
    pub(super) fn new(
        key: &MachineKey,
        want: &Want,
        node: &str,
        number: u64,
        now: Timestamp,
    ) -> Machine {
        let id = format!("sim-{number}");
        Machine {
            bare: Box::new(facts(&id, key, want, node, number, now)),
            tags: Arc::new(want.tags.clone()),
            console: String::new(),
            restarts: 0,
            number,
            coming: None,
        }
    }

    /// What it is.
    pub(super) fn facts(&self) -> Facts {
        Facts {
            tags: BTreeMap::clone(&self.tags),
            ..Facts::clone(&self.bare)
        }
    }

    /// Changes what it is.
    pub(super) fn change<T>(&mut self, change: impl FnOnce(&mut Facts) -> T) -> T {
        self.bare.tags = BTreeMap::clone(&self.tags);
        let outcome = change(&mut self.bare);
        let tags = std::mem::take(&mut self.bare.tags);
        if tags != *self.tags {
            self.tags = Arc::new(tags);
        }
        outcome
    }

    /// Has its tags in common with another machine, where they are the same. A map takes more than
    /// half a kilobyte, however little is in it.
    pub(super) fn share(&mut self, other: &mut Option<Arc<BTreeMap<String, String>>>) {
        match other {
            Some(tags) if *tags == self.tags => self.tags = tags.clone(),
            _ => *other = Some(self.tags.clone()),
        }
    }

    /// Sets out for another state.
    pub(super) fn go(&mut self, goal: PowerState, transition: Transition, now: Timestamp) {
        self.coming = Some((goal, Due::after(transition)));
        self.advance(false, now);
    }

    /// Whether it is on its way to this state.
    pub(super) fn heads_for(&self, goal: PowerState) -> bool {
        self.coming.is_some_and(|(coming, _)| coming == goal)
    }

    /// Sets out for its removal; asking again does not begin it anew.
    pub(super) fn leave(&mut self, transition: Transition) {
        if self.bare.power != PowerState::Deleting {
            self.bare.power = PowerState::Deleting;
            self.bare.state = "deleting".to_owned();
            self.coming = Some((PowerState::Deleting, Due::after(transition)));
        }
    }

    /// Lets time pass; a look counts where transitions are counted in looks.
    pub(super) fn advance(&mut self, is_look: bool, now: Timestamp) -> bool {
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
        self.bare.power = *goal;
        self.coming = None;
        let is_up = self.bare.power == PowerState::Running;
        if is_up {
            self.bare.started = Some(now);
            self.console = format!("{} is up\n", self.bare.provider_id);
        }
        self.bare.state = if is_up { "running" } else { "stopped" }.to_owned();
        self.bare
            .nics
            .iter_mut()
            .for_each(|nic| nic.confirmed = is_up);
        true
    }

    /// An interface of this name at this place.
    pub(super) fn nic(&self, name: &str, place: usize) -> NicFacts {
        NicFacts {
            confirmed: self.bare.power == PowerState::Running,
            ..nic(name, self.number, place)
        }
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

/// A disk as it is made.
pub(super) fn disk(id: &str, disk: &Disk) -> DiskFacts {
    DiskFacts {
        name: disk.name.clone(),
        device: Some(format!("{id}/{}", disk.name)),
        size: disk.size.or(Some(1 << 30)),
        used: Some(0),
        class: disk.class.clone(),
        boot: disk.boot,
    }
}

fn nic(name: &str, number: u64, place: usize) -> NicFacts {
    let [.., high, low] = number.to_be_bytes();
    NicFacts {
        name: name.to_owned(),
        mac: Some(format!("52:54:01:{place:02x}:{high:02x}:{low:02x}")),
        network: Some("sim".to_owned()),
        private: vec![format!("10.{}.{high}.{low}", 78 + place % 100)],
        ..NicFacts::default()
    }
}

fn facts(
    id: &str,
    key: &MachineKey,
    want: &Want,
    node: &str,
    number: u64,
    now: Timestamp,
) -> Facts {
    let declared = want.nics.iter().enumerate();
    let mut nics: Vec<NicFacts> = declared
        .map(|(place, declared)| nic(&declared.name, number, place))
        .collect();
    if nics.is_empty() {
        nics = vec![nic("default", number, 0)];
    }
    Facts {
        id: MachineId::new(id),
        key: key.clone(),
        provider_id: format!("sim://{node}/{id}"),
        power: PowerState::Creating,
        state: "creating".to_owned(),
        problem: None,
        node: Some(node.to_owned()),
        instance_type: None,
        cpus: Some(want.cpu.count()),
        memory: Some(want.memory),
        architecture: Some(Architecture::Amd64),
        disks: want
            .disks
            .iter()
            .map(|declared| disk(id, declared))
            .collect(),
        nics,
        tags: BTreeMap::new(),
        restart: want.restart.clone(),
        guest: Some(GuestFacts {
            hostname: Some(want.init.hostname.clone()),
            ..GuestFacts::default()
        }),
        created: Some(now),
        started: None,
        details: BTreeMap::new(),
    }
}
