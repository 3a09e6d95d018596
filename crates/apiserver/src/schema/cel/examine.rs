//! What kube-apiserver would say to a rule when its schema is created: syntax, names, types, and
//! what it could cost at most.

use kube_cel::cel::IdedExpr;

use super::check::{self, Fault};
use super::decl::Decl;
use super::types::Type;
use super::{cost, estimate, field_path, scope, syntax};
use crate::schema::{Rule, Schema};

/// A fault of a rule: the field of the rule, the kind of fault, and what is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RuleFault {
    /// A field is missing.
    Required(&'static str, String),
    /// The rule or its message does not compile; the whole rule is shown as the value.
    Compile(&'static str, String),
    /// A field has a value that it may not have; the value as JSON.
    Invalid(&'static str, String, String),
    /// A field has none of the allowed values.
    Reason(String),
}

/// What is known of a rule.
#[derive(Debug, Default)]
pub(crate) struct Examined {
    pub(crate) faults: Vec<RuleFault>,
    /// What it costs at most, once.
    pub(crate) cost: u64,
    /// The same of the expression that makes its message.
    pub(crate) message_cost: Option<u64>,
    pub(crate) uses_old_self: bool,
}

/// The reasons that a rule may give.
pub(crate) const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

/// Looks at a rule at a node.
pub(crate) fn examine(rule: &Rule, schema: &Schema, whole: bool) -> Examined {
    let mut found = Examined::default();
    if rule.rule.trim().is_empty() {
        let why = "rule is not specified".to_owned();
        found.faults.push(RuleFault::Required("rule", why));
        return found;
    }
    examine_words(rule, schema, &mut found.faults);
    let optional = rule.optional_old_self == Some(true);
    match compile(&rule.rule, schema, whole, optional) {
        Err(why) => {
            let why = format!("compilation failed: {why}");
            found.faults.push(RuleFault::Compile("rule", why));
        }
        Ok((ty, spent, uses_old_self)) => {
            found.cost = spent;
            found.uses_old_self = uses_old_self;
            if !ty.fits(Type::Bool) {
                let why = "cel expression must evaluate to a bool".to_owned();
                found.faults.push(RuleFault::Compile("rule", why));
            }
            if optional && !uses_old_self {
                let why = "may not be set if oldSelf is not used in rule".to_owned();
                let value = "true".to_owned();
                found
                    .faults
                    .push(RuleFault::Invalid("optionalOldSelf", value, why));
            }
        }
    }
    if let Some(text) = &rule.message_expression {
        let why = match compile(text, schema, whole, optional) {
            Err(why) => Some(format!("messageExpression compilation failed: {why}")),
            Ok((ty, ..)) if !ty.fits(Type::Text) => {
                Some("messageExpression must evaluate to a string".to_owned())
            }
            Ok((_, spent, _)) => {
                found.message_cost = Some(spent);
                None
            }
        };
        let fault = why.map(|why| RuleFault::Compile("messageExpression", why));
        found.faults.extend(fault);
    }
    found
}

fn examine_words(rule: &Rule, schema: &Schema, faults: &mut Vec<RuleFault>) {
    let quoted = |text: &str| crate::schema::text::go_quote(text);
    match rule.message.as_deref().filter(|m| !m.is_empty()) {
        Some(message) if message.trim().is_empty() => {
            let why = "must be non-empty if specified".to_owned();
            faults.push(RuleFault::Invalid("message", quoted(message), why));
        }
        Some(message) if message.contains(['\n', '\r']) => {
            let why = "must not contain line breaks".to_owned();
            faults.push(RuleFault::Invalid("message", quoted(message), why));
        }
        None if rule.rule.trim().contains(['\n', '\r']) => {
            let why = "message must be specified if rule contains line breaks".to_owned();
            faults.push(RuleFault::Required("message", why));
        }
        _ => {}
    }
    if let Some(reason) = rule.reason.as_deref().filter(|r| !REASONS.contains(r)) {
        faults.push(RuleFault::Reason(reason.to_owned()));
    }
    let path = rule.field_path.as_deref().filter(|p| !p.is_empty());
    if let Some(path) = path.filter(|path| field_path::resolve(path, schema).is_none()) {
        let why = "must be a valid path".to_owned();
        faults.push(RuleFault::Invalid("fieldPath", quoted(path), why));
    }
}

fn compile<'a>(
    text: &str,
    schema: &'a Schema,
    whole: bool,
    optional_old: bool,
) -> Result<(Type<'a>, u64, bool), String> {
    cost::check_text(text)?;
    cost::with_stack(|| {
        let expression = syntax::tree(text)?;
        scope::check(&expression, &["self", "oldSelf"])
            .map_err(|what| placed(text, &unknown_name(what)))?;
        let (ty, types) = check::check(&expression, schema, whole, optional_old)
            .map_err(|fault| placed(text, &fault))?;
        let spent = estimate::estimate(&expression, &types, Decl::Of { schema, whole });
        Ok((ty, spent, uses_old_self(&expression)))
    })
}

fn uses_old_self(expression: &IdedExpr) -> bool {
    expression.references().has_variable("oldSelf")
}

/// Upstream says in which namespace it looked for a name.
fn unknown_name(what: String) -> Fault {
    let near = what.split('\'').nth(1).unwrap_or_default().to_owned();
    let what = if what.starts_with("undeclared reference") {
        format!("{what} (in container '')")
    } else {
        what
    };
    Fault { what, near }
}

/// A fault in the form that compilers have: where it is, what it is, and the line with a mark.
fn placed(text: &str, fault: &Fault) -> String {
    let at = text.find(&fault.near).unwrap_or(0);
    let before = &text[..at];
    let line = before.matches('\n').count();
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count());
    let shown = text.lines().nth(line).unwrap_or_default();
    format!(
        "ERROR: <input>:{}:{}: {}\n | {shown}\n | {}^",
        line + 1,
        column + 1,
        fault.what,
        ".".repeat(column)
    )
}
