//! Bringing devices in and out: into the guest while it runs, and on disk.

use std::{fs, io, path::Path, sync::Arc, time::Duration};

use machinist_core::provider::{ProviderError, ProviderResult};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    command, disk,
    error::io_fault,
    host::Host,
    layout::DirLock,
    network::{self, Interface},
    qmp::{self, Qmp, QmpError},
    record::{AskedDisk, Plug, Record},
};

/// How long a guest may take to let a device go before it is asked again. Being asked is the press
/// of a button, which the guest acts on five seconds later, and a second press takes it back: so it
/// is asked once, and given time.
const UNPLUG: Duration = Duration::from_secs(40);
const PAUSE: Duration = Duration::from_millis(50);

impl Host {
    /// Brings every device that is half-way in or out to its end. The machine's lock must be held.
    pub(super) async fn plug(
        self: &Arc<Host>,
        lock: &DirLock,
        record: &mut Record,
    ) -> ProviderResult<()> {
        if !record.is_unfinished() {
            return Ok(());
        }
        let dir = self.layout.dir(&record.machine);
        let mut qmp = match self.lives(record)? {
            true => Some(
                Qmp::connect(&dir, qmp::COMMANDS)
                    .await
                    .map_err(fault(&record.name))?,
            ),
            false => None,
        };
        for disk in record.asked.disks.clone() {
            match disk.plug {
                Plug::In => continue,
                Plug::Attaching => self.disk_in(&dir, &disk, qmp.as_mut(), lock).await?,
                Plug::Detaching => disk_out(&dir, &disk, qmp.as_mut()).await?,
            }
            settle(
                &mut record.asked.disks,
                disk.plug,
                |d| (d.slot(), &mut d.plug),
                disk.slot(),
            );
            self.save(record)?;
        }
        for nic in record.asked.nics.clone() {
            let Some(qmp) = qmp.as_mut().filter(|_| nic.plug != Plug::In) else {
                settle(
                    &mut record.asked.nics,
                    nic.plug,
                    |n| (n.slot(), &mut n.plug),
                    nic.slot(),
                );
                continue;
            };
            let interface = network::interface(record, &nic, self.config.network)?;
            match nic.plug {
                Plug::In => continue,
                Plug::Attaching => nic_in(qmp, &interface).await,
                Plug::Detaching => nic_out(qmp, &interface).await,
            }
            .map_err(fault(&nic.name))?;
            settle(
                &mut record.asked.nics,
                nic.plug,
                |n| (n.slot(), &mut n.plug),
                nic.slot(),
            );
            self.save(record)?;
        }
        self.save(record)
    }

    async fn disk_in(
        &self,
        dir: &Path,
        disk: &AskedDisk,
        qmp: Option<&mut Qmp>,
        lock: &DirLock,
    ) -> ProviderResult<()> {
        let file = disk::file_name(disk.slot());
        if !dir.join(&file).exists() {
            // Under another name first, so that a file of the right name is whole.
            let unfinished = format!("{file}.new");
            disk::make_one(dir, disk, &unfinished, None, lock).await?;
            let path = dir.join(&file);
            fs::rename(dir.join(&unfinished), &path)
                .map_err(|source| io_fault("name", &path, source))?;
        }
        match qmp {
            Some(qmp) => plug_disk(qmp, disk).await.map_err(fault(&disk.name)),
            None => Ok(()),
        }
    }
}

/// A device that was brought in is in; one that was brought out is no more.
fn settle<T>(devices: &mut Vec<T>, plug: Plug, of: impl Fn(&mut T) -> (u8, &mut Plug), slot: u8) {
    match plug {
        Plug::In => {}
        Plug::Attaching => {
            for device in devices.iter_mut() {
                let (own, plug) = of(device);
                if own == slot {
                    *plug = Plug::In;
                }
            }
        }
        Plug::Detaching => devices.retain_mut(|device| of(device).0 != slot),
    }
}

async fn plug_disk(qmp: &mut Qmp, disk: &AskedDisk) -> Result<(), QmpError> {
    let id = format!("disk{}", disk.slot());
    if !has_node(qmp, &id).await? {
        let node = json!({
            "driver": "qcow2", "node-name": id, "discard": "unmap",
            "file": {"driver": "file", "filename": disk::file_name(disk.slot())},
        });
        qmp.execute("blockdev-add", node).await?;
    }
    let device = json!({
        "driver": "virtio-blk-pci", "id": id, "drive": id, "serial": command::serial(disk),
    });
    add_device(qmp, &id, device).await
}

async fn disk_out(dir: &Path, disk: &AskedDisk, qmp: Option<&mut Qmp>) -> ProviderResult<()> {
    let id = format!("disk{}", disk.slot());
    if let Some(qmp) = qmp {
        let out = async {
            remove_device(qmp, &id).await?;
            match has_node(qmp, &id).await? {
                true => qmp
                    .execute("blockdev-del", json!({"node-name": id}))
                    .await
                    .map(drop),
                false => Ok(()),
            }
        };
        out.await.map_err(fault(&disk.name))?;
    }
    let path = dir.join(disk::file_name(disk.slot()));
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_fault("remove", &path, error))
        }
        _ => Ok(()),
    }
}

async fn nic_in(qmp: &mut Qmp, interface: &Interface) -> Result<(), QmpError> {
    let (id, net) = (
        format!("nic{}", interface.slot),
        format!("net{}", interface.slot),
    );
    if has_device(qmp, &id).await? {
        return Ok(());
    }
    // What an earlier try left would be in the way.
    let _ = qmp.execute("netdev_del", json!({"id": net})).await;
    let back = json!({
        "type": "user", "id": net, "ipv6": false,
        "net": interface.network, "dhcpstart": interface.address.to_string(),
    });
    qmp.execute("netdev_add", back).await?;
    let device = json!({
        "driver": "virtio-net-pci", "id": id, "netdev": net, "mac": interface.mac, "romfile": "",
    });
    add_device(qmp, &id, device).await
}

async fn nic_out(qmp: &mut Qmp, interface: &Interface) -> Result<(), QmpError> {
    remove_device(qmp, &format!("nic{}", interface.slot)).await?;
    let net = format!("net{}", interface.slot);
    // It is gone when an earlier try got this far.
    let _ = qmp.execute("netdev_del", json!({"id": net})).await;
    Ok(())
}

/// Adds a device in the first spare slot that takes it, unless it is there.
async fn add_device(qmp: &mut Qmp, id: &str, mut device: Value) -> Result<(), QmpError> {
    if has_device(qmp, id).await? {
        return Ok(());
    }
    let mut last = None;
    for port in 1..=command::SPARE_PORTS {
        device["bus"] = format!("spare{port}").into();
        match qmp.execute("device_add", device.clone()).await {
            Ok(_) => return Ok(()),
            Err(refused @ QmpError::Refused { .. }) => last = Some(refused),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or(QmpError::Closed))
}

/// Asks the guest to let a device go, and waits a while for it.
async fn remove_device(qmp: &mut Qmp, id: &str) -> Result<(), QmpError> {
    if !has_device(qmp, id).await? {
        return Ok(());
    }
    match qmp.execute("device_del", json!({"id": id})).await {
        // The guest was asked before and has not let go yet.
        Ok(_) | Err(QmpError::Refused { .. }) => {}
        Err(error) => return Err(error),
    }
    let deadline = Instant::now() + UNPLUG;
    while has_device(qmp, id).await? {
        if Instant::now() >= deadline {
            return Err(QmpError::Refused {
                command: "device_del".to_owned(),
                reason: format!("the guest has not let go of {id} yet"),
            });
        }
        sleep(PAUSE).await;
    }
    Ok(())
}

async fn has_device(qmp: &mut Qmp, id: &str) -> Result<bool, QmpError> {
    let all = qmp
        .execute("qom-list", json!({"path": "/machine/peripheral"}))
        .await?;
    let is = |device: &Value| device["name"] == id;
    Ok(all.as_array().is_some_and(|all| all.iter().any(is)))
}

async fn has_node(qmp: &mut Qmp, name: &str) -> Result<bool, QmpError> {
    let all = qmp
        .execute("query-named-block-nodes", json!({"flat": true}))
        .await?;
    let is = |node: &Value| node["node-name"] == name;
    Ok(all.as_array().is_some_and(|all| all.iter().any(is)))
}

/// QEMU may do later what it refuses now: a guest lets go of devices when it has time.
pub(super) fn fault(device: &str) -> impl FnOnce(QmpError) -> ProviderError {
    let device = device.to_owned();
    move |error| match error {
        QmpError::Refused { .. } => ProviderError::Busy {
            reason: format!("{device}: {error}"),
            retry_after: None,
        },
        error => ProviderError::transport(format!("changing {device}"), error),
    }
}
