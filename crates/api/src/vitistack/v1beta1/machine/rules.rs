//! The CEL rules of a Machine, v1beta1: only what spans fields is here.

use schemars::Schema;

use crate::schema::{Rule, add_rules};

/// Rules over the whole spec.
pub(super) fn machine_spec(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!(has(self.providerRef) && has(self.providerSelector))",
            "name the provider once: give either spec.providerRef or spec.providerSelector, or neither to have one chosen",
        )
        .forbidden(),
        Rule::new(
            "has(self.providerRef) || has(self.providerSelector) || has(self.os) || has(self.image)",
            "spec names neither a provider nor an operating system; give spec.providerRef or spec.providerSelector, or say with spec.os or spec.image what is to run, and a provider is chosen",
        )
        .demanded(),
        Rule::new(
            "!(has(self.instanceType) && has(self.machineClass))",
            "spec.instanceType and spec.machineClass both give the size; keep one of them",
        )
        .forbids(".machineClass"),
        Rule::required(
            ".instanceType",
            "!has(self.providerSelector) || has(self.instanceType) || has(self.machineClass)",
            "spec.instanceType or spec.machineClass is required with spec.providerSelector",
        ),
    ];
    add_rules(schema, RULES);
}

/// Rules over the list of disks.
pub(super) fn disks(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self.filter(disk, has(disk.role) && disk.role == 'Boot').size() <= 1",
        "at most one disk can have the role Boot",
    )
    .forbidden()];
    add_rules(schema, RULES);
}

/// Rules over the list of interfaces.
pub(super) fn interfaces(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "self.filter(nic, has(nic.primary) && nic.primary).size() <= 1",
            "at most one interface can be primary; set primary on one of them alone",
        )
        .forbidden(),
        Rule::new(
            "self.all(nic, !(has(nic.networkRef) && has(nic.subnet)))",
            "an interface has either networkRef or subnet; keep one of them",
        )
        .forbidden(),
        Rule::new(
            "self.all(nic, has(nic.ipAddress) || (!has(nic.netmask) && !has(nic.gateway)))",
            "netmask and gateway belong to an address; give ipAddress too",
        )
        .demanded(),
    ];
    add_rules(schema, RULES);
}

/// Rules over the image.
pub(super) fn image(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "[has(self.id), has(self.family), has(self.url), has(self.template), has(self.iso)]\
         .filter(given, given).size() == 1",
        "name the image once: give one of id, family, url, template and iso",
    )
    .demanded()];
    add_rules(schema, RULES);
}
