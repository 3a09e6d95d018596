//! What EC2 shows, in the contract's terms.

use std::collections::BTreeMap;

use jiff::Timestamp;
use machinist_core::machine::{
    Architecture, DiskFacts, Facts, MachineId, MachineKey, NicFacts, PowerState,
};

use super::{
    model::{Instance, State, Volume},
    tags::{self, DISK, DISKS, KEY, LEAVING, NICS, RESTART, RESTARTED},
};

/// The first device of a disk besides the boot disk; EC2 recommends sdf to sdp.
const FIRST: u8 = b'f';
/// How many disks there may be besides the boot disk.
pub(super) const MOST_DISKS: usize = 11;

/// Processors and memory in bytes of an instance type.
pub(super) type Size = (u32, u64);

/// The device of the disk that is at this place besides the boot disk.
pub(super) fn device(place: usize) -> Option<String> {
    let letter = u8::try_from(place).ok()?.checked_add(FIRST)?;
    (place < MOST_DISKS).then(|| format!("/dev/sd{}", char::from(letter)))
}

/// One live instance with the volumes that carry the same key.
pub(super) fn of_instance(
    key: &MachineKey,
    instance: &Instance,
    volumes: &[&Volume],
    size: Option<Size>,
) -> Facts {
    let zone = instance.zone.clone();
    let nics = instance.nics.iter().filter_map(|nic| nic.attached);
    let disks = instance
        .mappings
        .iter()
        .filter_map(|mapping| mapping.attached);
    // The launch time moves with each start; what was attached first came with the instance.
    let created = nics.chain(disks).chain(instance.launched).min();
    let restarted = instance.tags.get(RESTARTED);
    let restarted = restarted.and_then(|time| time.parse::<Timestamp>().ok());
    let (power, problem) = power(instance);
    Facts {
        id: MachineId::new(&instance.id),
        key: key.clone(),
        provider_id: provider_id(zone.as_deref(), &instance.id),
        power,
        state: instance.state_name.clone(),
        problem,
        node: zone,
        instance_type: instance.kind.clone(),
        cpus: size.map(|(cpus, _)| cpus),
        memory: size.map(|(_, memory)| memory),
        architecture: match instance.architecture.as_deref() {
            Some("x86_64" | "x86_64_mac") => Some(Architecture::Amd64),
            Some("arm64" | "arm64_mac") => Some(Architecture::Arm64),
            _ => None,
        },
        disks: disk_facts(instance, volumes),
        nics: nic_facts(instance),
        tags: tags::requested(&instance.tags),
        restart: instance.tags.get(RESTART).cloned(),
        guest: None,
        created,
        started: instance.launched.max(restarted),
        details: instance
            .image
            .iter()
            .map(|image| ("imageID".to_owned(), image.clone()))
            .collect(),
    }
}

/// What is left of a machine whose instance is no more: volumes that carry its key.
pub(super) fn of_remains(
    key: &MachineKey,
    instance: Option<&Instance>,
    volumes: &[&Volume],
) -> Option<Facts> {
    let first = volumes.first()?;
    let id = instance.map_or(&first.id, |instance| &instance.id);
    let zone = instance.and_then(|instance| instance.zone.clone());
    let names: Vec<&str> = volumes.iter().map(|volume| volume.id.as_str()).collect();
    Some(Facts {
        id: MachineId::new(id),
        key: key.clone(),
        provider_id: provider_id(zone.as_deref(), id),
        power: PowerState::Failed,
        state: "terminated".to_owned(),
        problem: Some(format!(
            "The instance was terminated, and volumes are left: {}. Delete them if nothing on them is needed, and the machine is made anew.",
            names.join(", ")
        )),
        node: zone,
        instance_type: None,
        cpus: None,
        memory: None,
        architecture: None,
        disks: volumes.iter().map(|volume| loose(volume)).collect(),
        nics: Vec::new(),
        tags: BTreeMap::new(),
        restart: None,
        guest: None,
        created: None,
        started: None,
        details: BTreeMap::new(),
    })
}

/// Whose something is, by its tags.
pub(super) fn key_of(tags: &tags::Tags) -> Option<MachineKey> {
    tags.get(KEY)?.parse().ok()
}

/// The name of the disk that a volume is on an instance.
pub(super) fn disk_name(instance: &Instance, volume: &Volume) -> Option<String> {
    if let Some(name) = volume.tags.get(DISK) {
        return Some(name.clone());
    }
    let (_, device) = volume.attached.as_ref()?;
    born_as(instance, device)
}

/// The name of the disk that an instance was made with at this device.
fn born_as(instance: &Instance, at: &str) -> Option<String> {
    let names = tags::listed(&instance.tags, DISKS);
    let (boot, rest) = names.split_first()?;
    if instance.root.as_deref() == Some(at) {
        return Some((*boot).to_owned());
    }
    let mut places = rest.iter().enumerate();
    let name = places.find(|(place, _)| device(*place).as_deref() == Some(at));
    name.map(|(_, name)| (*name).to_owned())
}

fn disk_facts(instance: &Instance, volumes: &[&Volume]) -> Vec<DiskFacts> {
    let mut disks = Vec::new();
    for mapping in &instance.mappings {
        let volume = volumes.iter().find(|volume| volume.id == mapping.volume);
        let name = match volume {
            Some(volume) => volume.tags.get(DISK).cloned(),
            None => None,
        };
        // A volume that is not among ours is another's, unless it was made with the instance and
        // the search for volumes is behind the times.
        if let Some(name) = name.or_else(|| born_as(instance, &mapping.device)) {
            disks.push(DiskFacts {
                name,
                device: Some(mapping.volume.clone()),
                size: volume.and_then(|volume| volume.size),
                used: None,
                class: volume.and_then(|volume| volume.class.clone()),
                boot: instance.root.as_ref() == Some(&mapping.device),
            });
        }
    }
    disks.sort_by_key(|disk| !disk.boot);
    // Whatever else carries the key came of a change that was cut short.
    let mapped = |volume: &&&Volume| {
        instance
            .mappings
            .iter()
            .all(|mapping| mapping.volume != volume.id)
    };
    disks.extend(volumes.iter().filter(mapped).map(|volume| loose(volume)));
    disks
}

/// A volume that is on its way to or from an instance, by its id: no declared disk is called so.
fn loose(volume: &Volume) -> DiskFacts {
    DiskFacts {
        name: volume.id.clone(),
        device: Some(volume.id.clone()),
        size: volume.size,
        class: volume.class.clone(),
        ..DiskFacts::default()
    }
}

/// Whether a volume is to go.
pub(super) fn is_leaving(volume: &Volume) -> bool {
    volume.tags.get(LEAVING).is_some_and(|id| *id == volume.id)
}

fn nic_facts(instance: &Instance) -> Vec<NicFacts> {
    let names = tags::listed(&instance.tags, NICS);
    let mut nics: Vec<_> = instance.nics.iter().collect();
    nics.sort_by_key(|nic| nic.place);
    let name = |place: usize| match names.get(place) {
        Some(name) => (*name).to_owned(),
        None => format!("eth{place}"),
    };
    nics.into_iter()
        .map(|nic| NicFacts {
            name: name(nic.place),
            mac: nic.mac.clone(),
            network: nic.subnet.clone(),
            private: nic.private.clone(),
            public: nic.public.clone(),
            // EC2 hands out addresses itself, and no guest is asked.
            confirmed: instance.state == State::Running,
        })
        .collect()
}

fn power(instance: &Instance) -> (PowerState, Option<String>) {
    match instance.state {
        State::Pending => (PowerState::Creating, None),
        State::Running => (PowerState::Running, None),
        State::Stopping => (PowerState::Stopping, None),
        State::Stopped => (PowerState::Stopped, None),
        State::ShuttingDown | State::Terminated => (PowerState::Deleting, instance.reason.clone()),
        State::Other => (
            PowerState::Failed,
            Some(format!("EC2 calls its state {}", instance.state_name)),
        ),
    }
}

fn provider_id(zone: Option<&str>, id: &str) -> String {
    format!("aws:///{}/{id}", zone.unwrap_or_default())
}
