//! The CEL rules of a machine: one source for each thing, and what stays as it was.

use kube::core::{Reason, Rule as RootRule};
use schemars::Schema;

use crate::schema::{Rule, add_rules};

/// Rules over one network interface.
pub(super) fn interface_source(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "has(self.networkInterfaceRef) != has(self.ephemeral)",
        "a network interface needs one source: give either networkInterfaceRef or ephemeral",
    )
    .demanded()];
    add_rules(schema, RULES);
}

/// Rules over one volume.
pub(super) fn volume_source(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "[has(self.volumeRef), has(self.emptyDisk), has(self.localDisk), has(self.ephemeral)]\
         .exists_one(given, given)",
        "a volume needs one source: give one of volumeRef, emptyDisk, localDisk and ephemeral",
    )
    .demanded()];
    add_rules(schema, RULES);
}

/// Rules over the list of volumes.
pub(super) fn devices_differ(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self.all(volume, !has(volume.device) || self.exists_one(other, \
         has(other.device) && other.device == volume.device))",
        "spec.volumes names a device twice; give each volume a device of its own",
    )
    .forbidden()];
    add_rules(schema, RULES);
}

/// Rules over a volume that is made with the machine: who claims it is clear.
pub(super) fn volume_template(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!has(self.volumeTemplate.spec.claimRef)",
            "volumeTemplate.spec.claimRef cannot be given: the machine claims the volume",
        )
        .forbids(".volumeTemplate.spec.claimRef"),
        Rule::new(
            "!has(self.volumeTemplate.spec.unclaimable) || !self.volumeTemplate.spec.unclaimable",
            "volumeTemplate.spec.unclaimable cannot be true: the machine claims the volume",
        )
        .forbids(".volumeTemplate.spec.unclaimable"),
    ];
    add_rules(schema, RULES);
}

fn forbidden(path: &str, expression: &str, message: &str) -> RootRule {
    RootRule::new(expression)
        .message(message)
        .field_path(path)
        .reason(Reason::FieldValueForbidden)
}

/// The guest learns its name at its first boot, and never again.
pub(super) fn hostname_stays() -> RootRule {
    forbidden(
        ".spec.guestConfig",
        "(has(self.spec.guestConfig) && has(self.spec.guestConfig.hostname) \
         ? self.spec.guestConfig.hostname : '') \
         == (has(oldSelf.spec.guestConfig) && has(oldSelf.spec.guestConfig.hostname) \
         ? oldSelf.spec.guestConfig.hostname : '')",
        "spec.guestConfig.hostname cannot be given, changed or removed after creation",
    )
}

/// A disk that was filled with an image keeps it.
pub(super) fn images_stay() -> RootRule {
    forbidden(
        ".spec.volumes",
        "!has(oldSelf.spec.volumes) || oldSelf.spec.volumes.all(old, \
         !has(old.localDisk) || !has(old.localDisk.image) || old.localDisk.image == '' \
         || (has(self.spec.volumes) && self.spec.volumes.exists(volume, \
         volume.name == old.name && has(volume.localDisk) && has(volume.localDisk.image) \
         && volume.localDisk.image == old.localDisk.image)))",
        "a volume in spec.volumes whose localDisk.image is set cannot be removed, and its image \
         cannot be changed or removed",
    )
}

/// A volume that is still being detached cannot come back under the same name.
pub(super) fn volumes_return_when_gone() -> RootRule {
    forbidden(
        ".spec.volumes",
        "!has(self.spec.volumes) || !has(self.status) || !has(self.status.volumes) \
         || self.spec.volumes.all(volume, \
         !self.status.volumes.exists(seen, seen.name == volume.name) \
         || (has(oldSelf.spec.volumes) \
         && oldSelf.spec.volumes.exists(old, old.name == volume.name)))",
        "a new volume in spec.volumes has the name of one that is still attached, as \
         status.volumes shows; wait until that is gone, or choose another name",
    )
}
