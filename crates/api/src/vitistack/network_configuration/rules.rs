//! The CEL rules of a NetworkConfiguration: that it has one role, and that addresses fit together.

use schemars::Schema;

use crate::schema::{Rule, add_rules};

/// Rules over the whole spec.
pub(super) fn spec(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!(has(self.networkId) && has(self.networkInterfaces))",
            "spec.networkId describes a network and spec.networkInterfaces those of one machine; keep one of them",
        ).forbids(".networkInterfaces"),
        Rule::required(
            ".name",
            "!has(self.networkInterfaces) || has(self.name)",
            "spec.name is required with spec.networkInterfaces",
        ),
        Rule::required(
            ".networkId",
            "has(self.networkId) || has(self.name)",
            "spec.networkId is required, unless spec.name and spec.networkInterfaces describe a machine",
        ),
        Rule::new(
            "!(has(self.dhcp) && has(self.ipam) && has(self.ipam.dhcp))",
            "spec.dhcp and spec.ipam.dhcp say the same thing in two forms; keep one of them",
        ).forbids(".ipam.dhcp"),
        Rule::new(
            "!has(self.dhcp) || !has(self.ipam) || !has(self.ipam.type) || self.ipam.type in ['kea', 'dhcp'] \
             || (has(self.dhcp.enabled) && !self.dhcp.enabled)",
            "spec.dhcp needs a spec.ipam.type of kea or dhcp",
        ).about(".ipam.type", "self.ipam.type"),
        Rule::new(
            "!has(self.ipam) || !has(self.ipam.subnet) || !isCIDR(self.ipam.subnet) || !has(self.dhcp) \
             || ((!has(self.dhcp.poolStart) || !isIP(self.dhcp.poolStart) || cidr(self.ipam.subnet).containsIP(self.dhcp.poolStart)) \
             && (!has(self.dhcp.poolEnd) || !isIP(self.dhcp.poolEnd) || cidr(self.ipam.subnet).containsIP(self.dhcp.poolEnd)))",
            "spec.dhcp.poolStart and spec.dhcp.poolEnd must be addresses in spec.ipam.subnet",
        ).about(".dhcp.poolStart", "self.dhcp.poolStart + ' and ' + self.dhcp.poolEnd"),
    ];
    add_rules(schema, RULES);
}

/// Rules over how addresses are given out.
pub(super) fn ipam(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!has(self.subnet) || !has(self.gateway) || !isCIDR(self.subnet) || !isIP(self.gateway) \
             || cidr(self.subnet).containsIP(self.gateway)",
            "spec.ipam.gateway must be an address in spec.ipam.subnet",
        ).about(".gateway", "self.gateway"),
        Rule::new(
            "!has(self.subnet) || !isCIDR(self.subnet) || !has(self.dhcp) \
             || ((!has(self.dhcp.poolStart) || !isIP(self.dhcp.poolStart) || cidr(self.subnet).containsIP(self.dhcp.poolStart)) \
             && (!has(self.dhcp.poolEnd) || !isIP(self.dhcp.poolEnd) || cidr(self.subnet).containsIP(self.dhcp.poolEnd)))",
            "spec.ipam.dhcp.poolStart and spec.ipam.dhcp.poolEnd must be addresses in spec.ipam.subnet",
        ).about(".dhcp.poolStart", "self.dhcp.poolStart + ' and ' + self.dhcp.poolEnd"),
    ];
    add_rules(schema, RULES);
}

/// Rules over a DHCP server.
pub(super) fn dhcp(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "has(self.poolStart) == has(self.poolEnd)",
        "poolStart and poolEnd go together; give both or neither",
    )
    .demanded()];
    add_rules(schema, RULES);
}
