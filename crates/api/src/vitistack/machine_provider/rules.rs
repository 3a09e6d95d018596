//! The CEL rules of a MachineProvider: what each shape and each platform requires.
//!
//! Ranges and formats stand beside their fields; only what spans fields is here.

use schemars::Schema;

use crate::schema::{Rule, add_rules};

/// Rules over the whole spec.
pub(super) fn provider_spec(schema: &mut Schema) {
    add_rules(schema, ONE_FORM);
    add_rules(schema, REQUIRED);
    add_rules(schema, PLATFORM);
}

/// One concept, one form.
const ONE_FORM: &[Rule] = &[
    Rule::new(
        "!(has(self.type) && has(self.providerType))",
        "spec.type and spec.providerType say the same thing in two forms; keep one of them",
    ).forbids(".providerType"),
    Rule::new(
        "!(has(self.availabilityZones) && has(self.zones))",
        "spec.availabilityZones and spec.zones say the same thing in two forms; keep one of them",
    ).forbids(".zones"),
    Rule::new(
        "!(has(self.authentication) && has(self.credentials))",
        "spec.authentication and spec.credentials say the same thing in two forms; keep one of them",
    ).forbids(".credentials"),
    Rule::new(
        "!(has(self.config) && has(self.config.endpoint) && has(self.endpoint))",
        "spec.config.endpoint and spec.endpoint say the same thing in two forms; keep one of them",
    ).forbids(".endpoint"),
    Rule::new(
        "!(has(self.networkConfig) && has(self.network))",
        "spec.networkConfig and spec.network say the same thing in two forms; keep one of them",
    ).forbids(".network"),
    Rule::new(
        "!(has(self.storageConfig) && has(self.storage))",
        "spec.storageConfig and spec.storage say the same thing in two forms; keep one of them",
    ).forbids(".storage"),
    Rule::new(
        "!(has(self.computeConfig) && has(self.compute))",
        "spec.computeConfig and spec.compute say the same thing in two forms; keep one of them",
    ).forbids(".compute"),
    Rule::new(
        "!(has(self.capabilities) && has(self.capabilities.maxMachines) && has(self.capacity) && has(self.capacity.maxMachines))",
        "spec.capabilities.maxMachines and spec.capacity.maxMachines say the same thing in two forms; keep one of them",
    ).forbids(".capacity.maxMachines"),
    Rule::new(
        "!(has(self.config) && has(self.config.retryPolicy) && has(self.config.retryPolicy.maxRetries) && has(self.endpoint) && has(self.endpoint.retryAttempts))",
        "spec.config.retryPolicy.maxRetries and spec.endpoint.retryAttempts say the same thing in two forms; keep one of them",
    ).forbids(".endpoint.retryAttempts"),
];

/// What each form requires.
const REQUIRED: &[Rule] = &[
    Rule::required(
        ".type",
        "has(self.type) || has(self.providerType)",
        "spec.type is required: the type of the provider, such as aws or proxmox",
    ),
    Rule::required(
        ".displayName",
        "!has(self.providerType) || has(self.displayName)",
        "spec.displayName is required with spec.providerType",
    ),
    Rule::required(
        ".region",
        "has(self.region) || (!has(self.providerType) && (has(self.endpoint) || has(self.credentials)))",
        "spec.region is required, unless the provider is described by spec.type, spec.endpoint and spec.credentials",
    ),
    Rule::required(
        ".authentication",
        "(has(self.type) && self.type in ['qemu', 'libvirt', 'sim', 'iri']) \
         || (has(self.providerType) && self.providerType in ['qemu', 'libvirt', 'sim', 'iri']) \
         || has(self.authentication) || has(self.credentials)",
        "spec.authentication or spec.credentials is required for this type of provider",
    ),
];

/// What each platform cannot do without. Shape B, which gives `credentials`, has no place for the
/// settings of vSphere, under whichever name. Shape C keeps its settings in a map that no rule can see:
/// the webhook holds those to a form, and the region and the zones are held to theirs here.
const PLATFORM: &[Rule] = &[
    Rule::new(
        "!((has(self.type) && self.type == 'aws') || (has(self.providerType) && self.providerType == 'aws')) \
         || !has(self.region) || self.region.matches('^[a-z]{2}(-[a-z]+)+-[0-9]$')",
        "spec.region must be an AWS region, such as us-west-2",
    ).about(".region", "self.region"),
    Rule::new(
        "!has(self.type) || self.type != 'azure' || (has(self.config) && has(self.config.customSettings) \
         && 'resourceGroup' in self.config.customSettings \
         && self.config.customSettings['resourceGroup'].matches('^[-_.()0-9A-Za-z]{0,89}[-_()0-9A-Za-z]$'))",
        "an azure provider needs spec.config.customSettings.resourceGroup: the name of a resource group, such as rg-production",
    ).demands(".config.customSettings.resourceGroup").showing("self.config.customSettings['resourceGroup']"),
    Rule::new(
        "!has(self.type) || self.type != 'azure' || (has(self.config) && has(self.config.customSettings) \
         && 'subscriptionId' in self.config.customSettings \
         && self.config.customSettings['subscriptionId'].matches('^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'))",
        "an azure provider needs spec.config.customSettings.subscriptionId: the UUID of a subscription",
    ).demands(".config.customSettings.subscriptionId").showing("self.config.customSettings['subscriptionId']"),
    Rule::new(
        "!has(self.type) || self.type != 'gcp' || (has(self.config) && has(self.config.customSettings) \
         && 'project' in self.config.customSettings \
         && self.config.customSettings['project'].matches('^([-.a-z0-9]+:)?[a-z][-a-z0-9]{4,28}[a-z0-9]$'))",
        "a gcp provider needs spec.config.customSettings.project: the ID of a project, such as my-gcp-project",
    ).demands(".config.customSettings.project").showing("self.config.customSettings['project']"),
    Rule::new(
        "!((has(self.type) && self.type == 'gcp') || (has(self.providerType) && self.providerType == 'gcp')) \
         || !has(self.zones) || self.zones.all(zone, zone.matches('^[a-z]+-[a-z]+[0-9]+-[a-z]$'))",
        "spec.zones of a gcp provider must be zones, such as us-central1-a",
    )
    .about(".zones", "self.zones.join(', ')"),
    Rule::new(
        "!((has(self.type) && self.type == 'gcp') || (has(self.providerType) && self.providerType == 'gcp')) \
         || !has(self.availabilityZones) || self.availabilityZones.all(zone, zone.matches('^[a-z]+-[a-z]+[0-9]+-[a-z]$'))",
        "spec.availabilityZones of a gcp provider must be zones, such as us-central1-a",
    ).about(".availabilityZones", "self.availabilityZones.join(', ')"),
    Rule::new(
        "!has(self.type) || self.type != 'gcp' || !has(self.config) || !has(self.config.customSettings) \
         || !('zone' in self.config.customSettings) \
         || self.config.customSettings['zone'].matches('^[a-z]+-[a-z]+[0-9]+-[a-z]$')",
        "spec.config.customSettings.zone of a gcp provider must be a zone, such as us-central1-a",
    ).about(".config.customSettings", "self.config.customSettings['zone']"),
    Rule::new(
        "!has(self.type) || !(self.type in ['vsphere', 'vmware']) || has(self.credentials) || (has(self.config) && has(self.config.customSettings) \
         && 'datacenter' in self.config.customSettings \
         && self.config.customSettings['datacenter'] != '')",
        "a vsphere provider needs spec.config.customSettings.datacenter: the name of a datacenter",
    ).demands(".config.customSettings.datacenter"),
    Rule::new(
        "!has(self.type) || !(self.type in ['vsphere', 'vmware']) || has(self.credentials) || (has(self.availabilityZones) && self.availabilityZones.size() > 0) \
         || (has(self.config) && has(self.config.customSettings) \
         && 'cluster' in self.config.customSettings && self.config.customSettings['cluster'] != '')",
        "a vsphere provider needs the names of its clusters, in spec.availabilityZones or spec.config.customSettings.cluster",
    ).demanded(),
    Rule::new(
        "!has(self.type) || self.type != 'openstack' || (has(self.config) && has(self.config.customSettings) \
         && ['tenant', 'tenantName', 'tenantId', 'project', 'projectName', 'projectId'].exists(key, \
         key in self.config.customSettings && self.config.customSettings[key] != ''))",
        "an openstack provider needs spec.config.customSettings.tenant (or project): the tenant that machines are made in",
    ).demands(".config.customSettings.tenant"),
    Rule::new(
        "!has(self.type) || self.type != 'openstack' || (has(self.config) && has(self.config.customSettings) \
         && ['domain', 'domainName', 'domainId'].exists(key, \
         key in self.config.customSettings && self.config.customSettings[key] != ''))",
        "an openstack provider needs spec.config.customSettings.domain: the domain that the tenant is in",
    ).demands(".config.customSettings.domain"),
];

/// Rules over the methods of authentication.
pub(super) fn authentication(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "has(self.apiKey) || has(self.oauth2) || has(self.certificate) || has(self.serviceAccount) \
             || has(self.credentialsRef) || has(self.parameters) \
             || (has(self.type) && self.type in ['instanceProfile', 'managedIdentity'])",
            "spec.authentication names no method; give apiKey, oauth2, certificate, serviceAccount or credentialsRef",
        ).demanded(),
        Rule::new(
            "!has(self.type) || (self.type == 'apikey' && has(self.apiKey)) \
             || (self.type == 'oauth2' && has(self.oauth2)) \
             || (self.type == 'certificate' && (has(self.certificate) || has(self.credentialsRef))) \
             || (self.type in ['serviceaccount', 'serviceAccount'] && has(self.serviceAccount)) \
             || (self.type in ['credentials', 'token'] && (has(self.credentialsRef) || has(self.parameters))) \
             || self.type in ['instanceProfile', 'managedIdentity']",
            "spec.authentication.type names a method that is not given beside it",
        ).about(".type", "self.type"),
    ];
    add_rules(schema, RULES);
}

/// Rules over a service account.
pub(super) fn service_account(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::required(
            ".secretRef",
            "has(self.secretRef) || has(self.accountID)",
            "spec.authentication.serviceAccount.secretRef is required, unless accountID is given",
        ),
        Rule::new(
            "!(has(self.secretRef) && has(self.keyRef))",
            "spec.authentication.serviceAccount.secretRef and spec.authentication.serviceAccount.keyRef \
             say the same thing in two forms; keep one of them",
        ).forbids(".keyRef"),
    ];
    add_rules(schema, RULES);
}

/// Rules over an endpoint.
pub(super) fn endpoint(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!(has(self.insecureSkipTLSVerify) && has(self.insecureSkipVerify))",
            "spec.endpoint.insecureSkipTLSVerify and spec.endpoint.insecureSkipVerify \
             say the same thing in two forms; keep one of them",
        ).forbids(".insecureSkipVerify"),
        Rule::new(
            "!(has(self.timeout) && has(self.timeoutSeconds))",
            "spec.endpoint.timeout and spec.endpoint.timeoutSeconds say the same thing in two forms; \
             keep one of them",
        ).forbids(".timeoutSeconds"),
    ];
    add_rules(schema, RULES);
}

/// Rules over a range that may be asked for.
pub(super) fn offered_range(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new("self.min <= self.max", "min must not be larger than max")
            .counting(".min", "self.min"),
    ];
    add_rules(schema, RULES);
}
