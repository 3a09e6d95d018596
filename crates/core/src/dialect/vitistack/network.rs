//! Network interfaces, from `spec.network` or `spec.networking`.

use machinist_api::vitistack::machine::{MachineSpec, NetworkingInterface};

use super::LowerError;
use crate::machine::Nic;

/// The interfaces, the primary one first.
pub(super) fn lower(machine: &MachineSpec) -> Result<Vec<Nic>, LowerError> {
    if let Some(networking) = machine.networking.as_ref() {
        return Ok(networking
            .interfaces
            .iter()
            .map(|interface| Nic {
                name: interface.name.clone(),
                network: interface.network_ref.as_ref().and_then(|r| r.name.clone()),
                address: address(interface),
                mac: interface.mac_address.clone(),
                ..Nic::default()
            })
            .collect());
    }
    let Some(network) = machine.network.as_ref() else {
        return Ok(Vec::new());
    };
    let primaries = network
        .interfaces
        .iter()
        .filter(|i| i.primary == Some(true));
    if primaries.count() > 1 {
        return Err(LowerError::new(
            "spec.network.interfaces",
            network.interfaces.len(),
            "only one interface may have primary: true",
        ));
    }
    let mut interfaces: Vec<_> = network.interfaces.iter().collect();
    interfaces.sort_by_key(|interface| interface.primary != Some(true));
    let mut nics: Vec<Nic> = interfaces
        .into_iter()
        .map(|interface| Nic {
            name: interface.name.clone(),
            network: interface.subnet.clone().or(network.subnet.clone()),
            security_groups: interface.security_groups.clone(),
            ..Nic::default()
        })
        .collect();
    if nics.is_empty() {
        nics.push(Nic {
            name: "eth0".into(),
            network: network.subnet.clone(),
            ..Nic::default()
        });
    }
    if let Some(primary) = nics.first_mut() {
        primary.address = network.private_ip.clone();
        primary.public = network.assign_public_ip.unwrap_or(false);
    }
    Ok(nics)
}

/// The fixed address of an interface, in whichever form it is given.
fn address(interface: &NetworkingInterface) -> Option<String> {
    let configured = interface.ip_configuration.as_ref();
    let configured = configured.and_then(|how| how.address.as_ref());
    interface.ip_address.as_ref().or(configured).cloned()
}
