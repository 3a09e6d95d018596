//! Whatever is declared and whatever is there: on a platform that does as it is told the planner
//! comes to rest, with the machine as declared or with a refusal that says why not.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod support;

use machinist_core::{
    machine::{
        Absence, Change, Disk, DiskFacts, Facts, Nic, NicFacts, Power, PowerState, Seen, Situation,
        Stall, Step, Want, plan,
    },
    provider::{Capabilities, Changes, When},
};
use proptest::prelude::*;
use support::{able, facts, want};

/// More than any way to rest takes.
const ENOUGH: usize = 40;

/// A platform that carries out every step at once.
struct Honest {
    machines: Vec<Facts>,
    bound: bool,
    released: bool,
}

impl Honest {
    fn carry_out(&mut self, step: &Step, want: &Want, can: &Capabilities) {
        match step {
            Step::Bind => self.bound = true,
            Step::Create | Step::Reclaim => self.machines.push(made(want)),
            Step::Release => self.released = true,
            Step::Delete(id) => self.machines.retain(|machine| machine.id != *id),
            Step::Update(id, change) => {
                let machine = self.machines.iter_mut().find(|machine| machine.id == *id);
                change_it(machine.expect("it is there"), change, can);
            }
            // Time passes, and what is under way ends.
            Step::Wait(_) => self.machines.retain_mut(|machine| {
                machine.power = match machine.power {
                    PowerState::Creating | PowerState::Starting => PowerState::Running,
                    PowerState::Stopping => PowerState::Stopped,
                    other => other,
                };
                machine.power != PowerState::Deleting
            }),
            Step::Stall(_) | Step::Settled => {}
        }
    }
}

fn made(want: &Want) -> Facts {
    let mut made = facts("i-new", PowerState::Running);
    made.cpus = Some(want.cpu.count());
    made.memory = Some(want.memory);
    made.disks = want.disks.iter().map(disk_facts).collect();
    made.nics = want.nics.iter().map(|nic| nic_facts(&nic.name)).collect();
    made.tags = want.tags.clone();
    made.restart = want.restart.clone();
    made
}

fn disk_facts(disk: &Disk) -> DiskFacts {
    DiskFacts {
        name: disk.name.clone(),
        size: disk.size,
        boot: disk.boot,
        ..DiskFacts::default()
    }
}

fn nic_facts(name: &str) -> NicFacts {
    NicFacts {
        name: name.into(),
        ..NicFacts::default()
    }
}

fn change_it(machine: &mut Facts, change: &Change, can: &Capabilities) {
    let allow = |when: When| {
        let fits = match when {
            When::Never => false,
            When::Stopped => machine.power == PowerState::Stopped,
            When::Always => true,
        };
        assert!(
            fits,
            "{change:?} was asked of a machine that is {:?}",
            machine.power
        );
    };
    match change {
        Change::Start => machine.power = PowerState::Starting,
        Change::Stop { .. } => machine.power = PowerState::Stopping,
        Change::Restart { token, .. } => {
            machine.restart = Some(token.clone());
            machine.power = PowerState::Running;
        }
        Change::Resize(size) => {
            allow(can.changes.resize);
            machine.cpus = Some(size.cpu.count());
            machine.memory = Some(size.memory);
        }
        Change::AttachDisk(disk) => {
            allow(can.changes.attach_disk);
            machine.disks.push(disk_facts(disk));
        }
        Change::DetachDisk(name) => {
            allow(can.changes.detach_disk);
            let gone: Vec<_> = machine
                .disks
                .extract_if(.., |disk| disk.name == *name)
                .collect();
            assert!(
                gone.iter().all(|disk| !disk.boot),
                "the boot disk was detached"
            );
        }
        Change::GrowDisk { name, size } => {
            allow(can.changes.grow_disk);
            let disk = machine.disks.iter_mut().find(|disk| disk.name == *name);
            let disk = disk.expect("it is there");
            assert!(disk.size < Some(*size), "a disk does not shrink");
            disk.size = Some(*size);
        }
        Change::AttachNic(nic) => {
            allow(can.changes.nics);
            machine.nics.push(nic_facts(&nic.name));
        }
        Change::DetachNic(name) => {
            allow(can.changes.nics);
            machine.nics.retain(|nic| nic.name != *name);
        }
        Change::Tags(tags) => machine.tags = tags.clone(),
    }
}

fn wants() -> impl Strategy<Value = Want> {
    let disks = prop::collection::btree_map("[a-c]", 1_u64..4, 0..3);
    let nics = prop::collection::btree_set("[x-z]", 0..3);
    let tags = prop::collection::btree_map("[t-u]", "[v-w]", 0..2);
    let power = prop::sample::select(vec![Power::On, Power::Off]);
    let restart = prop::option::of("[1-2]");
    (1_u32..3, disks, nics, tags, power, restart).prop_map(
        |(cores, disks, nics, tags, power, restart)| {
            let mut want = want();
            let disk = |(name, size)| Disk {
                name,
                size: Some(size),
                boot: false,
                ..want.disks[0].clone()
            };
            let mut all: Vec<Disk> = disks.into_iter().map(disk).collect();
            if let Some(first) = all.first_mut() {
                first.boot = true;
            }
            want.cpu.cores = cores;
            want.disks = all;
            want.nics = nics
                .into_iter()
                .map(|name| Nic {
                    name,
                    ..Nic::default()
                })
                .collect();
            want.tags = tags;
            want.power = power;
            want.restart = restart;
            want
        },
    )
}

fn abilities() -> impl Strategy<Value = Capabilities> {
    let when = || prop::sample::select(vec![When::Never, When::Stopped, When::Always]);
    (
        when(),
        when(),
        when(),
        when(),
        when(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(resize, attach_disk, detach_disk, grow_disk, nics, tags, power)| Capabilities {
                power,
                tags,
                changes: Changes {
                    resize,
                    attach_disk,
                    detach_disk,
                    grow_disk,
                    nics,
                },
                ..able()
            },
        )
}

const STATES: [PowerState; 7] = [
    PowerState::Creating,
    PowerState::Starting,
    PowerState::Running,
    PowerState::Stopping,
    PowerState::Stopped,
    PowerState::Deleting,
    PowerState::Failed,
];

proptest! {
    #[test]
    fn every_situation_comes_to_rest(
        before in wants(),
        after in wants(),
        can in abilities(),
        states in prop::collection::vec(prop::sample::select(STATES.to_vec()), 0..3),
        deleting in any::<bool>(),
        proven in any::<bool>(),
    ) {
        let machine = |(index, power)| {
            let mut machine = made(&before);
            machine.id = machinist_core::machine::MachineId::new(format!("i-{index}"));
            machine.power = power;
            machine
        };
        let mut platform = Honest {
            machines: states.into_iter().enumerate().map(machine).collect(),
            bound: true,
            released: false,
        };
        let mut absence = if proven { Absence::Proven } else { Absence::Apparent };
        let mut last = None;
        for _ in 0..ENOUGH {
            let step = plan(Situation {
                deleting,
                bound: platform.bound,
                want: Some(&after),
                seen: Seen::Machines(&platform.machines),
                absence,
                can,
            });
            if step == Step::Reclaim {
                // The machine is known from now on, and so is that it is gone when it is.
                absence = Absence::Proven;
            }
            platform.carry_out(&step, &after, &can);
            let rests = matches!(step, Step::Settled | Step::Stall(_) | Step::Release);
            last = Some(step);
            if rests {
                break;
            }
        }
        let step = last.expect("a step");
        match (&step, deleting) {
            (Step::Release, true) => prop_assert!(platform.released && platform.machines.is_empty()),
            (Step::Settled, false) => {
                let [machine] = platform.machines.as_slice() else {
                    return Err(TestCaseError::fail("settled without one machine"));
                };
                let goal = match after.power {
                    Power::On => PowerState::Running,
                    Power::Off => PowerState::Stopped,
                };
                prop_assert_eq!(machine.power, goal);
                prop_assert_eq!(machine.cpus, Some(after.cpu.count()));
                prop_assert!(!can.tags || machine.tags == after.tags);
            }
            (Step::Stall(Stall::Duplicates), false) => prop_assert!(platform.machines.len() > 1),
            (Step::Stall(Stall::Broken), false) => {
                prop_assert_eq!(platform.machines[0].power, PowerState::Failed);
            }
            // The planner never refuses what the platform can do.
            (Step::Stall(Stall::Refused(_)), false) => prop_assert_eq!(platform.machines.len(), 1),
            other => prop_assert!(false, "it ends with {other:?}"),
        }
    }
}
