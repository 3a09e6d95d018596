//! A look at an expression before it ever runs: which type it has, whether its operands fit, and
//! what it can cost at most. Only what is certainly wrong is refused; what this does not know is
//! dynamic, and is judged when it runs.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue};

use super::escape::escape;
use super::types::Type;
use crate::schema::Schema;

/// What is known of an expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) ty: Type<'a>,
    pub(super) cost: f64,
}

/// A fault, and the text in the expression where it shows.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) what: String,
    pub(super) near: String,
}

fn fault(what: impl Into<String>, near: impl Into<String>) -> Fault {
    Fault {
        what: what.into(),
        near: near.into(),
    }
}

/// The names that an expression may use.
struct Scope<'a> {
    names: Vec<(String, Type<'a>)>,
}

/// Types an expression at a node.
pub(super) fn check<'a>(
    expression: &IdedExpr,
    schema: &'a Schema,
    whole: bool,
    optional_old: bool,
) -> Result<Known<'a>, Fault> {
    let own = Type::of(schema, whole);
    let old = if optional_old { Type::Optional } else { own };
    let names = vec![("self".to_owned(), own), ("oldSelf".to_owned(), old)];
    Scope { names }.infer(expression)
}

fn known<'a>(ty: Type<'a>, cost: f64) -> Result<Known<'a>, Fault> {
    Ok(Known { ty, cost })
}

#[allow(clippy::cast_precision_loss, reason = "an estimate")]
fn size(ty: Type<'_>) -> f64 {
    ty.most() as f64
}

impl<'a> Scope<'a> {
    fn infer(&mut self, expression: &IdedExpr) -> Result<Known<'a>, Fault> {
        match &expression.expr {
            Expr::Unspecified | Expr::Struct(_) => known(Type::Dyn, 1.0),
            Expr::Literal(literal) => known(literal_type(literal), 0.0),
            Expr::Ident(name) => {
                let found = self.names.iter().rev().find(|(other, _)| other == name);
                known(found.map_or(Type::Dyn, |(_, ty)| *ty), 1.0)
            }
            Expr::Select(select) => {
                let operand = self.infer(&select.operand)?;
                let ty = field(operand.ty, &select.field)?;
                known(
                    if select.test { Type::Bool } else { ty },
                    operand.cost + 1.0,
                )
            }
            Expr::List(list) => {
                let mut cost = 10.0;
                for element in &list.elements {
                    cost += self.infer(element)?.cost;
                }
                let most = list.elements.len() as u64;
                known(Type::List { items: None, most }, cost)
            }
            Expr::Map(map) => {
                let mut cost = 30.0;
                for entry in &map.entries {
                    cost += match &entry.expr {
                        EntryExpr::MapEntry(entry) => {
                            self.infer(&entry.key)?.cost + self.infer(&entry.value)?.cost
                        }
                        EntryExpr::StructField(field) => self.infer(&field.value)?.cost,
                    };
                }
                let most = map.entries.len() as u64;
                known(Type::Map { values: None, most }, cost)
            }
            Expr::Comprehension(loops) => self.comprehension(loops),
            Expr::Call(call) => self.call(call),
        }
    }

    fn comprehension(&mut self, loops: &ComprehensionExpr) -> Result<Known<'a>, Fault> {
        let range = self.infer(&loops.iter_range)?;
        let (key, value) = match range.ty {
            Type::List { .. } => (range.ty.element(), Type::Dyn),
            Type::Map { .. } => (Type::Text { most: 256 }, range.ty.element()),
            Type::Dyn
            | Type::Either { .. }
            | Type::Object { .. }
            | Type::Metadata
            | Type::Optional => (Type::Dyn, Type::Dyn),
            other => {
                let name = other.name();
                return Err(fault(
                    format!(
                        "expression of type '{name}' cannot be range of a comprehension (must be list, map, or dynamic)"
                    ),
                    ".",
                ));
            }
        };
        let start = self.infer(&loops.accu_init)?;
        let depth = self.names.len();
        self.names.push((loops.iter_var.clone(), key));
        if let Some(second) = &loops.iter_var2 {
            self.names.push((second.clone(), value));
        }
        self.names.push((loops.accu_var.clone(), start.ty));
        let turn = self.infer(&loops.loop_cond)?.cost;
        let step = self.infer(&loops.loop_step)?;
        // A list that grows is typed by what goes into it, and is as long as what is walked.
        let grown = match step.ty {
            Type::List { items, .. } => Type::List {
                items,
                most: range.ty.most(),
            },
            other => other,
        };
        if let Some(last) = self.names.last_mut() {
            last.1 = grown;
        }
        let result = self.infer(&loops.result);
        self.names.truncate(depth);
        let result = result?;
        let cost = range.cost + start.cost + size(range.ty) * (turn + step.cost) + result.cost;
        known(result.ty, cost)
    }

    fn call(&mut self, call: &CallExpr) -> Result<Known<'a>, Fault> {
        let name = call.func_name.as_str();
        let namespaced = call.target.as_deref().is_some_and(
            |target| matches!(&target.expr, Expr::Ident(space) if super::scope::is_namespace(space) && !self.has(space)),
        );
        let mut cost = 1.0;
        let target = match call.target.as_deref().filter(|_| !namespaced) {
            None => None,
            Some(target) => {
                let target = self.infer(target)?;
                cost += target.cost;
                Some(target.ty)
            }
        };
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            let arg = self.infer(arg)?;
            cost += arg.cost;
            args.push(arg.ty);
        }
        if namespaced {
            return known(Type::Dyn, cost);
        }
        let (ty, more) = operation(name, target, &args, call)?;
        known(ty, cost + more)
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|(other, _)| other == name)
    }
}

fn literal_type(literal: &LiteralValue) -> Type<'static> {
    match literal {
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Bytes(_) => Type::Bytes { most: 16 },
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::Null => Type::Null,
        LiteralValue::String(_) => Type::Text { most: 16 },
        LiteralValue::UInt(_) => Type::Uint,
    }
}

/// The type of a field, where the operand can have one of that name.
fn field<'a>(operand: Type<'a>, name: &str) -> Result<Type<'a>, Fault> {
    let undefined = || fault(format!("undefined field '{name}'"), format!(".{name}"));
    match operand {
        Type::Dyn | Type::Either { .. } | Type::Optional => Ok(Type::Dyn),
        Type::Map { .. } => Ok(operand.element()),
        Type::Metadata => match name {
            "name" | "generateName" => Ok(Type::Text { most: 256 }),
            _ => Err(undefined()),
        },
        Type::Object { schema, whole } => {
            if whole {
                match name {
                    "apiVersion" | "kind" => return Ok(Type::Text { most: 256 }),
                    "metadata" => return Ok(Type::Metadata),
                    _ => {}
                }
            }
            let declared = schema
                .properties
                .iter()
                .find(|(key, _)| escape(key).as_deref() == Some(name));
            match declared {
                Some((_, child)) => Ok(Type::of(child, child.embedded_resource)),
                None => Err(undefined()),
            }
        }
        other => Err(fault(
            format!("type '{}' does not support field selection", other.name()),
            format!(".{name}"),
        )),
    }
}

/// The type of a call, and what it costs beyond its operands.
fn operation<'a>(
    name: &str,
    target: Option<Type<'a>>,
    args: &[Type<'a>],
    call: &CallExpr,
) -> Result<(Type<'a>, f64), Fault> {
    let unfit = || {
        let names: Vec<String> = args.iter().map(|t| t.name()).collect();
        let applied = match target {
            None => format!("({})", names.join(", ")),
            Some(target) => format!("{}.({})", target.name(), names.join(", ")),
        };
        fault(
            format!("found no matching overload for '{name}' applied to '{applied}'"),
            symbol(name),
        )
    };
    let loose = |ty: Type<'_>| matches!(ty, Type::Dyn | Type::Either { .. } | Type::Optional);
    let walked = |types: &[Type<'_>]| types.iter().map(|t| size(*t)).sum::<f64>() * 0.1;
    let text = Type::Text { most: 256 };
    Ok(match (name, target, args) {
        ("_&&_" | "_||_", None, args) => {
            if let Some(wrong) = args.iter().find(|t| !t.fits(Type::Bool)) {
                let what = format!("expected type 'bool' but found '{}'", wrong.name());
                return Err(fault(what, "."));
            }
            (Type::Bool, 0.0)
        }
        ("!_", None, [one]) if one.fits(Type::Bool) => (Type::Bool, 0.0),
        ("@not_strictly_false", ..) => (Type::Bool, 0.0),
        ("_==_" | "_!=_", None, [left, right]) if left.fits(*right) => {
            (Type::Bool, 0.1 * size(*left).min(size(*right)))
        }
        ("_<_" | "_<=_" | "_>_" | "_>=_", None, [left, right]) => {
            let ordered = !matches!(left, Type::List { .. } | Type::Map { .. } | Type::Null);
            if (left.is_number() && right.is_number()) || (left.fits(*right) && ordered) {
                (Type::Bool, 0.1 * size(*left).min(size(*right)))
            } else {
                return Err(unfit());
            }
        }
        ("_+_" | "_-_" | "_*_" | "_/_" | "_%_", None, [left, right]) => match (*left, *right) {
            (a, b) if loose(a) || loose(b) => (Type::Dyn, 0.0),
            (a, b) if a.is_number() && a.fits(b) => (a, 0.0),
            (Type::Timestamp, Type::Timestamp) if name == "_-_" => (Type::Duration, 0.0),
            (Type::Timestamp, Type::Duration) if name != "_*_" => (Type::Timestamp, 0.0),
            (Type::Duration, ty @ (Type::Duration | Type::Timestamp)) => (ty, 0.0),
            (Type::Text { most: a }, Type::Text { most: b }) if name == "_+_" => {
                let most = a.saturating_add(b);
                (Type::Text { most }, walked(args))
            }
            (Type::Bytes { most: a }, Type::Bytes { most: b }) if name == "_+_" => {
                let most = a.saturating_add(b);
                (Type::Bytes { most }, walked(args))
            }
            (
                Type::List { items, most },
                Type::List {
                    items: other,
                    most: more,
                },
            ) if name == "_+_" => {
                let most = most.saturating_add(more);
                (
                    Type::List {
                        items: items.or(other),
                        most,
                    },
                    1.0,
                )
            }
            _ => return Err(unfit()),
        },
        ("-_", None, [one]) if loose(*one) || one.is_number() || *one == Type::Duration => {
            (*one, 0.0)
        }
        ("_?_:_", None, [condition, yes, no]) => {
            if !condition.fits(Type::Bool) || !yes.fits(*no) {
                return Err(unfit());
            }
            // Of a list that is still empty and one that is not, the second has the better type.
            let ty = if matches!(yes, Type::Null | Type::List { items: None, .. }) {
                *no
            } else {
                *yes
            };
            (ty, 0.0)
        }
        ("_[_]", None, [container, index]) => match *container {
            Type::List { .. } if index.fits(Type::Int) || index.is_number() => {
                (container.element(), 0.0)
            }
            Type::Map { .. } if index.fits(text) => (container.element(), 0.0),
            Type::Dyn | Type::Either { .. } | Type::Optional => (Type::Dyn, 0.0),
            // An object is a map to those who take it for one.
            Type::Object { .. } | Type::Metadata => (Type::Dyn, 0.0),
            _ => return Err(unfit()),
        },
        ("_[?_]" | "_?._", ..) => {
            if let ([operand, ..], Some(Expr::Literal(LiteralValue::String(field_name)))) =
                (args, call.args.get(1).map(|a| &a.expr))
                && name == "_?._"
            {
                field(*operand, field_name.inner())?;
            }
            (Type::Optional, 0.0)
        }
        ("@in", None, [item, container]) => match *container {
            Type::List { .. } if item.fits(container.element()) => (Type::Bool, size(*container)),
            Type::Map { .. } if item.fits(text) => (Type::Bool, 1.0),
            Type::Dyn | Type::Either { .. } | Type::Optional | Type::Object { .. } => {
                (Type::Bool, 1.0)
            }
            _ => return Err(unfit()),
        },
        ("startsWith" | "endsWith" | "contains" | "matches", Some(target), [arg]) => {
            if !target.fits(text) || !arg.fits(text) {
                return Err(unfit());
            }
            let cost = match name {
                "startsWith" | "endsWith" => 0.1 * size(*arg),
                _ => 0.1 * size(target) * (0.1 * size(*arg)).max(1.0),
            };
            (Type::Bool, cost)
        }
        ("size", ..) => (Type::Int, 0.0),
        // A type is compared by its name alone, however large the value is.
        ("type", None, [_]) => (Type::Text { most: 16 }, 0.0),
        (
            "int" | "indexOf" | "lastIndexOf" | "family" | "prefixLength" | "sign" | "asInteger"
            | "compareTo",
            ..,
        ) => (Type::Int, 0.0),
        ("double" | "asApproximateFloat", ..) => (Type::Double, 0.0),
        ("uint", ..) => (Type::Uint, 0.0),
        (
            "bool" | "hasValue" | "isSorted" | "isIP" | "isCIDR" | "isURL" | "isQuantity"
            | "isSemver" | "isInteger" | "isGreaterThan" | "isLessThan" | "containsIP"
            | "containsCIDR",
            ..,
        ) => (Type::Bool, walked(args)),
        (
            "string" | "lowerAscii" | "upperAscii" | "trim" | "substring" | "replace" | "join"
            | "charAt" | "format" | "find",
            ..,
        ) => {
            let most = target.map_or(256, Type::most);
            (Type::Text { most }, target.map_or(0.0, |t| 0.1 * size(t)))
        }
        ("bytes", ..) => (Type::Bytes { most: 256 }, 0.0),
        ("split" | "findAll", Some(target), _) => {
            let most = target.most();
            (Type::List { items: None, most }, 0.1 * size(target))
        }
        ("duration", ..) => (Type::Duration, 0.0),
        ("timestamp", ..) => (Type::Timestamp, 0.0),
        (operator, None, _) if operator.contains('_') && !operator.starts_with('@') => {
            return Err(unfit());
        }
        _ => (Type::Dyn, walked(args)),
    })
}

/// How an operator looks in the text.
fn symbol(name: &str) -> String {
    match name {
        "_?_:_" => "?".into(),
        "_[_]" => "[".into(),
        "@in" => "in".into(),
        name => name.trim_matches('_').to_owned(),
    }
}
