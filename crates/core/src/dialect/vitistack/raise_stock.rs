//! What a platform has to offer by name, and which templates it has room for.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use machinist_api::vitistack::machine_provider::{
    AvailableResources, FoundImage, FoundLimits, MachineProvider,
};

use super::offer;
use crate::{
    machine::{Condition, Truth},
    place::{Preset, Room},
    provider::{Health, Inventory, StockImage},
};

/// The type of the condition.
const VERIFIED: &str = "TemplatesVerified";
/// What is said of an image that nobody knows more of.
const UNKNOWN: &str = "unknown";
/// As many as a status holds.
const MOST_IMAGES: usize = 512;
const MOST_CLASSES: usize = 1024;
const MOST_NAMES: usize = 64;

/// What the platform was found to offer; nothing before it was asked.
pub(super) fn available(
    provider: &MachineProvider,
    stock: Option<&Inventory>,
) -> Option<AvailableResources> {
    let stock = stock?;
    let spec = &provider.spec;
    let offered = spec.capabilities.as_ref();
    let offered = offered.map(|all| all.supported_instance_types.as_slice());
    let offered = offered.unwrap_or_default();
    // The owner may offer fewer sizes than the platform has.
    let sizes = stock.sizes.iter();
    let sizes = sizes.filter(|size| offered.is_empty() || offered.contains(size));
    let templates = spec.templates.iter().map(|template| &template.name);
    let mut classes: Vec<String> = templates.chain(sizes).cloned().collect();
    classes.sort();
    classes.dedup();
    classes.truncate(MOST_CLASSES);
    let images: BTreeMap<&str, &StockImage> = stock
        .images
        .iter()
        .map(|image| (image.id.as_str(), image))
        .collect();
    let images = images.into_values().take(MOST_IMAGES);
    let most = spec.storage.as_ref().and_then(|all| all.max_storage_gb);
    Some(AvailableResources {
        machine_classes: classes,
        zones: stock.zones.iter().take(MOST_NAMES).cloned().collect(),
        storage_types: stock.storage.iter().take(MOST_NAMES).cloned().collect(),
        images: images.map(|image| found(provider, image)).collect(),
        limits: most.map(|most| FoundLimits {
            max_storage_per_machine_gb: Some(most.into()),
            ..FoundLimits::default()
        }),
    })
}

/// One image, with what the provider's owner says of it where the platform does not.
fn found(provider: &MachineProvider, image: &StockImage) -> FoundImage {
    let capabilities = provider.spec.capabilities.as_ref();
    let mut declared = capabilities
        .into_iter()
        .flat_map(|all| &all.available_images);
    let declared =
        declared.find(|one| one.id.as_ref() == Some(&image.id) || one.name == image.name);
    let or_unknown = |text: Option<String>| Some(text.unwrap_or_else(|| UNKNOWN.to_owned()));
    let os = declared.and_then(|one| one.os_type.clone());
    let architecture = declared.and_then(|one| one.architecture.clone());
    FoundImage {
        id: image.id.clone(),
        name: Some(image.name.clone()),
        os_family: or_unknown(os.or(image.os.clone())),
        os_distribution: or_unknown(None),
        os_version: or_unknown(declared.and_then(|one| one.version.clone())),
        architecture: or_unknown(image.architecture.clone().or(architecture)),
        public: Some(image.public),
        creation_date: image.created.map(Time),
    }
}

/// Whether a machine of each template can be made; nothing where there are no templates.
pub(super) fn templates(provider: &MachineProvider, health: &Health) -> Option<Condition> {
    let spec = &provider.spec;
    if spec.templates.is_empty() {
        return None;
    }
    let (mut room, most) = (offer::room(provider, Some(health)), offer::most(spec));
    if offer::overcommits(spec) {
        room.memory = None;
    }
    let too_large: Vec<String> = spec
        .templates
        .iter()
        .flat_map(|template| {
            let wants = offer::amounts(template.resources.as_ref());
            let path = format!("spec.templates[{}].resources", template.name);
            over(&path, &wants, &room, &most)
        })
        .collect();
    Some(match too_large.is_empty() {
        true => Condition::new(
            VERIFIED,
            Truth::True,
            "Verified",
            "The provider is large enough for a machine of each template.",
        ),
        false => Condition::new(
            VERIFIED,
            Truth::False,
            "TemplatesTooLarge",
            format!("{}.", too_large.join("; ")),
        ),
    })
}

/// What a template wants and no machine can have. Processors and disk space of a host are shared, so
/// that only what is declared as the most counts there.
fn over(path: &str, wants: &Preset, room: &Room, most: &Preset) -> Vec<String> {
    let memory = most.memory.into_iter().chain(room.memory).min();
    [
        ("cpu", wants.cpus, most.cpus, "processors"),
        ("memory", wants.memory, memory, "bytes"),
        ("storage", wants.storage, most.storage, "bytes"),
    ]
    .into_iter()
    .filter_map(|(name, wanted, most, unit)| {
        let (wanted, most) = (wanted?, most?);
        (wanted > most)
            .then(|| format!("{path}.{name}: {wanted}: a machine has at most {most} {unit} here"))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn provider(spec: &Value) -> MachineProvider {
        let provider = json!({
            "apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
            "metadata": {"name": "p"}, "spec": spec,
        });
        serde_json::from_value(provider).unwrap()
    }

    #[test]
    fn templates_that_no_machine_can_be_made_of_are_named() {
        let sized = |cpu: u32, memory: &str| json!({"name": format!("t{cpu}"), "resources": {"cpu": cpu, "memory": memory}});
        let health = Health {
            cpus: Some(2),
            memory: Some(4 << 30),
            ..Health::default()
        };
        let told = |spec: Value| templates(&provider(&spec), &health);
        assert_eq!(told(json!({"type": "sim"})), None);
        let good = told(json!({"type": "sim", "templates": [sized(8, "4Gi")]}));
        assert_eq!(good.map(|c| c.status), Some(Truth::True));
        let held_back = json!({"reservedResources": {"memory": "1Gi"}});
        let bad = told(json!({
            "type": "sim", "templates": [sized(8, "4Gi"), sized(1, "1Gi")],
            "capacity": held_back, "computeConfig": {"maxCPU": "4"},
        }));
        let bad = bad.unwrap();
        assert_eq!(bad.status, Truth::False);
        assert_eq!(
            bad.message,
            "spec.templates[t8].resources.cpu: 8: a machine has at most 4 processors here; \
             spec.templates[t8].resources.memory: 4294967296: a machine has at most 3221225472 bytes here."
        );
    }

    #[test]
    fn what_the_platform_has_is_told_with_what_its_owner_says_of_it() {
        let image = |id: &str, name: &str| StockImage {
            id: id.into(),
            name: name.into(),
            ..StockImage::default()
        };
        let stock = Inventory {
            images: vec![
                image("b", "debian"),
                image("a", "other"),
                image("b", "debian"),
            ],
            sizes: vec!["t3.micro".into(), "m5.large".into()],
            zones: vec!["z1".into()],
            ..Inventory::default()
        };
        let provider = provider(&json!({
            "type": "sim", "templates": [{"name": "small"}],
            "capabilities": {
                "supportedInstanceTypes": ["t3.micro", "gone"],
                "availableImages": [{"name": "debian", "osType": "linux", "version": "12"}],
            },
        }));
        assert_eq!(available(&provider, None), None);
        let found = available(&provider, Some(&stock)).unwrap();
        assert_eq!(found.machine_classes, ["small", "t3.micro"]);
        assert_eq!(found.zones, ["z1"]);
        let shown: Vec<_> = found
            .images
            .iter()
            .map(|i| {
                (
                    i.id.as_str(),
                    i.os_family.as_deref(),
                    i.os_version.as_deref(),
                )
            })
            .collect();
        let unknown = Some("unknown");
        assert_eq!(
            shown,
            [("a", unknown, unknown), ("b", Some("linux"), Some("12"))]
        );
    }
}
