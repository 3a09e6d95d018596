//! The CEL rules of a Machine: what each shape requires, and that no concept is said in both.
//!
//! Ranges and formats stand beside their fields; only what spans fields is here.

use schemars::Schema;

use crate::schema::{Rule, add_rules};

/// Rules over the whole spec.
pub(super) fn machine_spec(schema: &mut Schema) {
    add_rules(schema, ONE_FORM);
    add_rules(schema, REQUIRED);
}

/// The rule that a field cannot change any more once the machine exists at its platform.
pub(super) fn kept(field: &str, why: &str) -> kube::core::Rule {
    let (now, before) = (
        format!("self.spec.{field}"),
        format!("oldSelf.spec.{field}"),
    );
    kube::core::Rule::new(format!(
        "!has(oldSelf.status) || !has(oldSelf.status.machineID) || (has({now}) ? has({before}) && {now} == {before} : !has({before}))"
    ))
    .message(kube::core::Message::Message(format!(
        "spec.{field} {why}, and cannot be changed once that exists; put it back, or delete the Machine and create it anew"
    )))
    .field_path(format!(".spec.{field}"))
    .reason(kube::core::Reason::FieldValueForbidden)
}

/// One concept, one form.
const ONE_FORM: &[Rule] = &[
    Rule::new(
        "!(has(self.providerConfig) && has(self.providerRef))",
        "spec.providerConfig and spec.providerRef say the same thing in two forms; keep one of them",
    ).forbids(".providerRef"),
    Rule::new(
        "!(has(self.provider) && has(self.providerRef))",
        "spec.provider and spec.providerRef say the same thing in two forms; keep one of them",
    ).forbids(".providerRef"),
    Rule::new(
        "!(has(self.provider) && has(self.providerConfig) && has(self.providerConfig.name)) \
         || self.provider == self.providerConfig.name",
        "spec.provider and spec.providerConfig.name name two providers; keep one of them, or make them agree",
    ).about(".provider", "self.provider"),
    Rule::new(
        "!(has(self.instanceType) && has(self.machineClass))",
        "spec.instanceType and spec.machineClass say the same thing in two forms; keep one of them",
    ).forbids(".machineClass"),
    Rule::new(
        "!(has(self.cpu) && has(self.resources) && has(self.resources.cpu))",
        "spec.cpu and spec.resources.cpu say the same thing in two forms; keep one of them",
    ).forbids(".resources.cpu"),
    Rule::new(
        "!(has(self.memory) && has(self.resources) && has(self.resources.memory))",
        "spec.memory and spec.resources.memory say the same thing in two forms; keep one of them",
    ).forbids(".resources.memory"),
    Rule::new(
        "!(has(self.disks) && has(self.storage))",
        "spec.disks and spec.storage say the same thing in two forms; keep one of them",
    ).forbids(".storage"),
    Rule::new(
        "!(has(self.network) && has(self.networking))",
        "spec.network and spec.networking say the same thing in two forms; keep one of them",
    ).forbids(".networking"),
    Rule::new(
        "!(has(self.os) && has(self.operatingSystem))",
        "spec.os and spec.operatingSystem say the same thing in two forms; keep one of them",
    ).forbids(".operatingSystem"),
    Rule::new(
        "!(has(self.userData) && has(self.cloudInit) && has(self.cloudInit.userData))",
        "spec.userData and spec.cloudInit.userData say the same thing in two forms; keep one of them",
    ).forbids(".cloudInit.userData"),
    Rule::new(
        "!(has(self.userData) && has(self.cloudInit) && has(self.cloudInit.userDataBase64))",
        "spec.userData and spec.cloudInit.userDataBase64 say the same thing in two forms; keep one of them",
    ).forbids(".cloudInit.userDataBase64"),
    Rule::new(
        "!(has(self.userData) && has(self.cloudInit) && has(self.cloudInit.userDataSecretRef))",
        "spec.userData and spec.cloudInit.userDataSecretRef say the same thing in two forms; keep one of them",
    ).forbids(".cloudInit.userDataSecretRef"),
    Rule::new(
        "!(has(self.userData) && has(self.cloudInit) && has(self.cloudInit.userDataConfigMapRef))",
        "spec.userData and spec.cloudInit.userDataConfigMapRef say the same thing in two forms; keep one of them",
    ).forbids(".cloudInit.userDataConfigMapRef"),
];

/// What each way to name a provider requires; with spec.provider (shape C), nothing else is.
const REQUIRED: &[Rule] = &[
    Rule::new(
        "has(self.providerConfig) || has(self.providerRef) || has(self.provider) || has(self.os) || has(self.operatingSystem)",
        "spec names neither a provider nor an operating system; name a provider with spec.providerRef, spec.providerConfig or spec.provider, or say with spec.os or spec.operatingSystem what is to run, and a provider is chosen",
    ).demanded(),
    Rule::required(
        ".name",
        "!has(self.providerConfig) || has(self.provider) || has(self.name)",
        "spec.name is required with spec.providerConfig",
    ),
    Rule::required(
        ".instanceType",
        "!has(self.providerConfig) || has(self.provider) || has(self.instanceType) || has(self.machineClass)",
        "spec.instanceType is required with spec.providerConfig, unless spec.machineClass is given",
    ),
    Rule::required(
        ".os",
        "!has(self.providerConfig) || has(self.provider) || has(self.os) || has(self.operatingSystem)",
        "spec.os is required with spec.providerConfig, unless spec.operatingSystem is given",
    ),
    Rule::required(
        ".providerConfig.name",
        "!has(self.providerConfig) || has(self.provider) || has(self.providerConfig.name)",
        "spec.providerConfig.name is required; name the platform, such as aws or qemu",
    ),
    Rule::required(
        ".providerConfig.region",
        "!has(self.providerConfig) || has(self.provider) || has(self.providerConfig.region)",
        "spec.providerConfig.region is required; name the region of a MachineProvider",
    ),
    Rule::required(
        ".os.family",
        "!has(self.os) || has(self.provider) || has(self.os.family)",
        "spec.os.family is required: linux or windows",
    ),
    Rule::required(
        ".os.distribution",
        "!has(self.os) || has(self.provider) || has(self.os.distribution)",
        "spec.os.distribution is required, such as ubuntu",
    ),
    Rule::required(
        ".os.version",
        "!has(self.os) || has(self.provider) || has(self.os.version)",
        "spec.os.version is required, such as 24.04",
    ),
];

/// Rules over the list of disks.
pub(super) fn disks(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self.filter(disk, has(disk.boot) && disk.boot).size() <= 1",
        "at most one disk can be the boot disk; set boot on one of them alone",
    )
    .forbidden()];
    add_rules(schema, RULES);
}

/// Rules over an interface of `spec.networking`.
pub(super) fn networking_interface(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!(has(self.ipAddress) && has(self.ipConfiguration) && has(self.ipConfiguration.address))",
        "ipAddress and ipConfiguration.address say the same thing in two forms; keep one of them",
    )
    .forbids(".ipConfiguration.address")];
    add_rules(schema, RULES);
}

/// Rules over the way to an address.
pub(super) fn ip_configuration(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!has(self.address) || !has(self.type) || self.type == 'static'",
            "an address is given with the type static; a DHCP server gives its own",
        )
        .forbids(".address"),
        Rule::new(
            "has(self.address) || (!has(self.netmask) && !has(self.gateway))",
            "netmask and gateway belong to an address; give the address too",
        )
        .demands(".address"),
        Rule::new(
            "!has(self.type) || self.type != 'static' || has(self.address)",
            "the type static needs an address; give it, or make the type dhcp",
        )
        .demands(".address"),
    ];
    add_rules(schema, RULES);
}

/// Rules over the list of interfaces.
pub(super) fn interfaces(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self.filter(nic, has(nic.primary) && nic.primary).size() <= 1",
        "at most one interface can be primary; set primary on one of them alone",
    )
    .forbidden()];
    add_rules(schema, RULES);
}

/// Rules over the reference to a Secret.
pub(super) fn credentials_ref(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "has(self.name) != has(self.secretName)",
        "name the Secret once: give either name or secretName",
    )
    .demanded()];
    add_rules(schema, RULES);
}

/// Rules over the reference to a provider object.
pub(super) fn provider_ref(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!has(self.kind) || self.kind == 'MachineProvider'",
            "spec.providerRef.kind must be MachineProvider, or be left out",
        )
        .about(".kind", "self.kind"),
        Rule::new(
            "!has(self.apiVersion) || self.apiVersion.startsWith('vitistack.io/')",
            "spec.providerRef.apiVersion must be vitistack.io/v1alpha1, or be left out",
        )
        .about(".apiVersion", "self.apiVersion"),
    ];
    add_rules(schema, RULES);
}

/// Rules over first-boot data: each kind of it comes from one source.
pub(super) fn cloud_init(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "[has(self.userData), has(self.userDataBase64), has(self.userDataSecretRef), \
             has(self.userDataConfigMapRef)].filter(given, given).size() <= 1",
            "spec.cloudInit gives user data more than once; keep one of userData, userDataBase64, \
             userDataSecretRef and userDataConfigMapRef",
        )
        .forbidden(),
        Rule::new(
            "[has(self.networkData), has(self.networkDataBase64), has(self.networkDataSecretRef), \
             has(self.networkDataConfigMapRef)].filter(given, given).size() <= 1",
            "spec.cloudInit gives network data more than once; keep one of networkData, \
             networkDataBase64, networkDataSecretRef and networkDataConfigMapRef",
        )
        .forbidden(),
    ];
    add_rules(schema, RULES);
}

/// Rules over the boot order.
pub(super) fn boot_order(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "self.all(device, self.exists_one(other, other == device))",
        "spec.boot.order names a device twice; name each device once",
    )
    .forbidden()];
    add_rules(schema, RULES);
}

/// Rules over the firmware.
pub(super) fn firmware(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!has(self.secureBoot) || !self.secureBoot || !has(self.type) || self.type == 'uefi'",
        "spec.boot.firmware.secureBoot needs firmware of type uefi",
    )
    .about(".secureBoot", "self.type")];
    add_rules(schema, RULES);
}
