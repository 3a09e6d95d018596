//! The CEL rules of a Vitistack: what each shape requires, and that no concept is said in both.

use schemars::Schema;

use crate::schema::{Rule, add_rules};

/// Rules over the whole spec.
pub(super) fn spec(schema: &mut Schema) {
    const RULES: &[Rule] = &[
        Rule::new(
            "!(has(self.quotas) && has(self.resourceQuotas))",
            "spec.quotas and spec.resourceQuotas say the same thing in two forms; keep one of them",
        ).forbids(".resourceQuotas"),
        Rule::new(
            "!(has(self.settings) && has(self.settings.monitoring) && has(self.monitoring))",
            "spec.settings.monitoring and spec.monitoring say the same thing in two forms; keep one of them",
        ).forbids(".monitoring"),
        Rule::required(
            ".zone",
            "!has(self.displayName) || has(self.zone)",
            "spec.zone is required with spec.displayName",
        ),
        Rule::required(
            ".region",
            "!has(self.displayName) || has(self.region)",
            "spec.region is required with spec.displayName",
        ),
    ];
    add_rules(schema, RULES);
}

/// Rules over the number of machines.
pub(super) fn machine_quota(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!has(self.total) || !has(self.perProvider) || self.perProvider <= self.total",
        "spec.quotas.machines.perProvider must not be larger than spec.quotas.machines.total",
    )
    .counting(".perProvider", "self.perProvider")];
    add_rules(schema, RULES);
}

/// Rules over the amount of storage.
pub(super) fn storage_quota(schema: &mut Schema) {
    const RULES: &[Rule] = &[Rule::new(
        "!has(self.total) || !has(self.perMachine) || !isQuantity(self.total) || !isQuantity(self.perMachine) \
         || quantity(self.perMachine).compareTo(quantity(self.total)) <= 0",
        "spec.quotas.storage.perMachine must not be larger than spec.quotas.storage.total",
    ).about(".perMachine", "self.perMachine")];
    add_rules(schema, RULES);
}
