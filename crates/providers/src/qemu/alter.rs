//! Changing what a machine consists of: size, disks, interfaces, tags.
//!
//! A device is written into the record before anything is done for it, so that whoever looks
//! next brings it to its end; see [`super::plug`].

use std::sync::Arc;

use machinist_core::provider::{Change, ProviderError, ProviderResult};
use serde_json::json;

use super::{
    disk,
    host::Host,
    layout::DirLock,
    network, plug,
    qmp::{self, Qmp},
    record::{AskedDisk, AskedNic, Plug, Record},
    validate,
};

/// Slots of interfaces: each has a network of its own.
const NIC_SLOTS: u8 = 8;

impl Host {
    /// Carries out a change that is not about power. The machine's lock must be held.
    pub(super) async fn alter(
        self: &Arc<Host>,
        lock: &DirLock,
        mut record: Record,
        change: &Change,
        lives: bool,
    ) -> ProviderResult<()> {
        match change {
            Change::Resize(_) if lives => return Err(not_now("its size")),
            Change::Resize(size) => {
                validate::size(size.cpu.count(), size.memory, &self.config)?;
                let asked = &mut record.asked;
                asked.sockets = size.cpu.sockets;
                asked.cores = size.cpu.cores;
                asked.threads = size.cpu.threads;
                asked.memory = size.memory;
                self.save(&record)?;
            }
            Change::AttachDisk(wanted) => {
                if record.asked.disks.iter().all(|has| has.name != wanted.name) {
                    let asked = AskedDisk {
                        slot: Some(free_slot(&record)?),
                        plug: Plug::Attaching,
                        boot: false,
                        ..AskedDisk::new(wanted)
                    };
                    check(&asked, wanted.encrypted)?;
                    record.asked.disks.push(asked);
                    self.save(&record)?;
                }
                self.plug(lock, &mut record).await?;
            }
            Change::DetachDisk(name) => {
                let disks = record.asked.disks.iter_mut();
                disks
                    .filter(|disk| disk.name == *name && !disk.boot)
                    .for_each(|disk| disk.plug = Plug::Detaching);
                self.save(&record)?;
                self.plug(lock, &mut record).await?;
            }
            Change::GrowDisk { name, size } => {
                self.grow(lock, &mut record, name, *size, lives).await?;
            }
            Change::AttachNic(wanted) => {
                if record.asked.nics.iter().all(|has| has.name != wanted.name) {
                    let taken = |slot: &u8| record.asked.nics.iter().all(|n| n.slot() != *slot);
                    let slot = (0..NIC_SLOTS)
                        .find(taken)
                        .ok_or_else(|| too_many("nics", 8))?;
                    let asked = AskedNic {
                        slot: Some(slot),
                        plug: Plug::Attaching,
                        ..AskedNic::new(wanted)
                    };
                    network::interface(&record, &asked, self.config.network)?;
                    record.asked.nics.push(asked);
                    self.save(&record)?;
                }
                self.plug(lock, &mut record).await?;
            }
            Change::DetachNic(name) => {
                let nics = record.asked.nics.iter_mut();
                nics.filter(|nic| nic.name == *name)
                    .for_each(|nic| nic.plug = Plug::Detaching);
                self.save(&record)?;
                self.plug(lock, &mut record).await?;
            }
            Change::Tags(tags) => {
                record.asked.tags = tags.clone();
                self.save(&record)?;
            }
            Change::Start | Change::Stop { .. } | Change::Restart { .. } => {}
        }
        self.hint(&record);
        Ok(())
    }

    async fn grow(
        &self,
        lock: &DirLock,
        record: &mut Record,
        name: &str,
        size: u64,
        lives: bool,
    ) -> ProviderResult<()> {
        let dir = self.layout.dir(&record.machine);
        let Some(asked) = record.asked.disks.iter_mut().find(|d| d.name == name) else {
            return Err(ProviderError::NotFound {
                what: format!("disk {name}"),
            });
        };
        match lives {
            true => {
                let grown = async {
                    let mut qmp = Qmp::connect(&dir, qmp::COMMANDS).await?;
                    let node = format!("disk{}", asked.slot());
                    let size = size.next_multiple_of(disk::UNIT);
                    let arguments = json!({"node-name": node, "size": size});
                    qmp.execute("block_resize", arguments).await
                };
                grown.await.map_err(plug::fault(name))?;
            }
            false => disk::grow(&dir, asked, size, lock).await?,
        }
        asked.size = Some(size);
        self.save(record)
    }
}

fn check(disk: &AskedDisk, encrypted: bool) -> ProviderResult<()> {
    let rejected = |field, reason: &str| {
        Err(ProviderError::Rejected {
            field,
            value: disk.name.clone(),
            reason: reason.to_owned(),
        })
    };
    match (disk.size, encrypted) {
        (_, true) => rejected("disks.encrypted", "this provider does not encrypt disks"),
        (None | Some(0), false) => rejected("disks.size", "an empty disk needs a size"),
        (Some(_), false) => Ok(()),
    }
}

fn free_slot(record: &Record) -> ProviderResult<u8> {
    let most = u8::try_from(validate::MOST_DISKS).unwrap_or(u8::MAX);
    let is_free = |slot: &u8| record.asked.disks.iter().all(|disk| disk.slot() != *slot);
    (0..most)
        .find(is_free)
        .ok_or_else(|| too_many("disks", validate::MOST_DISKS))
}

fn too_many(field: &'static str, most: usize) -> ProviderError {
    ProviderError::Rejected {
        field,
        value: (most + 1).to_string(),
        reason: format!("a machine has at most {most} here"),
    }
}

fn not_now(what: &str) -> ProviderError {
    ProviderError::Busy {
        reason: format!("{what} can be changed only while the machine is stopped"),
        retry_after: None,
    }
}
