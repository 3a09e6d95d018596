//! The CEL rules of a schema: each alone, and all together by what they could cost.

use serde_json::json;

use super::surface::unsupported;
use crate::apply::go_json;
use crate::schema::cel::{REASONS, RuleFault, examine, most_often};
use crate::schema::{ListKind, Rule, Schema};
use crate::status::Cause;

/// What one rule may cost by estimate, and all rules of a schema, as upstream.
const RULE_LIMIT: u64 = 10_000_000;
const SCHEMA_LIMIT: u64 = 100_000_000;

const ADVICE: &str = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";

/// Everything that is wrong with the rules of a schema.
pub(super) fn check(schema: &Schema, path: &str) -> Vec<Cause> {
    let mut walk = Walk::default();
    walk.node(schema, path, Some(1), None, true);
    if walk.total > SCHEMA_LIMIT {
        walk.dear.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
        for (_, place) in walk.dear.iter().take(4) {
            let why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            walk.causes.push(Cause::forbidden(place, why));
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let why = over(what, walk.total, SCHEMA_LIMIT);
        walk.causes.push(Cause::forbidden(path, &why));
    }
    walk.causes
}

/// The words for an estimate that is over its limit.
#[allow(clippy::cast_precision_loss, reason = "shown with one digit")]
fn over(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!("{what} exceeds budget by factor of {factor} {ADVICE}")
}

#[derive(Default)]
struct Walk {
    causes: Vec<Cause>,
    total: u64,
    /// The rules that matter for the total.
    dear: Vec<(u64, String)>,
}

/// How many values one list or map of a node has at most; `None` when nothing bounds it.
fn bound(schema: &Schema) -> Option<u64> {
    match schema.ty.as_deref() {
        Some("object") if schema.additional_properties.is_some() => schema.max_properties,
        Some("array") => schema.max_items,
        _ => Some(1),
    }
}

impl Walk {
    /// `often` is how many values of this node one object can have, where that is bounded;
    /// `loose` is the list within which old and new values do not go together.
    fn node(
        &mut self,
        schema: &Schema,
        path: &str,
        often: Option<u64>,
        loose: Option<&str>,
        whole: bool,
    ) {
        for (at, rule) in schema.validations.iter().enumerate() {
            let place = format!("{path}.x-kubernetes-validations[{at}]");
            self.rule(rule, schema, &place, often, loose, whole);
        }
        let below = often
            .zip(bound(schema))
            .map(|(often, bound)| often.saturating_mul(bound));
        for (name, child) in &schema.properties {
            let place = format!("{path}.properties[{name}]");
            self.node(child, &place, below, loose, child.embedded_resource);
        }
        if let Some(child) = schema.map_value() {
            let place = format!("{path}.additionalProperties");
            self.node(child, &place, below, loose, child.embedded_resource);
        }
        if let Some(child) = schema.element() {
            let place = format!("{path}.items");
            let correlated = matches!(schema.list_kind(), ListKind::Map(_));
            let loose = loose.or((!correlated).then_some(path));
            self.node(child, &place, below, loose, child.embedded_resource);
        }
    }

    fn rule(
        &mut self,
        rule: &Rule,
        schema: &Schema,
        place: &str,
        often: Option<u64>,
        loose: Option<&str>,
        whole: bool,
    ) {
        let found = examine(rule, schema, whole);
        let at = |field: &str| format!("{place}.{field}");
        let broken = !found.faults.is_empty();
        self.causes
            .extend(found.faults.into_iter().map(|fault| match fault {
                RuleFault::Required(field, why) => Cause::required(&at(field), &why),
                RuleFault::Compile(field, why) => Cause::invalid(&at(field), &go_rule(rule), &why),
                RuleFault::Invalid(field, value, why) => Cause::invalid(&at(field), &value, &why),
                RuleFault::Reason(reason) => unsupported(&at("reason"), &reason, &REASONS),
            }));
        if broken {
            return;
        }
        if let Some(list) = loose.filter(|_| found.uses_old_self) {
            let why = format!(
                "oldSelf cannot be used on the uncorrelatable portion of the schema within {list}"
            );
            let shown = go_json(&json!(rule.rule));
            self.causes.push(Cause::invalid(&at("rule"), &shown, &why));
        }
        let often = often.unwrap_or_else(|| most_often(schema));
        let cost = found.cost.saturating_mul(often);
        self.spend("estimated rule cost", cost, at("rule"));
        if let Some(cost) = found.message_cost {
            let what = "estimated messageExpression cost";
            self.spend(what, cost, at("messageExpression"));
        }
    }

    fn spend(&mut self, what: &str, cost: u64, place: String) {
        self.total = self.total.saturating_add(cost);
        if cost > RULE_LIMIT {
            let why = over(what, cost, RULE_LIMIT);
            self.causes.push(Cause::forbidden(&place, &why));
        }
        if cost >= SCHEMA_LIMIT / 100 {
            self.dear.push((cost, place));
        }
    }
}

/// A rule as upstream's own type shows it in an error.
fn go_rule(rule: &Rule) -> String {
    let text = |text: &Option<String>| go_json(&json!(text.clone().unwrap_or_default()));
    format!(
        "{{\"Rule\":{},\"Message\":{},\"MessageExpression\":{},\"Reason\":{},\"FieldPath\":{},\"OptionalOldSelf\":{}}}",
        go_json(&json!(rule.rule)),
        text(&rule.message),
        text(&rule.message_expression),
        go_json(&json!(rule.reason)),
        text(&rule.field_path),
        go_json(&json!(rule.optional_old_self)),
    )
}
