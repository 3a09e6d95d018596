//! From what was observed to a Machine's status, in the words of both documented shapes.

use std::{collections::BTreeMap, net::IpAddr};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition as ApiCondition, Time};
use machinist_api::{
    conditions as types, names,
    vitistack::machine::{
        DiskStatus, Machine, MachineAddresses, MachinePhase, MachineStatus, NetworkInterfaceStatus,
        NetworkStatus,
    },
};

use super::{conditions::stamp, defaults};
use crate::machine::{
    Architecture, Condition, Facts, NicFacts, Outlook, Phase, PowerState, Seen, Step, Truth,
};

const GIB: u64 = 1 << 30;
const USED_STEP: u64 = 64 << 20;

/// The times that a status carries; passed in, because the brain has no clock.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Now.
    pub now: Timestamp,
}

/// The status of a machine, all of it: server-side apply removes what is left out.
///
/// What was known stays while the platform cannot be seen: unknown is not absent.
pub fn raise(
    machine: &Machine,
    outlook: &Outlook<'_>,
    provider: Option<&str>,
    times: Times,
) -> MachineStatus {
    let previous = machine.status.as_ref();
    let conditions = conditions(machine, outlook, previous, times.now);
    let mut status = match (outlook.machine(), previous) {
        (Some(facts), _) => from_facts(facts),
        (None, Some(previous)) if matches!(outlook.situation.seen, Seen::Unknown) => {
            previous.clone()
        }
        (None, previous) => MachineStatus {
            machine_id: last_known_id(outlook, previous),
            ..MachineStatus::default()
        },
    };
    status.observed_generation = machine.metadata.generation;
    // A machine that cannot be seen just now is still in the phase that it was last seen in.
    let last_seen = previous.and_then(|previous| previous.phase);
    status.phase = match outlook.is_out_of_sight() {
        true => last_seen.or(Some(phase(outlook.phase()))),
        false => Some(phase(outlook.phase())),
    };
    status.message = Some(outlook.message());
    status.conditions = conditions;
    status.provider = provider.map(str::to_owned);
    let config = machine.spec.provider_config.as_ref();
    status.region = config.and_then(|config| config.region.clone());
    status.zone = config.and_then(|config| config.zone.clone());
    // A time that moves without cause would make every pass a write.
    status.last_updated = None;
    let unchanged = previous.is_some_and(|previous| {
        let mut previous = previous.clone();
        previous.last_updated = None;
        previous == status
    });
    status.last_updated = match (unchanged, previous) {
        (true, Some(previous)) => previous.last_updated.clone(),
        _ => Some(Time(times.now)),
    };
    status
}

/// The id of a machine that is not to be seen. It stays, because a read by it proves that the
/// machine is gone; but not beyond the next create, whose machine it would say nothing about.
fn last_known_id(outlook: &Outlook<'_>, previous: Option<&MachineStatus>) -> Option<String> {
    match outlook.step {
        Step::Create | Step::Reclaim => None,
        _ => previous.and_then(|previous| previous.machine_id.clone()),
    }
}

fn phase(phase: Phase) -> MachinePhase {
    match phase {
        Phase::Pending => MachinePhase::Pending,
        Phase::Creating => MachinePhase::Creating,
        Phase::Running => MachinePhase::Running,
        Phase::Stopping => MachinePhase::Stopping,
        Phase::Stopped => MachinePhase::Stopped,
        Phase::Terminating => MachinePhase::Terminating,
        Phase::Terminated => MachinePhase::Terminated,
        Phase::Failed => MachinePhase::Failed,
    }
}

fn conditions(
    machine: &Machine,
    outlook: &Outlook<'_>,
    previous: Option<&MachineStatus>,
    now: Timestamp,
) -> Vec<ApiCondition> {
    let mut all = outlook.conditions();
    all.push(drain(outlook));
    all.push(backup(machine));
    all.extend(placed(machine, outlook));
    all.extend(outlook.situation.want.and_then(defaults::condition));
    let before = previous
        .map(|status| status.conditions.as_slice())
        .unwrap_or_default();
    stamp(all, before, machine.metadata.generation, now)
}

fn drain(outlook: &Outlook<'_>) -> Condition {
    let (status, reason, message) = match outlook.machine().map(|machine| machine.power) {
        Some(PowerState::Running) => (
            Truth::True,
            "NothingToDrain",
            "No workload holds the machine.",
        ),
        None if outlook.is_out_of_sight() => {
            (Truth::Unknown, "NotSeen", "The provider does not answer.")
        }
        _ => (Truth::False, "NotRunning", "The machine is not running."),
    };
    Condition::new(types::DRAIN_READY, status, reason, message)
}

/// Only where a provider is chosen, or none could be.
fn placed(machine: &Machine, outlook: &Outlook<'_>) -> Option<Condition> {
    let annotations = machine.metadata.annotations.as_ref();
    let note = annotations.and_then(|all| all.get(names::PLACEMENT_ANNOTATION));
    let (status, reason, message) = match (outlook.situation.bound, note, outlook.trouble) {
        (true, Some(note), _) => (Truth::True, "Chosen", note.clone()),
        (true, None, _) | (false, _, None) => return None,
        (false, _, Some(trouble)) => (
            Truth::False,
            trouble.reason.as_str(),
            trouble.message.clone(),
        ),
    };
    Some(Condition::new(types::PLACED, status, reason, message))
}

fn backup(machine: &Machine) -> Condition {
    let wanted = machine
        .spec
        .backup
        .as_ref()
        .and_then(|backup| backup.enabled);
    let (reason, message) = match wanted.unwrap_or(false) {
        true => ("NotSupported", "The provider cannot back machines up yet."),
        false => ("NotRequested", "spec.backup.enabled is not set."),
    };
    Condition::new(types::BACKUP_READY, Truth::False, reason, message)
}

fn from_facts(facts: &Facts) -> MachineStatus {
    let private: Vec<String> = facts
        .nics
        .iter()
        .flat_map(|nic| nic.private.clone())
        .collect();
    let public: Vec<String> = facts
        .nics
        .iter()
        .flat_map(|nic| nic.public.clone())
        .collect();
    let all: Vec<String> = private.iter().chain(&public).cloned().collect();
    let is_v6 = |address: &&String| matches!(address.parse(), Ok(IpAddr::V6(_)));
    let interfaces: Vec<NetworkInterfaceStatus> = facts
        .nics
        .iter()
        .enumerate()
        .map(|(index, nic)| interface(nic, index == 0))
        .collect();
    let guest = facts.guest.clone().unwrap_or_default();
    MachineStatus {
        provider_id: Some(facts.provider_id.clone()),
        machine_id: Some(facts.id.to_string()),
        state: Some(facts.state.clone()),
        ipv6_addresses: all.iter().filter(is_v6).cloned().collect(),
        ip_addresses: all,
        addresses: Some(MachineAddresses {
            internal: private.clone(),
            external: public.clone(),
        }),
        private_ip_addresses: private,
        public_ip_addresses: public,
        network_status: Some(NetworkStatus {
            interfaces: interfaces.clone(),
        }),
        network_interfaces: interfaces,
        cpus: facts.cpus.and_then(|cpus| i32::try_from(cpus).ok()),
        memory: facts.memory.and_then(|memory| i64::try_from(memory).ok()),
        architecture: facts.architecture.map(|architecture| match architecture {
            Architecture::Amd64 => "amd64".into(),
            Architecture::Arm64 => "arm64".into(),
        }),
        disks: disks(facts),
        hostname: guest.hostname,
        operating_system: guest.os,
        operating_system_version: guest.os_version,
        kernel_version: guest.kernel,
        boot_time: facts.started.map(seconds),
        creation_time: facts.created.map(seconds),
        provider_status: provider_status(facts),
        ..MachineStatus::default()
    }
}

/// A time as an object keeps it: whole seconds. A fraction would be new to every look.
fn seconds(time: Timestamp) -> Time {
    Time(Timestamp::from_second(time.as_second()).unwrap_or(time))
}

fn interface(nic: &NicFacts, primary: bool) -> NetworkInterfaceStatus {
    NetworkInterfaceStatus {
        name: nic.name.clone(),
        mac_address: nic.mac.clone(),
        ip_addresses: nic.private.iter().chain(&nic.public).cloned().collect(),
        network: nic.network.clone(),
        primary: Some(primary),
        state: Some(if nic.confirmed { "Up" } else { "Assigned" }.into()),
        ..NetworkInterfaceStatus::default()
    }
}

fn disks(facts: &Facts) -> Vec<DiskStatus> {
    let number = |value: u64| i64::try_from(value).ok();
    facts
        .disks
        .iter()
        .map(|disk| DiskStatus {
            name: disk.name.clone(),
            device: disk.device.clone(),
            size_gb: disk.size.and_then(|size| number(size.div_ceil(GIB))),
            // In steps: a figure that moves with every block would make every look a write.
            used_bytes: disk
                .used
                .and_then(|used| number(used.next_multiple_of(USED_STEP))),
            type_: disk.class.clone(),
            state: Some("Attached".into()),
            ..DiskStatus::default()
        })
        .collect()
}

fn provider_status(facts: &Facts) -> BTreeMap<String, serde_json::Value> {
    let node = facts
        .node
        .iter()
        .map(|node| ("node".to_owned(), node.clone()));
    facts
        .details
        .clone()
        .into_iter()
        .chain(node)
        .map(|(key, value)| (key, serde_json::Value::String(value)))
        .collect()
}
