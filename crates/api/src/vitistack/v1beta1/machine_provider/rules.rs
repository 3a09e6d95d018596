//! The CEL rules of a MachineProvider, v1beta1: only what spans fields is here.

use schemars::Schema;

use crate::schema::{Rule, add_rules};

/// Rules over the whole spec.
pub(super) fn provider_spec(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::required(
            ".authentication",
            "self.type in ['qemu', 'libvirt', 'sim', 'iri'] || has(self.authentication)",
            "spec.authentication is required for this type of provider",
        ),
        Rule::new(
            "self.type != 'aws' || !has(self.region) || self.region.matches('^[a-z]{2}(-[a-z]+)+-[0-9]$')",
            "spec.region must be an AWS region, such as us-west-2",
        ).about(".region", "self.region"),
        Rule::required(
            ".region",
            "has(self.region) || has(self.endpoint) || (has(self.authentication) && has(self.authentication.credentials))",
            "spec.region is required, unless the provider is described by spec.endpoint or spec.authentication.credentials",
        ),
    ];
    add_rules(schema, RULES);
    add_rules(schema, PLATFORM);
}

/// What each platform cannot do without. Who gives `authentication.credentials` has v1alpha1's second
/// shape in mind, which has no place for the settings of vSphere.
const PLATFORM: &[Rule] = &[
    Rule::new(
        "self.type != 'azure' || (has(self.parameters) && 'resourceGroup' in self.parameters \
         && self.parameters['resourceGroup'].matches('^[-_.()0-9A-Za-z]{0,89}[-_()0-9A-Za-z]$'))",
        "an azure provider needs spec.parameters.resourceGroup: the name of a resource group, such as rg-production",
    ).demands(".parameters.resourceGroup").showing("self.parameters['resourceGroup']"),
    Rule::new(
        "self.type != 'azure' || (has(self.parameters) && 'subscriptionId' in self.parameters \
         && self.parameters['subscriptionId'].matches('^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'))",
        "an azure provider needs spec.parameters.subscriptionId: the UUID of a subscription",
    ).demands(".parameters.subscriptionId").showing("self.parameters['subscriptionId']"),
    Rule::new(
        "self.type != 'gcp' || (has(self.parameters) && 'project' in self.parameters \
         && self.parameters['project'].matches('^([-.a-z0-9]+:)?[a-z][-a-z0-9]{4,28}[a-z0-9]$'))",
        "a gcp provider needs spec.parameters.project: the ID of a project, such as my-gcp-project",
    ).demands(".parameters.project").showing("self.parameters['project']"),
    Rule::new(
        "self.type != 'gcp' || !has(self.zones) \
         || self.zones.all(zone, zone.matches('^[a-z]+-[a-z]+[0-9]+-[a-z]$'))",
        "spec.zones of a gcp provider must be zones, such as us-central1-a",
    )
    .about(".zones", "self.zones.join(', ')"),
    Rule::new(
        "self.type != 'vsphere' || (has(self.authentication) && has(self.authentication.credentials)) || (has(self.parameters) && 'datacenter' in self.parameters \
         && self.parameters['datacenter'] != '')",
        "a vsphere provider needs spec.parameters.datacenter: the name of a datacenter",
    ).demands(".parameters.datacenter"),
    Rule::new(
        "self.type != 'vsphere' || (has(self.authentication) && has(self.authentication.credentials)) || (has(self.zones) && self.zones.size() > 0) \
         || (has(self.parameters) && 'cluster' in self.parameters && self.parameters['cluster'] != '')",
        "a vsphere provider needs the names of its clusters, in spec.zones or spec.parameters.cluster",
    ).demanded(),
    Rule::new(
        "self.type != 'openstack' || (has(self.parameters) \
         && ['tenant', 'tenantName', 'tenantId', 'project', 'projectName', 'projectId'].exists(key, \
         key in self.parameters && self.parameters[key] != ''))",
        "an openstack provider needs spec.parameters.tenant (or project): the tenant that machines are made in",
    ).demands(".parameters.tenant"),
    Rule::new(
        "self.type != 'openstack' || (has(self.parameters) \
         && ['domain', 'domainName', 'domainId'].exists(key, \
         key in self.parameters && self.parameters[key] != ''))",
        "an openstack provider needs spec.parameters.domain: the domain that the tenant is in",
    ).demands(".parameters.domain"),
];

/// Rules over a service account.
pub(super) fn service_account(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "has(self.secretRef) || has(self.accountID)",
        "spec.authentication.serviceAccount needs secretRef or accountID",
    )
    .demanded()];
    add_rules(schema, RULES);
}

/// Rules over the methods of authentication.
pub(super) fn authentication(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "[has(self.apiKey), has(self.oauth2), has(self.certificate), has(self.serviceAccount), \
             has(self.credentials), has(self.ambient)].filter(given, given).size() <= 1",
            "spec.authentication names several methods; keep one of apiKey, oauth2, certificate, \
             serviceAccount, credentials and ambient",
        ).forbidden(),
        Rule::new(
            "has(self.apiKey) || has(self.oauth2) || has(self.certificate) || has(self.serviceAccount) \
             || has(self.credentials) || has(self.ambient) || has(self.parameters)",
            "spec.authentication names no method; give one of apiKey, oauth2, certificate, \
             serviceAccount, credentials and ambient",
        ).demanded(),
    ];
    add_rules(schema, RULES);
}
