//! One planned change of a machine that exists: what the planner may ask of a platform.

use std::{collections::BTreeMap, time::Duration};

use super::{Cpu, Disk, Nic, Want};

/// One planned change of an existing machine. Each is idempotent: asked for again, it leaves
/// the machine as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Start it.
    Start,
    /// Ask the guest to shut down, and end it when its time is up.
    Stop {
        /// How long the guest may take; `None` takes the platform's own limit.
        grace: Option<Duration>,
    },
    /// Shut it down and start it again; one that is down is started.
    Restart {
        /// Names the request. A machine whose [`Facts::restart`](super::Facts::restart) is this
        /// token was restarted for it already.
        token: String,
        /// How long the guest may take to shut down.
        grace: Option<Duration>,
    },
    /// Give it other processors and memory.
    Resize(Size),
    /// Make an empty disk and attach it.
    AttachDisk(Disk),
    /// Detach the disk of this name and remove it with what is on it.
    DetachDisk(String),
    /// Make a disk larger.
    GrowDisk {
        /// Its name.
        name: String,
        /// Its new size in bytes.
        size: u64,
    },
    /// Attach an interface.
    AttachNic(Nic),
    /// Detach the interface of this name.
    DetachNic(String),
    /// Make the tags these, and take off those that were put on before and are not among them.
    Tags(BTreeMap<String, String>),
}

/// How large a machine should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size {
    /// Virtual processors.
    pub cpu: Cpu,
    /// Memory in bytes.
    pub memory: u64,
    /// The platform's size name, where it has any; then it is what counts.
    pub instance_type: Option<String>,
}

impl Size {
    /// The size that is declared.
    pub fn of(want: &Want) -> Size {
        Size {
            cpu: want.cpu,
            memory: want.memory,
            instance_type: want.instance_type.clone(),
        }
    }
}

impl Change {
    /// A stable name for logs, events and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Change::Start => "start",
            Change::Stop { .. } => "stop",
            Change::Restart { .. } => "restart",
            Change::Resize(_) => "resize",
            Change::AttachDisk(_) => "attach-disk",
            Change::DetachDisk(_) => "detach-disk",
            Change::GrowDisk { .. } => "grow-disk",
            Change::AttachNic(_) => "attach-interface",
            Change::DetachNic(_) => "detach-interface",
            Change::Tags(_) => "tag",
        }
    }

    /// What is done, for a sentence: "The machine is being …".
    pub fn doing(&self) -> String {
        match self {
            Change::Start => "The machine is being started.".into(),
            Change::Stop { .. } => "The machine is being stopped.".into(),
            Change::Restart { .. } => "The machine is being restarted.".into(),
            Change::Resize(_) => "The machine is being resized.".into(),
            Change::AttachDisk(disk) => format!("Disk {} is being attached.", disk.name),
            Change::DetachDisk(name) => format!("Disk {name} is being detached and removed."),
            Change::GrowDisk { name, .. } => format!("Disk {name} is being enlarged."),
            Change::AttachNic(nic) => format!("Interface {} is being attached.", nic.name),
            Change::DetachNic(name) => format!("Interface {name} is being detached."),
            Change::Tags(_) => "The machine's tags are being changed.".into(),
        }
    }
}
