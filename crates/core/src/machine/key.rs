//! Who a machine is: to us (the key) and to its platform (the id).

use std::{fmt, str::FromStr, sync::Arc};

use thiserror::Error;

/// The deterministic token of a machine: the cluster that declared it and its object's UID.
///
/// It is written as a tag on everything that is made for the machine and is the only
/// proof of ownership: what does not carry both UIDs is not ours to touch.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MachineKey {
    // Shared: a key is copied wherever its machine is spoken of.
    cluster: Arc<str>,
    machine: Arc<str>,
}

/// Why a text is not a machine key.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// The separator is missing.
    #[error("machine key {0:?} is not of the form <cluster UID>/<machine UID>")]
    Form(String),
    /// A part is empty or has a character that some platform's tags do not allow.
    #[error(
        "{part} UID {value:?} in a machine key may hold only letters, digits and '-', and not be empty"
    )]
    Part {
        /// Which of the two UIDs.
        part: &'static str,
        /// What was given.
        value: String,
    },
}

impl MachineKey {
    /// Makes a key of the two UIDs.
    ///
    /// # Errors
    /// When a UID is empty or could not stand in a file name or a platform tag.
    pub fn new(
        cluster: impl Into<Arc<str>>,
        machine: impl Into<Arc<str>>,
    ) -> Result<MachineKey, KeyError> {
        let (cluster, machine) = (cluster.into(), machine.into());
        for (part, value) in [("cluster", &cluster), ("machine", &machine)] {
            let plain = value
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-');
            if value.is_empty() || !plain {
                return Err(KeyError::Part {
                    part,
                    value: value.to_string(),
                });
            }
        }
        Ok(MachineKey { cluster, machine })
    }

    /// The UID of the control plane that declared the machine.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// The UID of the declaring object.
    pub fn machine(&self) -> &str {
        &self.machine
    }
}

impl fmt::Display for MachineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.cluster, self.machine)
    }
}

impl FromStr for MachineKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<MachineKey, KeyError> {
        let (cluster, machine) = text
            .split_once('/')
            .ok_or_else(|| KeyError::Form(text.to_owned()))?;
        MachineKey::new(cluster, machine)
    }
}

/// The platform's own name for a machine (`i-0abc…`, a domain UUID, a directory).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MachineId(String);

impl MachineId {
    /// Wraps a platform's identifier.
    pub fn new(id: impl Into<String>) -> MachineId {
        MachineId(id.into())
    }

    /// The identifier as the platform spells it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MachineId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
