//! Looking at EC2: instances and volumes by tag or by id, page by page.
//!
//! A search by tag may be behind the times. A read by id may be so too, for a while after the
//! instance was made: an id that EC2 does not know is therefore gone only when EC2 has not known
//! it for some time.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use machinist_core::{
    machine::{Facts, MachineId, MachineKey},
    provider::{ProviderError, ProviderResult},
};
use tokio::time::Instant;

use super::{
    Aws, facts,
    facts::Size,
    model::{Instance, Volume},
    tags,
    wire::{AwsError, Element, Meaning, Query, busy},
};

const PAGE: &str = "1000";
/// More pages than any account has: a cursor that leads in circles ends here.
const MOST_PAGES: usize = 1000;

/// How many values EC2 takes in one filter.
pub(super) const VALUES: usize = 200;

/// Everything that carries one key, some keys, or a key of one cluster.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) instances: Vec<Instance>,
    pub(super) volumes: Vec<Volume>,
}

/// Since when EC2 has not known ids that it was asked for.
#[derive(Debug, Default)]
pub(super) struct Unseen(Mutex<HashMap<String, Instant>>);

impl Unseen {
    fn note(&self, id: &str) -> Duration {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = all.entry(id.to_owned()).or_insert_with(Instant::now);
        since.elapsed()
    }

    fn forget(&self, id: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(id);
    }
}

/// What a read by id gave.
pub(super) enum ById {
    Known(Box<Instance>),
    /// EC2 does not know it, and may come to.
    Unknown,
    /// EC2 has not known it for longer than it takes to.
    Gone,
}

impl Aws {
    /// Everything that carries a key.
    pub(super) async fn view_of(&self, key: &MachineKey) -> Result<View, AwsError> {
        self.view(tags::KEY, &[&key.to_string()]).await
    }

    /// Everything that carries a tag with one of these values.
    pub(super) async fn view(&self, tag: &str, values: &[&str]) -> Result<View, AwsError> {
        let filter = format!("tag:{tag}");
        let query = Query::new("DescribeInstances").filter(1, &filter, values);
        let mut instances = Vec::new();
        for page in self.pages(query).await? {
            for reservation in page.items(&["reservationSet"]) {
                let read = reservation.items(&["instancesSet"]).map(read_instance);
                instances.extend(read.collect::<Result<Vec<_>, _>>()?);
            }
        }
        Ok(View {
            instances,
            volumes: self.volumes(tag, values).await?,
        })
    }

    /// The volumes that carry a tag with one of these values, and are not on their way out.
    pub(super) async fn volumes(
        &self,
        tag: &str,
        values: &[&str],
    ) -> Result<Vec<Volume>, AwsError> {
        let query = Query::new("DescribeVolumes").filter(1, &format!("tag:{tag}"), values);
        let mut volumes = Vec::new();
        for page in self.pages(query).await? {
            let read = page.items(&["volumeSet"]).map(|item| {
                Volume::read(item).ok_or(AwsError::Incomplete {
                    action: "DescribeVolumes",
                    missing: "volume's id or state",
                })
            });
            volumes.extend(read.collect::<Result<Vec<_>, _>>()?);
        }
        volumes.retain(|volume| !volume.is_gone());
        Ok(volumes)
    }

    /// The instance with this id.
    pub(super) async fn by_id(&self, id: &str) -> Result<ById, AwsError> {
        let query = Query::new("DescribeInstances").list("InstanceId", [id]);
        let answer = match self.client.call(&query).await {
            Ok(answer) => answer,
            Err(error) if error.meaning() == Some(Meaning::Absent) => {
                return Ok(self.unknown(id));
            }
            Err(error) => return Err(error),
        };
        let mut found = answer
            .items(&["reservationSet"])
            .flat_map(|reservation| reservation.items(&["instancesSet"]));
        match found.next() {
            Some(item) => {
                self.unseen.forget(id);
                Ok(ById::Known(Box::new(read_instance(item)?)))
            }
            None => Ok(self.unknown(id)),
        }
    }

    fn unknown(&self, id: &str) -> ById {
        match self.unseen.note(id) >= self.config.settling {
            true => ById::Gone,
            false => ById::Unknown,
        }
    }

    /// The instance with this id, which must carry the key and not be gone.
    pub(super) async fn owned(&self, key: &MachineKey, id: &MachineId) -> ProviderResult<Instance> {
        let absent = || ProviderError::NotFound {
            what: format!("instance {id}"),
        };
        if !id.as_str().starts_with("i-") {
            return Err(absent());
        }
        match self.by_id(id.as_str()).await.map_err(AwsError::plainly)? {
            ById::Known(instance) if instance.is_gone() => Err(absent()),
            ById::Known(instance) if instance.carries(&key.to_string()) => Ok(*instance),
            ById::Known(_) => Err(ProviderError::NotOwned {
                id: id.to_string(),
                key: key.to_string(),
            }),
            ById::Unknown | ById::Gone => Err(absent()),
        }
    }

    /// The machine with this id, or the knowledge that it is gone.
    pub(super) async fn read(
        &self,
        key: &MachineKey,
        id: &MachineId,
    ) -> ProviderResult<Option<Facts>> {
        let instance = match self.by_id(id.as_str()).await.map_err(AwsError::plainly)? {
            ById::Known(instance) if !instance.carries(&key.to_string()) => return Ok(None),
            ById::Known(instance) => Some(*instance),
            ById::Gone => None,
            ById::Unknown => {
                let why = format!("EC2 does not know {id}, and may only not know it yet");
                return Err(busy(why, None));
            }
        };
        let volumes = self.volumes(tags::KEY, &[&key.to_string()]).await;
        let view = View {
            instances: instance.into_iter().collect(),
            volumes: volumes.map_err(AwsError::plainly)?,
        };
        Ok(self.facts(key, &view).await.into_iter().next())
    }

    /// The machines in a view of one key.
    pub(super) async fn facts(&self, key: &MachineKey, view: &View) -> Vec<Facts> {
        let volumes: Vec<&Volume> = view.volumes.iter().collect();
        let mut machines = Vec::new();
        for instance in view.instances.iter().filter(|instance| !instance.is_gone()) {
            let size = self.size_of(instance).await;
            machines.push(facts::of_instance(key, instance, &volumes, size));
        }
        if machines.is_empty() {
            let last = view
                .instances
                .iter()
                .max_by_key(|instance| instance.launched);
            machines.extend(facts::of_remains(key, last, &volumes));
        }
        machines
    }

    /// The machines of many keys, told apart by their tags.
    pub(super) async fn facts_of_all(&self, view: View) -> Vec<Facts> {
        let mut by_key: BTreeMap<MachineKey, View> = BTreeMap::new();
        for instance in view.instances {
            if let Some(key) = facts::key_of(&instance.tags) {
                by_key.entry(key).or_default().instances.push(instance);
            }
        }
        for volume in view.volumes {
            if let Some(key) = facts::key_of(&volume.tags) {
                by_key.entry(key).or_default().volumes.push(volume);
            }
        }
        let mut all = Vec::new();
        for (key, view) in &by_key {
            all.extend(self.facts(key, view).await);
        }
        all
    }

    /// Processors and memory of an instance's type; EC2 is asked once for each type. They are only
    /// shown, so that a failure to learn them is no failure of the look.
    async fn size_of(&self, instance: &Instance) -> Option<Size> {
        let kind = instance.kind.as_deref()?;
        let known = |kind: &str| {
            let types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
            types.get(kind).copied()
        };
        if let Some(size) = known(kind) {
            return Some(size);
        }
        let query = Query::new("DescribeInstanceTypes").list("InstanceType", [kind]);
        let answer = match self.client.call(&query).await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::debug!(%error, kind, "the size of an instance type is not known");
                return None;
            }
        };
        let item = answer.items(&["instanceTypeSet"]).next()?;
        let cpus = item.text(&["vCpuInfo", "defaultVCpus"])?.parse().ok()?;
        let memory: u64 = item.text(&["memoryInfo", "sizeInMiB"])?.parse().ok()?;
        let size = (cpus, memory.checked_mul(1 << 20)?);
        let mut types = self.types.lock().unwrap_or_else(PoisonError::into_inner);
        types.insert(kind.to_owned(), size);
        Some(size)
    }

    /// All pages of an answer.
    pub(super) async fn pages(&self, query: Query) -> Result<Vec<Element>, AwsError> {
        let action = query.action();
        let mut pages = Vec::new();
        let mut cursor: Option<String> = None;
        while pages.len() < MOST_PAGES {
            let query = query.clone().with("MaxResults", PAGE);
            let page = self.client.call(&query.maybe("NextToken", cursor)).await?;
            cursor = page.text(&["nextToken"]).map(str::to_owned);
            pages.push(page);
            if cursor.is_none() {
                return Ok(pages);
            }
        }
        Err(AwsError::Incomplete {
            action,
            missing: "last page",
        })
    }
}

/// What cannot be read is not left out: a look with a hole in it is no look.
pub(super) fn read_instance(item: &Element) -> Result<Instance, AwsError> {
    Instance::read(item).ok_or(AwsError::Incomplete {
        action: "DescribeInstances",
        missing: "instance's id or state",
    })
}
