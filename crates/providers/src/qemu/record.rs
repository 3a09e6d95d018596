//! The machine's tag on disk: whose it is, what was asked for, and what is under way.
//!
//! It holds no first-boot data: that may carry secrets and lives in the seed alone.

use std::{fs, io, path::Path};

use jiff::Timestamp;
use machinist_core::machine::{Firmware, MachineKey, Want};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::config::Accelerator;
use crate::shared::files;

/// Name of the record's file in a machine's directory.
pub(super) const FILE: &str = "machine.json";
const VERSION: u32 = 1;

/// Why a record cannot be read.
#[derive(Debug, Error)]
pub(super) enum RecordError {
    /// It is not there or not readable.
    #[error("cannot read it")]
    Io(#[from] io::Error),
    /// It is damaged.
    #[error("it is not a machine record")]
    Form(#[from] serde_json::Error),
    /// It was written by a newer version.
    #[error("it has version {0}, and this program knows versions up to {VERSION}")]
    Newer(u32),
    /// The UIDs in it could not stand in a key.
    #[error(transparent)]
    Key(#[from] machinist_core::machine::KeyError),
}

/// One machine as this host keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub version: u32,
    pub cluster: String,
    pub machine: String,
    pub name: String,
    pub namespace: String,
    /// Identity of the running process: it stands in QEMU's command line.
    pub uuid: String,
    /// This machine's number among those below the same root; its addresses follow from it.
    pub index: u32,
    /// Loopback port that leads to the guest's port 22.
    pub ssh_port: Option<u16>,
    /// Cache entry that the boot disk is made from.
    pub image: Option<String>,
    pub asked: Asked,
    pub created: String,
    pub started: Option<String>,
    /// What the guest was last started on.
    pub accelerator: Option<Accelerator>,
    /// Whether every disk is made; until then nothing was ever started.
    pub made: bool,
    /// What is under way and must be brought to its end by whoever looks next.
    pub pending: Option<Pending>,
    /// The token of the restart that was last asked for.
    #[serde(default)]
    pub restart: Option<String>,
}

/// What was asked for, as far as a later start needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked {
    pub sockets: u32,
    pub cores: u32,
    pub threads: u32,
    /// Bytes.
    pub memory: u64,
    pub disks: Vec<AskedDisk>,
    pub nics: Vec<AskedNic>,
    pub uefi: bool,
    pub secure_boot: bool,
    pub seed: bool,
    pub tags: std::collections::BTreeMap<String, String>,
}

/// One disk that was asked for; its file and its devices are named by its slot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AskedDisk {
    /// A record of an older version has none; then its place in the list is its slot.
    #[serde(default)]
    pub slot: Option<u8>,
    #[serde(default)]
    pub plug: Plug,
    pub name: String,
    /// Bytes; absent for the image's own size.
    pub size: Option<u64>,
    pub boot: bool,
}

/// One interface that was asked for, with what was chosen for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AskedNic {
    /// As of a disk; its network and its address follow from it.
    #[serde(default)]
    pub slot: Option<u8>,
    #[serde(default)]
    pub plug: Plug,
    pub name: String,
    pub network: Option<String>,
    pub mac: Option<String>,
    pub address: Option<std::net::Ipv4Addr>,
}

/// How far a device is. What is under way is brought to its end by whoever looks next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Plug {
    #[default]
    In,
    Attaching,
    Detaching,
}

/// Something that was asked for and is not done yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pending {
    pub goal: Goal,
    /// When the guest's time is up, in milliseconds since 1970.
    pub deadline: i64,
}

/// What comes after the guest is down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Goal {
    Stop,
    Restart,
    Delete,
}

impl Record {
    pub(super) fn new(key: &MachineKey, want: &Want, image: Option<String>) -> Record {
        Record {
            version: VERSION,
            cluster: key.cluster().to_owned(),
            machine: key.machine().to_owned(),
            name: want.name.clone(),
            namespace: want.namespace.clone(),
            uuid: uuid_of(key),
            index: 0,
            ssh_port: None,
            image,
            asked: Asked::new(want),
            created: Timestamp::now().to_string(),
            started: None,
            accelerator: None,
            made: false,
            pending: None,
            restart: want.restart.clone(),
        }
    }

    /// Whether a device is half-way in or out.
    pub(super) fn is_unfinished(&self) -> bool {
        let disks = self.asked.disks.iter().map(|disk| disk.plug);
        let nics = self.asked.nics.iter().map(|nic| nic.plug);
        disks.chain(nics).any(|plug| plug != Plug::In)
    }

    pub(super) fn load(dir: &Path) -> Result<Record, RecordError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let bytes = fs::read(dir.join(FILE))?;
        let Version { version } = serde_json::from_slice(&bytes)?;
        if version > VERSION {
            return Err(RecordError::Newer(version));
        }
        let mut record: Record = serde_json::from_slice(&bytes)?;
        record.asked.number();
        record.key()?;
        Ok(record)
    }

    pub(super) fn save(&self, dir: &Path) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(self)?;
        files::write_atomically(&dir.join(FILE), &bytes)
    }

    pub(super) fn key(&self) -> Result<MachineKey, machinist_core::machine::KeyError> {
        MachineKey::new(self.cluster.clone(), self.machine.clone())
    }

    pub(super) fn is_of(&self, key: &MachineKey) -> bool {
        self.cluster == key.cluster() && self.machine == key.machine()
    }
}

impl Asked {
    /// Gives every device a slot that it keeps for good.
    fn number(&mut self) {
        for (disk, place) in self.disks.iter_mut().zip(0..) {
            disk.slot.get_or_insert(place);
        }
        for (nic, place) in self.nics.iter_mut().zip(0..) {
            nic.slot.get_or_insert(place);
        }
    }

    fn new(want: &Want) -> Asked {
        let uefi = matches!(want.firmware, Firmware::Uefi { .. });
        let mut disks: Vec<AskedDisk> = want.disks.iter().map(AskedDisk::new).collect();
        // An image needs a disk to be on, even when none was declared.
        if disks.is_empty() && want.image.is_some() {
            disks.push(AskedDisk {
                slot: None,
                plug: Plug::In,
                name: "boot".to_owned(),
                size: None,
                boot: true,
            });
        }
        if let Some(first) = disks.first_mut() {
            first.boot = true;
        }
        let mut nics: Vec<AskedNic> = want.nics.iter().map(AskedNic::new).collect();
        if nics.is_empty() {
            nics.push(AskedNic {
                slot: None,
                plug: Plug::In,
                name: "default".to_owned(),
                network: None,
                mac: None,
                address: None,
            });
        }
        let mut asked = Asked {
            sockets: want.cpu.sockets,
            cores: want.cpu.cores,
            threads: want.cpu.threads,
            memory: want.memory,
            disks,
            nics,
            uefi,
            secure_boot: want.firmware == Firmware::Uefi { secure_boot: true },
            seed: want.init.format.is_some(),
            tags: want.tags.clone(),
        };
        asked.number();
        asked
    }
}

impl AskedDisk {
    pub(super) fn slot(&self) -> u8 {
        self.slot.unwrap_or_default()
    }

    pub(super) fn new(disk: &machinist_core::machine::Disk) -> AskedDisk {
        AskedDisk {
            slot: None,
            plug: Plug::In,
            name: disk.name.clone(),
            size: disk.size,
            boot: disk.boot,
        }
    }
}

impl AskedNic {
    pub(super) fn slot(&self) -> u8 {
        self.slot.unwrap_or_default()
    }

    pub(super) fn new(nic: &machinist_core::machine::Nic) -> AskedNic {
        AskedNic {
            slot: None,
            plug: Plug::In,
            name: nic.name.clone(),
            network: nic.network.clone(),
            mac: nic.mac.clone(),
            address: nic.address.as_deref().and_then(|text| text.parse().ok()),
        }
    }
}

/// The machine's UID where it is a UUID, else one made of the key.
fn uuid_of(key: &MachineKey) -> String {
    use sha2::{Digest, Sha256};
    if let Ok(uuid) = uuid::Uuid::try_parse(key.machine()) {
        return uuid.hyphenated().to_string();
    }
    let digest = Sha256::digest(key.to_string().as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .hyphenated()
        .to_string()
}
