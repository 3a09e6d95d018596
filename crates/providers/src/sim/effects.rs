//! What the calls that change something do to the simulated platform.

use machinist_core::{
    machine::{DiskFacts, Facts, MachineId, MachineKey, Power, PowerState, Want},
    provider::{Change, ProviderError, ProviderResult, When},
};

use super::{
    cloud::SimCloud,
    machine::{self, Machine},
    options::Transition,
};

impl SimCloud {
    pub(super) fn create(&self, key: &MachineKey, want: &Want) -> ProviderResult<Facts> {
        let mut state = self.state();
        if self.options.idempotent
            && let Some(machine) = state.machines.of(key).next()
        {
            return Ok(machine.facts());
        }
        if let (Some(images), Some(image)) = (&state.images, &want.image)
            && !images.contains(&image.reference)
        {
            let known: Vec<&str> = images.iter().map(String::as_str).collect();
            return Err(ProviderError::Rejected {
                field: "image",
                value: image.reference.clone(),
                reason: format!("no such image; this platform has {}", known.join(", ")),
            });
        }
        if let Some(capacity) = self.options.capacity
            && state.machines.values().count() >= capacity
        {
            return Err(ProviderError::NoCapacity {
                reason: format!("all {capacity} places are taken"),
            });
        }
        state.made += 1;
        let number = state.made;
        let mut machine = Machine::new(key, want, &self.options.node, number, self.now());
        let goal = match want.power {
            Power::On => PowerState::Running,
            Power::Off => PowerState::Stopped,
        };
        machine.go(goal, self.options.transition, self.now());
        let facts = machine.facts();
        state.machines.remember(&facts.id);
        state.machines.insert(machine);
        state.peak = state.peak.max(state.count_of(key));
        drop(state);
        self.hint(key);
        Ok(facts)
    }

    pub(super) fn update(
        &self,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        let now = self.now();
        let mut state = self.state();
        state.owned(key, id)?;
        state.machines.remember(id);
        let transition = self.options.transition;
        let machine = state.owned(key, id)?;
        machine.advance(false, now);
        if machine.bare.power == PowerState::Deleting {
            return Err(busy("the machine is being removed"));
        }
        match change {
            Change::Start | Change::Stop { .. } | Change::Restart { .. } => {
                machine.power(change, transition, now);
            }
            other => self.alter(machine, other)?,
        }
        drop(state);
        self.hint(key);
        Ok(())
    }

    /// Changes what a machine consists of, where its state allows that.
    fn alter(&self, machine: &mut Machine, change: &Change) -> ProviderResult<()> {
        let changes = self.options.changes;
        let facts = &mut machine.bare;
        let allow = |when: When| match (when, facts.power) {
            (When::Always, PowerState::Running | PowerState::Stopped)
            | (When::Stopped, PowerState::Stopped) => Ok(()),
            (When::Never, _) => Err(ProviderError::Unsupported {
                what: change.name().to_owned(),
            }),
            (_, power) => Err(busy(&format!("the machine is {power:?}"))),
        };
        match change {
            Change::Resize(size) => {
                allow(changes.resize)?;
                if let Some(most) = self
                    .options
                    .most_cpus
                    .filter(|most| *most < size.cpu.count())
                {
                    return Err(ProviderError::Rejected {
                        field: "cpu",
                        value: size.cpu.count().to_string(),
                        reason: format!(
                            "a machine has at most {most} processors here; declare no more"
                        ),
                    });
                }
                facts.cpus = Some(size.cpu.count());
                facts.memory = Some(size.memory);
            }
            Change::AttachDisk(disk) => {
                allow(changes.attach_disk)?;
                if facts.disks.iter().all(|has| has.name != disk.name) {
                    facts.disks.push(machine::disk(facts.id.as_str(), disk));
                }
            }
            Change::DetachDisk(name) => {
                allow(changes.detach_disk)?;
                facts.disks.retain(|has| has.name != *name);
            }
            Change::GrowDisk { name, size } => {
                allow(changes.grow_disk)?;
                let grow = |disk: &mut DiskFacts| disk.size = disk.size.max(Some(*size));
                let disks = facts.disks.iter_mut().filter(|disk| disk.name == *name);
                disks.for_each(grow);
            }
            Change::AttachNic(nic) => {
                allow(changes.nics)?;
                if facts.nics.iter().all(|has| has.name != nic.name) {
                    let nic = machine.nic(&nic.name, machine.bare.nics.len());
                    machine.bare.nics.push(nic);
                }
            }
            Change::DetachNic(name) => {
                allow(changes.nics)?;
                facts.nics.retain(|has| has.name != *name);
            }
            Change::Tags(tags) => machine.change(|facts| facts.tags = tags.clone()),
            Change::Start | Change::Stop { .. } | Change::Restart { .. } => {}
        }
        Ok(())
    }

    pub(super) fn delete(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<()> {
        let mut state = self.state();
        state.owned(key, id)?;
        state.machines.remember(id);
        let transition = self.options.transition;
        let machine = state.owned(key, id)?;
        machine.leave(transition);
        state.machines.clear_away(id);
        drop(state);
        self.hint(key);
        Ok(())
    }
}

impl Machine {
    fn power(&mut self, change: &Change, transition: Transition, now: jiff::Timestamp) {
        let power = self.bare.power;
        match change {
            // What is on its way is not sent on its way anew: asked for often enough, it would
            // never arrive.
            Change::Stop { .. } if self.heads_for(PowerState::Stopped) => {}
            Change::Start if self.heads_for(PowerState::Running) => {}
            Change::Stop { .. } if power != PowerState::Stopped => {
                self.bare.power = PowerState::Stopping;
                self.go(PowerState::Stopped, transition, now);
            }
            Change::Start if power != PowerState::Running => {
                self.bare.power = PowerState::Starting;
                self.bare.state = "starting".to_owned();
                self.go(PowerState::Running, transition, now);
            }
            Change::Restart { token, .. } if self.bare.restart.as_ref() != Some(token) => {
                self.bare.restart = Some(token.clone());
                self.bare.power = PowerState::Stopping;
                self.restarts += 1;
                self.go(PowerState::Running, transition, now);
            }
            _ => {}
        }
    }
}

fn busy(reason: &str) -> ProviderError {
    ProviderError::Busy {
        reason: reason.to_owned(),
        retry_after: None,
    }
}
