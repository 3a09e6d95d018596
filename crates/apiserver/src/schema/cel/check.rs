//! A look at an expression before it ever runs: which type each part has, and whether operands fit.
//! Only what is certainly wrong is refused; what this does not know is dynamic, and is judged when
//! it runs. What calls give is in [`super::calls`].

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue};

use super::calls::operation;
use super::escape::escape;
use super::types::{Item, Type, Types};
use crate::schema::Schema;

/// A fault, and the text in the expression where it shows.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) what: String,
    pub(super) near: String,
}

pub(super) fn fault(what: impl Into<String>, near: impl Into<String>) -> Fault {
    Fault {
        what: what.into(),
        near: near.into(),
    }
}

/// The names that an expression may use.
struct Scope<'a> {
    names: Vec<(String, Type<'a>)>,
    types: Types<'a>,
}

/// Types an expression at a node, and every part of it.
pub(super) fn check<'a>(
    expression: &IdedExpr,
    schema: &'a Schema,
    whole: bool,
    optional_old: bool,
) -> Result<(Type<'a>, Types<'a>), Fault> {
    let own = Type::of(schema, whole);
    let old = if optional_old {
        let of = Item::from(own);
        Type::Optional { of }
    } else {
        own
    };
    let names = vec![("self".to_owned(), own), ("oldSelf".to_owned(), old)];
    let types = Types::default();
    let mut scope = Scope { names, types };
    let ty = scope.infer(expression)?;
    Ok((ty, scope.types))
}

impl<'a> Scope<'a> {
    fn infer(&mut self, expression: &IdedExpr) -> Result<Type<'a>, Fault> {
        let ty = self.type_of(expression)?;
        self.types.set(expression, ty);
        Ok(ty)
    }

    fn type_of(&mut self, expression: &IdedExpr) -> Result<Type<'a>, Fault> {
        match &expression.expr {
            Expr::Unspecified | Expr::Struct(_) => Ok(Type::Dyn),
            Expr::Literal(literal) => Ok(literal_type(literal)),
            Expr::Ident(name) => {
                let found = self.names.iter().rev().find(|(other, _)| other == name);
                Ok(found.map_or(Type::Dyn, |(_, ty)| *ty))
            }
            Expr::Select(select) => {
                let operand = self.infer(&select.operand)?;
                let ty = field(operand, &select.field)?;
                Ok(if select.test { Type::Bool } else { ty })
            }
            Expr::List(list) => {
                let mut items = None;
                for element in &list.elements {
                    let item = Item::from(self.infer(element)?);
                    items = common(items, item);
                }
                let items = items.unwrap_or(Item::Unknown);
                Ok(Type::List { items })
            }
            Expr::Map(map) => {
                let mut values = None;
                for entry in &map.entries {
                    match &entry.expr {
                        EntryExpr::MapEntry(entry) => {
                            self.infer(&entry.key)?;
                            let value = Item::from(self.infer(&entry.value)?);
                            values = common(values, value);
                        }
                        EntryExpr::StructField(field) => {
                            self.infer(&field.value)?;
                        }
                    }
                }
                let values = values.unwrap_or(Item::Unknown);
                Ok(Type::Map { values })
            }
            Expr::Comprehension(loops) => self.comprehension(loops),
            Expr::Call(call) => self.call(call),
        }
    }

    fn comprehension(&mut self, loops: &ComprehensionExpr) -> Result<Type<'a>, Fault> {
        let range = self.infer(&loops.iter_range)?;
        let (key, value) = match range {
            Type::List { .. } if loops.iter_var2.is_some() => (Type::Int, range.element()),
            Type::List { .. } => (range.element(), Type::Dyn),
            Type::Map { .. } => (Type::Text, range.element()),
            Type::Dyn | Type::Object { .. } | Type::Metadata | Type::Optional { .. } => {
                (Type::Dyn, Type::Dyn)
            }
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
        self.names.push((loops.accu_var.clone(), start));
        self.names.push((loops.iter_var.clone(), key));
        if let Some(second) = &loops.iter_var2 {
            self.names.push((second.clone(), value));
        }
        self.infer(&loops.loop_cond)?;
        let step = self.infer(&loops.loop_step)?;
        // What is collected is typed by what goes into it; a name for a value keeps its type.
        if !super::macros::is_bind(loops) {
            self.names[depth].1 = step;
        }
        self.names.truncate(depth + 1);
        let result = self.infer(&loops.result);
        self.names.truncate(depth);
        result
    }

    fn call(&mut self, call: &CallExpr) -> Result<Type<'a>, Fault> {
        let name = call.func_name.as_str();
        let target = match call.target.as_deref() {
            None => None,
            Some(target) => {
                let hidden = matches!(&target.expr, Expr::Ident(name) if self.has(name));
                if !hidden && self.types.note_space(target) {
                    None
                } else {
                    Some(self.infer(target)?)
                }
            }
        };
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            args.push(self.infer(arg)?);
        }
        let space = call.target.as_deref().and_then(|t| self.types.namespace(t));
        if let Some(space) = space {
            return Ok(super::calls::of_space(&format!("{space}.{name}"), &args));
        }
        operation(name, target, &args, call)
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|(other, _)| other == name)
    }
}

/// The type of the elements of a literal, so far.
fn common<'a>(so_far: Option<Item<'a>>, next: Item<'a>) -> Option<Item<'a>> {
    match so_far {
        None => Some(next),
        Some(known) if known == next => Some(known),
        Some(_) => Some(Item::Unknown),
    }
}

fn literal_type(literal: &LiteralValue) -> Type<'static> {
    match literal {
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Bytes(_) => Type::Bytes,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::Null => Type::Null,
        LiteralValue::String(_) => Type::Text,
        LiteralValue::UInt(_) => Type::Uint,
    }
}

/// The type of a field, where the operand can have one of that name.
pub(super) fn field<'a>(operand: Type<'a>, name: &str) -> Result<Type<'a>, Fault> {
    let undefined = || fault(format!("undefined field '{name}'"), format!(".{name}"));
    match operand {
        Type::Dyn => Ok(Type::Dyn),
        // What is selected from what may be absent may be absent too.
        Type::Optional { .. } => {
            let of = Item::from(field(operand.element(), name)?);
            Ok(Type::Optional { of })
        }
        Type::Map { .. } => Ok(operand.element()),
        Type::Metadata => match name {
            "name" | "generateName" => Ok(Type::Text),
            _ => Err(undefined()),
        },
        Type::Object { schema, whole } => {
            if whole {
                match name {
                    "apiVersion" | "kind" => return Ok(Type::Text),
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
