//! Disks of an instance that exists: volumes that come, grow and go.
//!
//! A volume carries the machine's key and the disk's name from its first moment, so that one whose
//! attachment was cut short is found again. One that is to go is marked first, on itself and on its
//! instance: it is never taken for the next disk of its name, and that one gets another token.

use machinist_core::{
    machine::{Disk, MachineKey},
    provider::{ProviderError, ProviderResult},
};

use super::{
    Aws,
    create::token,
    facts::{self, disk_name, is_leaving},
    launch,
    model::{Instance, State, Volume},
    tags::{self, DISK, LEAVING, Tags},
    wire::{AwsError, Meaning, Query, busy},
};

const GIB: u64 = 1 << 30;

impl Aws {
    pub(super) async fn attach(
        &self,
        key: &MachineKey,
        instance: &Instance,
        disk: &Disk,
    ) -> ProviderResult<()> {
        settled(instance)?;
        let volumes = self.volumes_of(key).await?;
        let of_name = |volume: &&Volume| {
            !is_leaving(volume) && disk_name(instance, volume).as_ref() == Some(&disk.name)
        };
        let named: Vec<&Volume> = volumes.iter().filter(of_name).collect();
        if named.iter().any(|volume| volume.is_on(&instance.id)) {
            return Ok(());
        }
        let id = match named.first() {
            Some(volume) => volume.id.clone(),
            None => self.make_volume(key, instance, disk).await?,
        };
        let device = free_device(instance, &volumes).ok_or_else(|| ProviderError::Rejected {
            field: "disks",
            value: disk.name.clone(),
            reason: format!(
                "at most {} disks fit beside the boot disk",
                facts::MOST_DISKS
            ),
        })?;
        let query = Query::new("AttachVolume")
            .with("VolumeId", id)
            .with("InstanceId", &instance.id)
            .with("Device", device);
        match self.client.call(&query).await {
            Ok(_) => Ok(()),
            // A volume that was just made may not show yet, which is no reason to give it up.
            Err(error) if error.meaning() == Some(Meaning::Absent) => {
                Err(busy("EC2 does not show the new volume yet", None))
            }
            Err(error) => Err(error.plainly()),
        }
    }

    async fn make_volume(
        &self,
        key: &MachineKey,
        instance: &Instance,
        disk: &Disk,
    ) -> ProviderResult<String> {
        let refuse = |reason: &str| ProviderError::Rejected {
            field: "disks",
            value: disk.name.clone(),
            reason: reason.to_owned(),
        };
        if disk.size.is_none() {
            return Err(refuse("a disk without an image needs a size"));
        }
        if disk.name.contains(',') || disk.name.starts_with("vol-") {
            return Err(refuse("its name may hold no comma and not begin with vol-"));
        }
        let mut tags = tags::of_owner(key);
        tags.insert(DISK.to_owned(), disk.name.clone());
        let left = instance.tags.get(LEAVING).map(String::as_str);
        let seed = format!("{} {} {}", instance.id, disk.name, left.unwrap_or_default());
        let query = Query::new("CreateVolume")
            .maybe("AvailabilityZone", instance.zone.as_deref())
            .with("ClientToken", token(key, Some(&seed)))
            .with("TagSpecification.1.ResourceType", "volume")
            .tags("TagSpecification.1.Tag", &tags);
        let query = launch::volume(query, "", "Size", disk);
        let answer = self.client.call(&query).await;
        let answer = answer.map_err(|error| error.told(|_| ("disks", disk.name.clone())))?;
        let id = answer.text(&["volumeId"]).map(str::to_owned);
        id.ok_or_else(|| {
            let (action, missing) = ("CreateVolume", "volume's id");
            AwsError::Incomplete { action, missing }.plainly()
        })
    }

    pub(super) async fn detach(
        &self,
        key: &MachineKey,
        instance: &Instance,
        name: &str,
    ) -> ProviderResult<()> {
        settled(instance)?;
        let volumes = self.volumes_of(key).await?;
        let meant = |volume: &&Volume| {
            volume.id == name
                || disk_name(instance, volume).is_some_and(|of| of == name)
                    && (volume.is_on(&instance.id) || is_leaving(volume))
        };
        let boot = instance.root.as_deref();
        for volume in volumes.iter().filter(meant) {
            if volume
                .attached
                .as_ref()
                .is_some_and(|(_, device)| Some(device.as_str()) == boot)
            {
                return Err(ProviderError::Unsupported {
                    what: format!("detaching {name}, which the machine boots from"),
                });
            }
            self.discard(instance, volume).await?;
        }
        Ok(())
    }

    async fn discard(&self, instance: &Instance, volume: &Volume) -> ProviderResult<()> {
        if !is_leaving(volume) {
            let mark = Tags::from([(LEAVING.to_owned(), volume.id.clone())]);
            self.tag(&[&volume.id, &instance.id], &mark).await?;
        }
        if volume.is_on(&instance.id) {
            let query = Query::new("DetachVolume").with("VolumeId", &volume.id);
            self.ask(query.with("InstanceId", &instance.id)).await?;
        }
        self.delete_volume(&volume.id).await
    }

    /// Removes a volume; one that is gone is as good as removed.
    pub(super) async fn delete_volume(&self, id: &str) -> ProviderResult<()> {
        match self
            .ask(Query::new("DeleteVolume").with("VolumeId", id))
            .await
        {
            Ok(()) | Err(ProviderError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn grow(
        &self,
        key: &MachineKey,
        instance: &Instance,
        name: &str,
        size: u64,
    ) -> ProviderResult<()> {
        let volumes = self.volumes_of(key).await?;
        let meant = |volume: &&Volume| {
            volume.is_on(&instance.id) && disk_name(instance, volume).is_some_and(|of| of == name)
        };
        let volume = volumes
            .iter()
            .find(meant)
            .ok_or_else(|| ProviderError::NotFound {
                what: format!("disk {name} of {}", instance.id),
            })?;
        if volume.size.is_some_and(|has| has >= size) {
            return Ok(());
        }
        let query = Query::new("ModifyVolume")
            .with("VolumeId", &volume.id)
            .with("Size", size.div_ceil(GIB).to_string());
        let answer = self.client.call(&query).await;
        let answer = answer.map_err(|error| error.told(|_| ("disks", name.to_owned())));
        answer.map(drop)
    }

    async fn volumes_of(&self, key: &MachineKey) -> ProviderResult<Vec<Volume>> {
        let volumes = self.volumes(tags::KEY, &[&key.to_string()]).await;
        volumes.map_err(AwsError::plainly)
    }
}

/// Volumes come and go only while an instance rests in a state.
fn settled(instance: &Instance) -> ProviderResult<()> {
    match instance.state {
        State::Running | State::Stopped => Ok(()),
        _ => Err(busy(
            format!("the instance is {}", instance.state_name),
            None,
        )),
    }
}

/// A device that nothing is on, past those of the disks that the instance was made with.
fn free_device(instance: &Instance, volumes: &[Volume]) -> Option<String> {
    let born = tags::listed(&instance.tags, tags::DISKS)
        .len()
        .saturating_sub(1);
    let taken = |device: &String| {
        let mapped = instance
            .mappings
            .iter()
            .any(|mapping| mapping.device == *device);
        let mut attached = volumes.iter().filter_map(|volume| volume.attached.as_ref());
        mapped || attached.any(|(on, at)| *on == instance.id && at == device)
    };
    let free = (born..facts::MOST_DISKS).filter_map(facts::device);
    free.into_iter().find(|device| !taken(device))
}
