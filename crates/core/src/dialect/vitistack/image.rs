//! The boot image: named outright, or found among the provider's images.

use machinist_api::vitistack::{
    machine::MachineSpec,
    machine_provider::{Capabilities, MachineImage, MachineProviderSpec},
};

use super::LowerError;
use crate::machine::Image;

/// A fragment on a URL that pins its content.
const CHECKSUM: &str = "#sha256=";

pub(super) fn lower(
    machine: &MachineSpec,
    provider: &MachineProviderSpec,
) -> Result<Option<Image>, LowerError> {
    let nothing = Capabilities::default();
    let offered = provider.capabilities.as_ref().unwrap_or(&nothing);
    if let Some(os) = machine.os.as_ref() {
        let named = os.image_id.as_deref().or(os.image_family.as_deref());
        let named = named.or(os.iso_uri.as_deref());
        let described = (os.distribution.as_deref(), os.version.as_deref());
        return resolve("spec.os.imageID", named, described, offered).map(Some);
    }
    let Some(os) = machine.operating_system.as_ref() else {
        return Ok(None);
    };
    let named = os.image.as_ref().and_then(|image| image.url.as_deref());
    let described = (os.distribution.as_deref(), os.version.as_deref());
    resolve("spec.operatingSystem.image.url", named, described, offered).map(Some)
}

fn resolve(
    field: &str,
    named: Option<&str>,
    (distribution, version): (Option<&str>, Option<&str>),
    offered: &Capabilities,
) -> Result<Image, LowerError> {
    let images = offered.available_images.as_slice();
    if let Some(named) = named {
        let by_name = images.iter().find(|image| image.name == named);
        return Ok(pinned(
            by_name
                .and_then(|image| image.id.as_deref())
                .unwrap_or(named),
        ));
    }
    let fits = |image: &&MachineImage| {
        let distribution = distribution.unwrap_or_default();
        let version_fits = match (image.version.as_deref(), version) {
            (Some(has), Some(wants)) => has == wants,
            (None, Some(wants)) => image.name.contains(wants),
            (_, None) => true,
        };
        !distribution.is_empty() && image.name.starts_with(distribution) && version_fits
    };
    match images.iter().find(fits) {
        Some(image) => Ok(pinned(image.id.as_deref().unwrap_or(&image.name))),
        None => {
            let usual = usual(offered, distribution, version);
            usual.map(pinned).ok_or_else(|| {
                LowerError::missing(
                    field,
                    format!(
                        "no image of the provider is {} {}; name one here, or add it to the provider's spec.capabilities.availableImages ({})",
                        distribution.unwrap_or("of that distribution"),
                        version.unwrap_or("in any version"),
                        known(images)
                    ),
                )
            })
        }
    }
}

/// The image that the provider takes for a system that is described and not named.
fn usual<'a>(
    offered: &'a Capabilities,
    distribution: Option<&str>,
    version: Option<&str>,
) -> Option<&'a str> {
    let mut systems = offered.operating_systems.iter();
    let fits = systems.find(|system| {
        let has_version = |wants: &str| system.versions.iter().any(|has| has == wants);
        Some(system.distribution.as_str()) == distribution && version.is_none_or(has_version)
    });
    fits.and_then(|system| system.default_image_id.as_deref())
}

fn known(images: &[MachineImage]) -> String {
    match images {
        [] => "it has none".into(),
        images => {
            let names: Vec<&str> = images.iter().map(|image| image.name.as_str()).collect();
            format!("it has {}", names.join(", "))
        }
    }
}

fn pinned(reference: &str) -> Image {
    match reference.split_once(CHECKSUM) {
        Some((reference, sum)) => Image {
            reference: reference.into(),
            checksum: Some(format!("sha256:{sum}")),
        },
        None => Image {
            reference: reference.into(),
            checksum: None,
        },
    }
}
