//! The CEL rules of a schema: each alone, and all together by what they could cost.

use serde_json::json;

use super::surface::unsupported;
use crate::apply::go_json;
use crate::schema::cel::{REASONS, RuleFault, examine};
use crate::schema::{ListKind, Rule, Schema};
use crate::status::Cause;

/// What one rule may cost by estimate, and all rules of a schema, as upstream.
const RULE_LIMIT: f64 = 10_000_000.0;
const SCHEMA_LIMIT: f64 = 100_000_000.0;

/// How far an estimate must be over its limit before it counts. Ours is coarser than upstream's,
/// and a definition that works elsewhere must not be refused here.
const DOUBT: f64 = 4.0;

const ADVICE: &str = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)";

/// Everything that is wrong with the rules of a schema.
pub(super) fn check(schema: &Schema, path: &str) -> Vec<Cause> {
    let mut walk = Walk::default();
    walk.node(schema, path, 1.0, None, true);
    let total: f64 = walk.costs.iter().map(|(cost, _)| cost).sum();
    if total > SCHEMA_LIMIT * DOUBT {
        walk.costs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let dear = walk.costs.iter().take(4).filter(|(cost, _)| *cost > 0.0);
        for (_, place) in dear {
            let why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            walk.causes.push(Cause::forbidden(place, why));
        }
        let why = format!(
            "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of {} {ADVICE}",
            factor(total, SCHEMA_LIMIT)
        );
        walk.causes.push(Cause::forbidden(path, &why));
    }
    walk.causes
}

fn factor(cost: f64, limit: f64) -> String {
    let factor = cost / limit;
    if factor > 100.0 {
        "more than 100x".to_owned()
    } else {
        format!("{factor:.1}x")
    }
}

#[derive(Default)]
struct Walk {
    causes: Vec<Cause>,
    costs: Vec<(f64, String)>,
}

impl Walk {
    /// `often` is how many values of this node one object can have; `loose` is the list within
    /// which old and new values do not go together.
    fn node(&mut self, schema: &Schema, path: &str, often: f64, loose: Option<&str>, whole: bool) {
        for (at, rule) in schema.validations.iter().enumerate() {
            let place = format!("{path}.x-kubernetes-validations[{at}]");
            self.rule(rule, schema, &place, often, loose, whole);
        }
        for (name, child) in &schema.properties {
            let place = format!("{path}.properties[{name}]");
            self.node(child, &place, often, loose, child.embedded_resource);
        }
        if let Some(child) = schema.map_value() {
            let place = format!("{path}.additionalProperties");
            self.node(
                child,
                &place,
                often * crate::schema::cel::most(schema),
                loose,
                child.embedded_resource,
            );
        }
        if let Some(child) = schema.element() {
            let place = format!("{path}.items");
            let correlated = matches!(schema.list_kind(), ListKind::Map(_));
            let loose = loose.or((!correlated).then_some(path));
            self.node(
                child,
                &place,
                often * crate::schema::cel::most(schema),
                loose,
                child.embedded_resource,
            );
        }
    }

    fn rule(
        &mut self,
        rule: &Rule,
        schema: &Schema,
        place: &str,
        often: f64,
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
        let cost = found.cost * often;
        self.costs.push((cost, at("rule")));
        if cost > RULE_LIMIT * DOUBT {
            let why = format!(
                "estimated rule cost exceeds budget by factor of {} {ADVICE}",
                factor(cost, RULE_LIMIT)
            );
            self.causes.push(Cause::forbidden(&at("rule"), &why));
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
