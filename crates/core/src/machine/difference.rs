//! How a machine differs from its declaration, and when each difference can be made good.
//!
//! What a platform does not tell is no difference: a driver that reports no disks is not asked
//! to attach any.

use super::{Change, Facts, PowerState, Want, change::Size};
use crate::provider::{Capabilities, When};

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Difference {
    /// The platform can make it good while the machine is in a state that this names.
    Due(Change, When),
    /// It cannot be made good on this machine.
    Refused(Refusal),
}

/// A difference that the platform cannot make good; the machine stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It cannot be stopped and started here, and something declared needs that.
    Power,
    /// Its size cannot be changed here.
    Resize,
    /// A disk cannot get smaller.
    Shrink {
        /// The disk.
        name: String,
        /// Bytes it has.
        has: u64,
    },
    /// A disk cannot be attached, detached or enlarged here.
    Disk(String),
    /// The boot disk is part of the machine.
    BootDisk(String),
    /// An interface cannot be attached or detached here.
    Nic(String),
    /// The platform tried, and said why not.
    Platform(String),
}

impl Refusal {
    /// What cannot be done, and the way out.
    pub fn message(&self) -> String {
        const ANEW: &str = "or delete the machine and declare it anew";
        match self {
            Refusal::Power => format!(
                "The provider cannot stop a machine and start it again, which the declaration needs; take that back, {ANEW}."
            ),
            Refusal::Resize => format!(
                "The provider cannot change the size of a machine that exists; declare the size that it has, {ANEW}."
            ),
            Refusal::Shrink { name, has } => format!(
                "Disk {name} has {has} bytes and cannot get smaller; declare at least that, {ANEW}."
            ),
            Refusal::Disk(name) => format!(
                "The provider cannot change disk {name} of a machine that exists; declare the disks that it has, {ANEW}."
            ),
            Refusal::BootDisk(name) => format!(
                "The machine boots from disk {name}, which cannot be exchanged; keep that name and boot: true, {ANEW}."
            ),
            Refusal::Platform(words) => words.clone(),
            Refusal::Nic(name) => format!(
                "The provider cannot change interface {name} of a machine that exists; declare the interfaces that it has, {ANEW}."
            ),
        }
    }
}

/// Everything about the machine, but its power, that is not as declared.
pub(crate) fn differences(want: &Want, facts: &Facts, can: &Capabilities) -> Vec<Difference> {
    let mut all = Vec::new();
    size(want, facts, can, &mut all);
    disks(want, facts, can, &mut all);
    nics(want, facts, can, &mut all);
    if can.tags && want.tags != facts.tags {
        all.push(Difference::Due(
            Change::Tags(want.tags.clone()),
            When::Always,
        ));
    }
    all
}

/// Whether something that is possible at this time can be done to a machine in this state.
pub(super) fn fits(when: When, power: PowerState) -> bool {
    match when {
        When::Never => false,
        When::Stopped => power == PowerState::Stopped,
        When::Always => true,
    }
}

fn due(change: Change, when: When, refusal: impl FnOnce() -> Refusal) -> Difference {
    match when {
        When::Never => Difference::Refused(refusal()),
        When::Stopped | When::Always => Difference::Due(change, when),
    }
}

fn size(want: &Want, facts: &Facts, can: &Capabilities, all: &mut Vec<Difference>) {
    let differs = match (
        can.instance_types,
        &want.instance_type,
        &facts.instance_type,
    ) {
        (true, Some(wanted), Some(has)) => wanted != has,
        (true, _, _) => false,
        (false, _, _) => {
            facts.cpus.is_some_and(|cpus| cpus != want.cpu.count())
                || facts.memory.is_some_and(|memory| memory != want.memory)
        }
    };
    if differs {
        let resize = Change::Resize(Size::of(want));
        all.push(due(resize, can.changes.resize, || Refusal::Resize));
    }
}

fn disks(want: &Want, facts: &Facts, can: &Capabilities, all: &mut Vec<Difference>) {
    if facts.disks.is_empty() {
        return;
    }
    let can = (can.changes, can.disk_unit.max(1));
    let boot = facts.disks.iter().find(|disk| disk.boot);
    for disk in &want.disks {
        let refused = || Refusal::Disk(disk.name.clone());
        match facts.disks.iter().find(|has| has.name == disk.name) {
            None => match boot {
                Some(boot) if disk.boot => {
                    all.push(Difference::Refused(Refusal::BootDisk(boot.name.clone())));
                }
                _ => {
                    let disk = want.defaults.disk(disk).into_owned();
                    let attach = Change::AttachDisk(disk);
                    all.push(due(attach, can.0.attach_disk, refused));
                }
            },
            Some(has) => {
                let wanted = disk.size.map(|size| size.next_multiple_of(can.1));
                match (has.size, wanted) {
                    (Some(has), Some(size)) if has < size => {
                        let name = disk.name.clone();
                        let grow = Change::GrowDisk { name, size };
                        all.push(due(grow, can.0.grow_disk, refused));
                    }
                    (Some(has), Some(size)) if has > size => {
                        let name = disk.name.clone();
                        all.push(Difference::Refused(Refusal::Shrink { name, has }));
                    }
                    _ => {}
                }
            }
        }
    }
    for has in &facts.disks {
        // The boot disk that is missing from the declaration was told above.
        if has.boot || want.disks.iter().any(|disk| disk.name == has.name) {
            continue;
        }
        let detach = Change::DetachDisk(has.name.clone());
        let refused = || Refusal::Disk(has.name.clone());
        all.push(due(detach, can.0.detach_disk, refused));
    }
}

fn nics(want: &Want, facts: &Facts, can: &Capabilities, all: &mut Vec<Difference>) {
    // No declared interface means the provider's default one, whatever it is called there.
    if want.nics.is_empty() || facts.nics.is_empty() {
        return;
    }
    for nic in &want.nics {
        if facts.nics.iter().all(|has| has.name != nic.name) {
            let attach = Change::AttachNic(nic.clone());
            let refused = || Refusal::Nic(nic.name.clone());
            all.push(due(attach, can.changes.nics, refused));
        }
    }
    for has in &facts.nics {
        if want.nics.iter().all(|nic| nic.name != has.name) {
            let detach = Change::DetachNic(has.name.clone());
            let refused = || Refusal::Nic(has.name.clone());
            all.push(due(detach, can.changes.nics, refused));
        }
    }
}
