//! What a provider gives to what a machine leaves open when something is made.
//!
//! It counts when a disk or an interface is made, and never again: a provider that changes its
//! defaults does not change what is there.

use std::borrow::Cow;

use super::{Disk, Nic, Want};

/// What a provider gives where nothing is declared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    /// The size in bytes of disks that have none.
    pub disk_size: Option<u64>,
    /// The size in bytes of a boot disk that has none, where the machine's size says.
    pub boot_size: Option<u64>,
    /// The network of a machine without interfaces.
    pub network: Option<String>,
    /// What was filled in, each with the provider's field that it is from, for people.
    pub told: Vec<String>,
}

impl Defaults {
    /// A disk as it is made.
    pub fn disk<'a>(&self, disk: &'a Disk) -> Cow<'a, Disk> {
        match (disk.size, self.size_of(disk)) {
            (None, Some(size)) => Cow::Owned(Disk {
                size: Some(size),
                ..disk.clone()
            }),
            _ => Cow::Borrowed(disk),
        }
    }

    fn size_of(&self, disk: &Disk) -> Option<u64> {
        self.boot_size.filter(|_| disk.boot).or(self.disk_size)
    }
}

impl Want {
    /// The machine as it is made: with what its provider gives to what it leaves open.
    pub fn at_birth(&self) -> Cow<'_, Want> {
        let mut disks = self.disks.iter();
        let sized = disks.all(|d| d.size.is_some() || self.defaults.size_of(d).is_none());
        let placed = self.defaults.network.is_none() || !self.nics.is_empty();
        if sized && placed {
            return Cow::Borrowed(self);
        }
        let mut want = self.clone();
        for disk in &mut want.disks {
            disk.size = disk.size.or(self.defaults.size_of(disk));
        }
        if !placed {
            want.nics.push(Nic {
                name: "eth0".into(),
                network: self.defaults.network.clone(),
                ..Nic::default()
            });
        }
        Cow::Owned(want)
    }
}
