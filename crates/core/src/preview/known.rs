//! A machine as its status and its declaration show it, for somebody who cannot ask its platform.

use machinist_api::{
    names,
    vitistack::machine::{Machine, MachinePhase},
};

use crate::machine::{DiskFacts, Facts, MachineId, MachineKey, NicFacts, PowerState, Want};

const GIB: u64 = 1 << 30;

/// What is known of the machine at the platform; nothing when it was not made yet.
pub(super) fn facts(machine: &Machine, want: &Want) -> Option<Facts> {
    let status = machine.status.as_ref()?;
    let id = status.machine_id.clone()?;
    let annotations = machine.metadata.annotations.as_ref();
    let cluster = annotations.and_then(|all| all.get(names::CLUSTER_ANNOTATION));
    let uid = machine.metadata.uid.clone().unwrap_or_default();
    Some(Facts {
        id: MachineId::new(id),
        key: MachineKey::new(cluster.cloned().unwrap_or_default(), uid).ok()?,
        provider_id: status.provider_id.clone().unwrap_or_default(),
        power: match (status.phase, want.should_run()) {
            (Some(MachinePhase::Stopped), _) => PowerState::Stopped,
            (Some(MachinePhase::Running), _) | (_, true) => PowerState::Running,
            (_, false) => PowerState::Stopped,
        },
        state: status.state.clone().unwrap_or_default(),
        problem: None,
        node: None,
        instance_type: want.instance_type.clone(),
        cpus: status.cpus.and_then(|cpus| u32::try_from(cpus).ok()),
        memory: status.memory.and_then(|memory| u64::try_from(memory).ok()),
        architecture: None,
        disks: disks(machine, want),
        nics: nics(machine, want),
        tags: want.tags.clone(),
        restart: want.restart.clone(),
        guest: None,
        created: None,
        started: None,
        details: Default::default(),
    })
}

/// A status tells sizes in whole gigabytes; while that fits the declaration, the declaration is
/// the finer measure.
fn disks(machine: &Machine, want: &Want) -> Vec<DiskFacts> {
    let statuses = machine.status.iter().flat_map(|status| &status.disks);
    let boot = want.disks.iter().find(|disk| disk.boot);
    let one = |(index, disk): (usize, &machinist_api::vitistack::machine::DiskStatus)| {
        let declared = want
            .disks
            .iter()
            .find(|declared| declared.name == disk.name);
        let told = disk.size_gb.and_then(|size| u64::try_from(size).ok());
        let declared = declared.and_then(|declared| declared.size);
        DiskFacts {
            name: disk.name.clone(),
            size: match (declared, told) {
                (Some(declared), Some(told)) if declared.div_ceil(GIB) == told => Some(declared),
                (_, told) => told.map(|told| told * GIB),
            },
            boot: boot.map_or(index == 0, |boot| boot.name == disk.name),
            ..DiskFacts::default()
        }
    };
    statuses.enumerate().map(one).collect()
}

fn nics(machine: &Machine, want: &Want) -> Vec<NicFacts> {
    let told = machine
        .status
        .iter()
        .flat_map(|status| &status.network_interfaces);
    let named = |name: String| NicFacts {
        name,
        ..NicFacts::default()
    };
    let told: Vec<NicFacts> = told.map(|nic| named(nic.name.clone())).collect();
    match told.is_empty() {
        true => want
            .nics
            .iter()
            .map(|nic| named(nic.name.clone()))
            .collect(),
        false => told,
    }
}
