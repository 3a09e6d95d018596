//! What a platform can do, and how it is.

use std::{collections::BTreeMap, time::Duration};

/// What a platform can do, as far as the planner must know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Can stop a machine and start it again with its disks.
    pub power: bool,
    /// Has a serial console to read.
    pub console: bool,
    /// Keeps tags that a user declares.
    pub tags: bool,
    /// Pushes changes, so that polling is only a safety net.
    pub watch: bool,
    /// Has sizes by name (`t3.medium`); otherwise processors and memory must be declared.
    pub instance_types: bool,
    /// How far its lookup can be trusted.
    pub lookup: Lookup,
    /// What can be changed about a machine that exists.
    pub changes: Changes,
    /// Fetches images itself, so that making a machine may take as long as a download.
    pub fetches_images: bool,
    /// The unit in bytes that sizes of disks are rounded up to; zero does not round.
    pub disk_unit: u64,
}

impl Capabilities {
    /// What it can and cannot do, in the words of a provider's status.
    pub fn words(&self) -> Vec<(&'static str, bool)> {
        let Capabilities {
            power,
            console,
            tags,
            watch,
            instance_types,
            lookup: _,
            changes:
                Changes {
                    resize,
                    attach_disk,
                    detach_disk,
                    grow_disk,
                    nics,
                },
            fetches_images: _,
            disk_unit: _,
        } = *self;
        let ever = |when| when != When::Never;
        let live = |when| when == When::Always;
        vec![
            ("create", true),
            ("delete", true),
            ("start", power),
            ("stop", power),
            ("restart", power),
            ("console", console),
            ("tagSupport", tags),
            ("watch", watch),
            ("instanceTypes", instance_types),
            ("resize", ever(resize)),
            ("liveResize", live(resize)),
            ("attachDisk", ever(attach_disk)),
            ("liveAttachDisk", live(attach_disk)),
            ("detachDisk", ever(detach_disk)),
            ("liveDetachDisk", live(detach_disk)),
            ("growDisk", ever(grow_disk)),
            ("liveGrowDisk", live(grow_disk)),
            ("attachInterface", ever(nics)),
            ("liveAttachInterface", live(nics)),
        ]
    }

    /// What a provider can do that says these words, as far as words tell it.
    pub fn from_words(said: &[&str]) -> Capabilities {
        let has = |word: &str| said.contains(&word);
        let when = |ever: &str, live: &str| match (has(live), has(ever)) {
            (true, _) => When::Always,
            (false, true) => When::Stopped,
            (false, false) => When::Never,
        };
        Capabilities {
            power: has("stop"),
            console: has("console"),
            tags: has("tagSupport"),
            watch: has("watch"),
            instance_types: has("instanceTypes"),
            lookup: Lookup::default(),
            changes: Changes {
                resize: when("resize", "liveResize"),
                attach_disk: when("attachDisk", "liveAttachDisk"),
                detach_disk: when("detachDisk", "liveDetachDisk"),
                grow_disk: when("growDisk", "liveGrowDisk"),
                nics: when("attachInterface", "liveAttachInterface"),
            },
            fetches_images: false,
            disk_unit: 0,
        }
    }
}

/// How far [`Provider::find`](super::Provider::find) can be trusted when it finds nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lookup {
    /// What was made is found from then on: nothing found is proof of absence.
    #[default]
    Consistent,
    /// What was just made or removed may not show yet. Then `create` must know the key again
    /// (by the platform's own idempotency token), and `get` must be a read by id that is not
    /// behind the times.
    Eventual,
}

/// When each thing about a machine that exists can be changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// Processors and memory, or the named size.
    pub resize: When,
    /// Making and attaching a disk.
    pub attach_disk: When,
    /// Detaching and removing a disk.
    pub detach_disk: When,
    /// Making a disk larger.
    pub grow_disk: When,
    /// Attaching and detaching an interface.
    pub nics: When,
}

/// The states of a machine in which something can be done to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum When {
    /// In none: the machine would have to be made anew.
    #[default]
    Never,
    /// While it is stopped.
    Stopped,
    /// While it is stopped or running.
    Always,
}

/// How a platform is, as seen by one probe.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// What answered: an endpoint, a host name, a binary with its version.
    pub endpoint: String,
    /// What the platform says of itself.
    pub version: Option<String>,
    /// Processors in all, where the platform says.
    pub cpus: Option<u64>,
    /// Memory in bytes in all, where the platform says.
    pub memory: Option<u64>,
    /// Memory in bytes that is free, where the platform says.
    pub memory_free: Option<u64>,
    /// Disk space in bytes in all, where the platform says.
    pub storage: Option<u64>,
    /// Disk space in bytes that is free, where the platform says.
    pub storage_free: Option<u64>,
    /// How long what was fetched to prove who we are still lasts.
    pub credentials_last: Option<Duration>,
    /// Facts for the provider's status, such as the accelerator; never a secret.
    pub details: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_all_that_a_plan_needs() {
        let whens = [When::Never, When::Stopped, When::Always];
        for index in 0..3_usize.pow(5) {
            let when = |place: u32| whens[index / 3_usize.pow(place) % 3];
            let can = Capabilities {
                power: index % 2 == 0,
                tags: index % 5 == 0,
                instance_types: index % 7 == 0,
                changes: Changes {
                    resize: when(0),
                    attach_disk: when(1),
                    detach_disk: when(2),
                    grow_disk: when(3),
                    nics: when(4),
                },
                ..Capabilities::default()
            };
            let words = can.words();
            let said: Vec<&str> = words
                .iter()
                .filter(|(_, has)| *has)
                .map(|(word, _)| *word)
                .collect();
            assert_eq!(Capabilities::from_words(&said), can);
        }
    }
}
