//! Removing an instance and everything that was made for it.

use machinist_core::{
    machine::{MachineId, MachineKey},
    provider::{ProviderError, ProviderResult},
};

use super::{
    Aws,
    change::on,
    look::View,
    model::{Instance, State, Volume},
    wire::{AwsError, Query, busy},
};

impl Aws {
    pub(super) async fn remove(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<()> {
        let instance = match self.owned(key, id).await {
            Ok(instance) => instance,
            // Of one that is gone there may be volumes, which carry the key.
            Err(ProviderError::NotFound { what }) => {
                let view = self.view_of(key).await.map_err(AwsError::plainly)?;
                return self.remove_remains(&view, id, what).await;
            }
            Err(error) => return Err(error),
        };
        if instance.state == State::ShuttingDown {
            return Ok(());
        }
        let volumes = self.volumes(super::tags::KEY, &[&key.to_string()]).await;
        for volume in volumes.map_err(AwsError::plainly)? {
            self.prepare(&instance, &volume).await?;
        }
        self.ask(on("TerminateInstances", &instance)).await
    }

    /// Sees to it that a volume does not outlive the instance.
    async fn prepare(&self, instance: &Instance, volume: &Volume) -> ProviderResult<()> {
        let mapping = instance
            .mappings
            .iter()
            .find(|mapping| mapping.volume == volume.id);
        match mapping {
            Some(mapping) if mapping.goes_along => Ok(()),
            Some(mapping) => {
                let prefix = "BlockDeviceMapping.1";
                let query = Query::new("ModifyInstanceAttribute")
                    .with("InstanceId", &instance.id)
                    .with(format!("{prefix}.DeviceName"), &mapping.device)
                    .with(format!("{prefix}.Ebs.DeleteOnTermination"), "true");
                self.ask(query).await
            }
            None if volume.attached.is_none() => self.delete_volume(&volume.id).await,
            // It is on its way from one state to the next, and is seen again.
            None => Ok(()),
        }
    }

    /// Removes the volumes of a machine whose instance is gone.
    async fn remove_remains(
        &self,
        view: &View,
        id: &MachineId,
        what: String,
    ) -> ProviderResult<()> {
        let is_named = |volume: &&Volume| volume.id == id.as_str();
        let of_machine = view
            .instances
            .iter()
            .any(|instance| instance.id == id.as_str());
        let lives = view.instances.iter().any(|instance| !instance.is_gone());
        let named = view.volumes.iter().any(|volume| is_named(&volume));
        if view.volumes.is_empty() || lives || !(of_machine || named) {
            return Err(ProviderError::NotFound { what });
        }
        for volume in &view.volumes {
            if volume.attached.is_some() {
                return Err(busy(format!("{} is still attached", volume.id), None));
            }
            self.delete_volume(&volume.id).await?;
        }
        Ok(())
    }
}
