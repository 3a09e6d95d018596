//! CEL rules (`x-kubernetes-validations`): compiled once into a tree that follows the schema,
//! evaluated per object. The language and its Kubernetes libraries come from kube-cel.
//!
//! Whatever cannot be evaluated counts as a failed rule. What kube-apiserver has and this has
//! not: a check of the operands of its libraries' functions (those of operators are checked), and
//! equality of `set` and `map` lists regardless of order.

mod calls;
mod check;
mod convert;
mod cost;
mod decl;
mod escape;
mod estimate;
mod evaluate;
mod examine;
mod expression;
mod field_path;
mod library;
mod macros;
mod optional;
mod pattern;
mod prices;
mod proof;
mod scope;
mod size;
mod steps;
mod syntax;
mod trail;
mod types;

pub(crate) use examine::{REASONS, RuleFault, examine};

use std::collections::BTreeMap;

use kube_cel::cel::IdedExpr;

pub(crate) use expression::{Asked, Expression, Variables};
pub(crate) use syntax::forget;

use super::text::child_path;
use super::{Rule, Schema, SchemaError};

/// An expression that counts what it costs.
#[derive(Debug)]
struct Compiled {
    expression: IdedExpr,
    size: cost::Size,
    uses_old_self: bool,
    /// The short way to its truth, where it has one.
    proof: Option<proof::Proof>,
}

/// One rule, ready to run.
#[derive(Debug)]
struct CompiledRule {
    rule: Rule,
    expression: Compiled,
    message: Option<Compiled>,
    /// Whether the rule compares with the old value, and so runs on updates alone.
    uses_old_self: bool,
    /// What to append to the path of the node, as `.spec.name`.
    blamed: String,
}

/// The rules of a schema node and of the nodes below it.
#[derive(Debug, Default)]
pub(crate) struct RuleNode {
    rules: Vec<CompiledRule>,
    /// The fields that the rules name.
    names: proof::Names,
    properties: BTreeMap<String, RuleNode>,
    map_value: Option<Box<RuleNode>>,
    items: Option<Box<RuleNode>>,
    all_of: Vec<RuleNode>,
}

impl RuleNode {
    /// The rules of a whole object; `None` where there are none.
    pub(crate) fn compile(schema: &Schema) -> Result<Option<Self>, SchemaError> {
        compile_node(schema, schema, "")
    }

    fn is_empty(&self) -> bool {
        self.rules.is_empty()
            && self.properties.is_empty()
            && self.map_value.is_none()
            && self.items.is_none()
            && self.all_of.is_empty()
    }
}

/// How often the value of a node can be in one object, when nothing bounds that.
pub(crate) fn most_often(schema: &Schema) -> u64 {
    decl::most_often(schema)
}

/// `place` is the node that the rules of `schema` speak of: the same, except below `allOf`,
/// whose branches add rules to nodes that are declared outside.
fn compile_node(
    schema: &Schema,
    place: &Schema,
    path: &str,
) -> Result<Option<RuleNode>, SchemaError> {
    let mut node = RuleNode::default();
    for rule in &schema.validations {
        let rule = compile_rule(rule, place, path, &mut node.names)?;
        node.rules.push(rule);
    }
    for (name, child) in &schema.properties {
        let below = place.properties.get(name).unwrap_or(child);
        if let Some(compiled) = compile_node(child, below, &child_path(path, name))? {
            node.properties.insert(name.clone(), compiled);
        }
    }
    if let Some(child) = schema.map_value() {
        let below = place.map_value().unwrap_or(child);
        node.map_value = compile_node(child, below, &child_path(path, "*"))?.map(Box::new);
    }
    if let Some(child) = schema.element() {
        let below = place.element().unwrap_or(child);
        node.items = compile_node(child, below, &format!("{path}[]"))?.map(Box::new);
    }
    for branch in &schema.all_of {
        node.all_of.extend(compile_node(branch, place, path)?);
    }
    let alternatives = schema.any_of.iter().chain(&schema.one_of);
    for branch in alternatives.chain(schema.not.as_deref()) {
        if let Some(rule) = first_rule(branch) {
            return Err(SchemaError::Rule {
                path: path.to_string(),
                rule: rule.rule.clone(),
                reason: "rules cannot stand below anyOf, oneOf or not".into(),
            });
        }
    }
    Ok((!node.is_empty()).then_some(node))
}

/// Any rule at or below a node.
fn first_rule(schema: &Schema) -> Option<&Rule> {
    schema.validations.first().or_else(|| {
        schema
            .properties
            .values()
            .chain(schema.map_value())
            .chain(schema.element())
            .chain(&schema.all_of)
            .chain(&schema.any_of)
            .chain(&schema.one_of)
            .chain(schema.not.as_deref())
            .find_map(first_rule)
    })
}

fn compile_rule(
    rule: &Rule,
    place: &Schema,
    path: &str,
    names: &mut proof::Names,
) -> Result<CompiledRule, SchemaError> {
    let mut expression = parse(&rule.rule, path)?;
    let depth = expression.size.depth;
    expression.proof = proof::Proof::of(&expression.expression, depth, names);
    let message = rule
        .message_expression
        .as_deref()
        .map(|text| parse(text, path))
        .transpose()?;
    let blamed = match rule.field_path.as_deref().filter(|text| !text.is_empty()) {
        Some(text) => field_path::resolve(text, place).ok_or_else(|| SchemaError::FieldPath {
            path: path.to_string(),
            rule: rule.rule.clone(),
            field_path: text.to_string(),
        })?,
        None => String::new(),
    };
    Ok(CompiledRule {
        uses_old_self: expression.uses_old_self,
        rule: rule.clone(),
        expression,
        message,
        blamed,
    })
}

fn parse(text: &str, path: &str) -> Result<Compiled, SchemaError> {
    let refuse = |reason: String| SchemaError::Rule {
        path: path.to_string(),
        rule: text.to_string(),
        reason,
    };
    if text.trim().is_empty() {
        return Err(refuse("the rule is empty".into()));
    }
    parse_with(text, &["self", "oldSelf"]).map_err(refuse)
}

/// Reads an expression that may name these variables.
fn parse_with(text: &str, variables: &[&str]) -> Result<Compiled, String> {
    cost::check_text(text)?;
    cost::with_stack(|| parse_bounded(text, variables))
}

fn parse_bounded(text: &str, variables: &[&str]) -> Result<Compiled, String> {
    let mut expression = syntax::tree(text)?;
    scope::check(&expression, variables)?;
    optional::rewrite(&mut expression);
    macros::lower(&mut expression);
    let uses_old_self = expression.references().has_variable("oldSelf");
    let size = cost::instrument(&mut expression);
    cost::check_depth(size)?;
    Ok(Compiled {
        expression,
        size,
        uses_old_self,
        proof: None,
    })
}

#[cfg(test)]
mod tests;
