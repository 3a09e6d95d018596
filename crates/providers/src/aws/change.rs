//! Planned changes of an instance but for its volumes: power, size and tags.

use jiff::Timestamp;
use machinist_core::{
    machine::{MachineId, MachineKey},
    provider::{Change, ProviderError, ProviderResult, Size},
};

use super::{
    Aws,
    model::{Instance, State},
    tags::{self, RESTART, RESTARTED, Tags},
    wire::{AwsError, Query, busy},
};

impl Aws {
    pub(super) async fn change(
        &self,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        let instance = self.owned(key, id).await?;
        if instance.state == State::ShuttingDown {
            return Err(busy("the machine is being removed", None));
        }
        match change {
            Change::Start => self.start(&instance).await,
            Change::Stop { grace } => {
                if matches!(instance.state, State::Stopped | State::Stopping) {
                    return Ok(());
                }
                let at_once = grace.is_some_and(|grace| grace.is_zero());
                let stop = on("StopInstances", &instance);
                self.ask(stop.maybe("Force", at_once.then_some("true")))
                    .await
            }
            Change::Restart { token, .. } => self.restart(&instance, token).await,
            Change::Resize(size) => self.resize(&instance, size).await,
            Change::AttachDisk(disk) => self.attach(key, &instance, disk).await,
            Change::DetachDisk(name) => self.detach(key, &instance, name).await,
            Change::GrowDisk { name, size } => self.grow(key, &instance, name, *size).await,
            Change::AttachNic(_) | Change::DetachNic(_) => Err(ProviderError::Unsupported {
                what: "changing the interfaces of an instance".to_owned(),
            }),
            Change::Tags(wanted) => self.retag(&instance, wanted).await,
        }
    }

    async fn start(&self, instance: &Instance) -> ProviderResult<()> {
        match instance.state {
            State::Running | State::Pending => Ok(()),
            _ => self.ask(on("StartInstances", instance)).await,
        }
    }

    /// EC2 does not know requests to restart apart, so the tag that names this one is written after
    /// it was carried out: cut short, it is carried out again rather than never.
    async fn restart(&self, instance: &Instance, token: &str) -> ProviderResult<()> {
        if instance.tags.get(RESTART).is_some_and(|done| done == token) {
            return Ok(());
        }
        match instance.state {
            State::Running => self.ask(on("RebootInstances", instance)).await?,
            State::Stopped => self.ask(on("StartInstances", instance)).await?,
            _ => {
                return Err(busy(
                    format!("the instance is {}", instance.state_name),
                    None,
                ));
            }
        }
        let done = Tags::from([
            (RESTART.to_owned(), token.to_owned()),
            (RESTARTED.to_owned(), Timestamp::now().to_string()),
        ]);
        self.tag(&[&instance.id], &done).await
    }

    async fn resize(&self, instance: &Instance, size: &Size) -> ProviderResult<()> {
        let Some(kind) = &size.instance_type else {
            return Err(ProviderError::Unsupported {
                what: "a size that is not an instance type".to_owned(),
            });
        };
        if instance.kind.as_ref() == Some(kind) {
            return Ok(());
        }
        if instance.state != State::Stopped {
            return Err(busy(
                format!("the instance is {}", instance.state_name),
                None,
            ));
        }
        let query = Query::new("ModifyInstanceAttribute")
            .with("InstanceId", &instance.id)
            .with("InstanceType.Value", kind);
        let answer = self.client.call(&query).await;
        answer.map_err(|error| error.told(|_| ("instanceType", kind.clone())))?;
        Ok(())
    }

    /// Takes off first: cut short, the list of what was put on is too long rather than too short,
    /// and what is missing is seen.
    async fn retag(&self, instance: &Instance, wanted: &Tags) -> ProviderResult<()> {
        let all = tags::declared(wanted)?;
        let has = tags::requested(&instance.tags);
        let surplus = has.keys().filter(|name| !wanted.contains_key(*name));
        let surplus: Vec<&String> = surplus.collect();
        if !surplus.is_empty() {
            let query = Query::new("DeleteTags").list("ResourceId", [&instance.id]);
            let query = surplus
                .into_iter()
                .zip(1..)
                .fold(query, |query, (name, number)| {
                    query.with(format!("Tag.{number}.Key"), name)
                });
            self.ask(query).await?;
        }
        let fresh = all
            .iter()
            .filter(|(name, value)| instance.tags.get(*name) != Some(value));
        let fresh: Tags = fresh
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        match fresh.is_empty() {
            true => Ok(()),
            false => self.tag(&[&instance.id], &fresh).await,
        }
    }

    pub(super) async fn tag(&self, ids: &[&String], tags: &Tags) -> ProviderResult<()> {
        let query = Query::new("CreateTags").list("ResourceId", ids.iter().copied());
        self.ask(query.tags("Tag", tags)).await
    }

    /// Makes a call whose answer says nothing more.
    pub(super) async fn ask(&self, query: Query) -> ProviderResult<()> {
        let answer = self.client.call(&query).await;
        answer.map(drop).map_err(AwsError::plainly)
    }
}

pub(super) fn on(action: &'static str, instance: &Instance) -> Query {
    Query::new(action).list("InstanceId", [&instance.id])
}
