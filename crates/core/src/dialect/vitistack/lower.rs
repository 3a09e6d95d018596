//! From a declared Machine to the domain model.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use machinist_api::{
    names,
    vitistack::{
        machine::{
            Architecture as ApiArchitecture, CloudInit, CloudInitType, FirmwareType, Machine,
            MachineSpec, PowerState,
        },
        machine_provider::MachineProvider,
    },
};

use super::{LowerError, defaults, disks, image, network, size};
use crate::machine::{Architecture, Firmware, InitData, Power, SeedFormat, Want};

/// Understands a Machine in the light of its provider.
///
/// # Errors
/// Names the field that has no meaning on this provider, its value, and what is allowed.
pub fn lower(machine: &Machine, provider: &MachineProvider) -> Result<Want, LowerError> {
    let spec = &machine.spec;
    let name = machine.metadata.name.clone().unwrap_or_default();
    let (size, mut told) = size::lower(spec, &provider.spec)?;
    let encrypted = defaults::encrypts(provider);
    let (mut disks, mut nics) = (disks::lower(spec, encrypted)?, network::lower(spec)?);
    let (mut tags, mut security_groups) = (spec.tags.clone(), spec.security_groups.clone());
    told.extend(defaults::tags(provider, &mut tags));
    told.extend(defaults::security_groups(
        provider,
        &mut security_groups,
        &nics,
    ));
    told.extend(defaults::encryption(spec, encrypted));
    let boot_size = size.storage;
    let defaults = defaults::fill(provider, &mut disks, &mut nics, (boot_size, told));
    let config = spec.provider_config.as_ref();
    Ok(Want {
        namespace: machine.metadata.namespace.clone().unwrap_or_default(),
        instance_type: size::named(spec, &provider.spec).map(str::to_owned),
        zone: config.and_then(|config| config.zone.clone()),
        cpu: size.cpu,
        memory: size.memory,
        disks,
        nics,
        defaults,
        image: image::lower(spec, &provider.spec)?,
        architecture: architecture(spec),
        firmware: firmware(spec),
        init: init(spec, &name)?,
        power: match spec.power_state.unwrap_or_default() {
            PowerState::Running => Power::On,
            PowerState::Stopped => Power::Off,
        },
        restart: restart_requested(machine),
        grace: spec
            .termination_grace_period_seconds
            .and_then(|seconds| u64::try_from(seconds).ok())
            .map(Duration::from_secs),
        tags,
        security_groups,
        monitoring: spec.monitoring,
        settings: config
            .map(|config| config.config.clone())
            .unwrap_or_default(),
        name,
    })
}

/// The restart that was last asked for, by annotation. What is not a time is no request.
fn restart_requested(machine: &Machine) -> Option<String> {
    let annotations = machine.metadata.annotations.as_ref()?;
    let asked = annotations.get(names::RESTARTED_AT_ANNOTATION)?;
    asked.parse::<Timestamp>().ok()?;
    Some(asked.clone())
}

fn architecture(spec: &MachineSpec) -> Architecture {
    match spec.os.as_ref().and_then(|os| os.architecture) {
        Some(ApiArchitecture::Arm64) => Architecture::Arm64,
        Some(ApiArchitecture::Amd64 | ApiArchitecture::X86_64) | None => Architecture::Amd64,
    }
}

fn firmware(spec: &MachineSpec) -> Firmware {
    let Some(firmware) = spec.boot.as_ref().and_then(|boot| boot.firmware.as_ref()) else {
        return Firmware::Default;
    };
    let secure_boot = firmware.secure_boot.unwrap_or(false);
    match firmware.type_ {
        Some(FirmwareType::Bios) => Firmware::Bios,
        Some(FirmwareType::Uefi) => Firmware::Uefi { secure_boot },
        None if secure_boot => Firmware::Uefi { secure_boot },
        None => Firmware::Default,
    }
}

fn init(spec: &MachineSpec, name: &str) -> Result<InitData, LowerError> {
    let cloud_init = spec.cloud_init.as_ref();
    if let Some(cloud_init) = cloud_init {
        refuse_unread(cloud_init)?;
    }
    // First-boot data is always presented, so that host name and keys arrive, unless it is switched off.
    let enabled = cloud_init.and_then(|c| c.enabled).unwrap_or(true);
    let user_data = decoded(
        "spec.cloudInit.userDataBase64",
        cloud_init.and_then(|c| c.user_data_base64.as_deref()),
    )?;
    let network_data = decoded(
        "spec.cloudInit.networkDataBase64",
        cloud_init.and_then(|c| c.network_data_base64.as_deref()),
    )?;
    Ok(InitData {
        hostname: spec.name.clone().unwrap_or_else(|| name.to_owned()),
        user_data: spec
            .user_data
            .clone()
            .or(cloud_init.and_then(|c| c.user_data.clone()))
            .or(user_data),
        meta_data: cloud_init.and_then(|c| c.meta_data.clone()),
        network_data: cloud_init
            .and_then(|c| c.network_data.clone())
            .or(network_data),
        ssh_keys: spec.ssh_keys.clone(),
        format: enabled.then_some(SeedFormat::NoCloud),
    })
}

/// First-boot data that would be lost without a word is refused instead.
fn refuse_unread(cloud_init: &CloudInit) -> Result<(), LowerError> {
    if cloud_init.type_ == Some(CloudInitType::ConfigDrive) {
        return Err(LowerError::new(
            "spec.cloudInit.type",
            "configDrive",
            "only noCloud is offered",
        ));
    }
    let references = [
        ("userDataSecretRef", &cloud_init.user_data_secret_ref),
        ("userDataConfigMapRef", &cloud_init.user_data_config_map_ref),
        ("networkDataSecretRef", &cloud_init.network_data_secret_ref),
        (
            "networkDataConfigMapRef",
            &cloud_init.network_data_config_map_ref,
        ),
    ];
    match references
        .into_iter()
        .find_map(|(field, given)| Some((field, given.as_ref()?)))
    {
        None => Ok(()),
        Some((field, reference)) => Err(LowerError::new(
            format!("spec.cloudInit.{field}"),
            reference.name.as_deref().unwrap_or_default(),
            "references are not followed; give the data in spec.cloudInit.userData and spec.cloudInit.networkData",
        )),
    }
}

fn decoded(field: &str, data: Option<&str>) -> Result<Option<String>, LowerError> {
    let Some(data) = data else { return Ok(None) };
    let refuse = || LowerError::new(field, data, "must be text in base64");
    let bytes = STANDARD.decode(data).map_err(|_| refuse())?;
    String::from_utf8(bytes).map(Some).map_err(|_| refuse())
}
