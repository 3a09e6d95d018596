//! Which expressions have a proof: those of which every part is known here.

use std::sync::Arc;

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::operators::{
    ADD, CONDITIONAL, EQUALS, GREATER, GREATER_EQUALS, IN, INDEX, LESS, LESS_EQUALS, LOGICAL_AND,
    LOGICAL_NOT, LOGICAL_OR, NOT_EQUALS, NOT_STRICTLY_FALSE,
};
use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, Expr, LiteralValue};

use super::value::is_plain;
use super::{Comparison, Loop, Names, Proof, Step};
use crate::schema::cel::cost::{SIZED, TURN};
use crate::schema::cel::library::TYPE_NAMES;
use crate::schema::cel::pattern;
use crate::schema::cel::scope::is_namespace;

/// The deepest expression that is worth a proof, so that it needs no stack of its own.
const MAX_DEPTH: usize = 64;

impl Proof {
    /// The proof of an expression that counts its cost, if it can have one.
    pub(in super::super) fn of(
        expression: &IdedExpr,
        depth: usize,
        names: &mut Names,
    ) -> Option<Self> {
        if depth > MAX_DEPTH {
            return None;
        }
        let locals = Vec::new();
        step(expression, &mut Scope { locals, names }).map(Self)
    }

    /// The short way to the value of an expression over these variables, which have no types.
    pub(in super::super) fn over(
        expression: &IdedExpr,
        depth: usize,
        variables: &[&str],
    ) -> Option<Self> {
        if depth > MAX_DEPTH {
            return None;
        }
        let (locals, mut names) = (variables.to_vec(), Names::default());
        let names = &mut names;
        step(expression, &mut Scope { locals, names }).map(Self)
    }
}

/// What is known around a part of an expression.
struct Scope<'e, 'n> {
    /// The variables without types, and those of the loops around, from the outermost.
    locals: Vec<&'e str>,
    /// The fields of `self` that were named so far.
    names: &'n mut Names,
}

fn step<'e>(expression: &'e IdedExpr, scope: &mut Scope<'e, '_>) -> Option<Step> {
    Some(match &expression.expr {
        Expr::Literal(LiteralValue::Boolean(yes)) => Step::Bool(*yes.inner()),
        Expr::Literal(LiteralValue::Int(number)) => Step::Int(*number.inner()),
        Expr::Literal(LiteralValue::String(text)) => Step::Text(text.inner().to_owned()),
        Expr::Ident(name) => variable(name, &scope.locals)?,
        Expr::Select(select) => {
            if !is_plain(&select.field) {
                return None;
            }
            let operand = step(&select.operand, scope)?;
            let field = select.field.clone();
            match (operand, select.test) {
                (Step::New, true) => Step::HasOwn(scope.names.place(field)),
                (Step::New, false) => Step::OwnField(scope.names.place(field)),
                (operand, true) => Step::Has(Box::new(operand), field),
                (operand, false) => Step::Field(Box::new(operand), field),
            }
        }
        Expr::List(list) if list.optional_indices.is_empty() => {
            let elements = list.elements.iter();
            let elements: Option<_> = elements.map(|one| step(one, scope)).collect();
            Step::List(elements?)
        }
        Expr::Call(call) => called(call, scope)?,
        Expr::Comprehension(loops) => Step::Loop(Box::new(looped(loops, scope)?)),
        Expr::Literal(_) | Expr::List(_) | Expr::Map(_) | Expr::Struct(_) | Expr::Unspecified => {
            return None;
        }
    })
}

fn variable(name: &str, locals: &[&str]) -> Option<Step> {
    if let Some(place) = locals.iter().rposition(|local| *local == name) {
        return Some(Step::Local(place));
    }
    match name {
        "self" => Some(Step::New),
        "oldSelf" => Some(Step::Old),
        name if TYPE_NAMES.contains(&name) => Some(Step::Text(name.to_owned())),
        _ => None,
    }
}

fn called<'e>(call: &'e CallExpr, scope: &mut Scope<'e, '_>) -> Option<Step> {
    let target = call.target.as_deref();
    // The function of a namespace goes before that of a variable with the same name.
    if let Some(Expr::Ident(name)) = target.map(|target| &target.expr)
        && is_namespace(name)
    {
        return None;
    }
    let name = call.func_name.as_str();
    let operands: Vec<&IdedExpr> = target.into_iter().chain(&call.args).collect();
    match (target.is_some(), operands.as_slice()) {
        (false, [one]) => {
            let one = Box::new(step(one, scope)?);
            Some(match name {
                LOGICAL_NOT => Step::Not(one),
                // Errors, for which this is there, have no proof.
                NOT_STRICTLY_FALSE => *one,
                SIZED => Step::Sized(one),
                "size" => Step::Size(one),
                "type" => Step::TypeOf(one),
                _ => return None,
            })
        }
        (true, [one]) if name == "size" => Some(Step::Size(Box::new(step(one, scope)?))),
        (false, [condition, units]) if name == TURN => {
            let Expr::Literal(LiteralValue::Int(units)) = &units.expr else {
                return None;
            };
            let condition = Box::new(step(condition, scope)?);
            Some(Step::Turn(condition, units.inner().unsigned_abs()))
        }
        (true, [text, pattern]) if name == "matches" => {
            let Expr::Literal(LiteralValue::String(pattern)) = &pattern.expr else {
                return None;
            };
            let pattern = pattern::compiled(&Arc::new(pattern.inner().to_owned())).ok()?;
            Some(Step::Matches(Box::new(step(text, scope)?), pattern))
        }
        (true, [text, part]) => {
            let question: fn(&str, &str) -> bool = match name {
                "startsWith" => |text, part| text.starts_with(part),
                "endsWith" => |text, part| text.ends_with(part),
                "contains" => |text, part| text.contains(part),
                _ => return None,
            };
            let two = Box::new([step(text, scope)?, step(part, scope)?]);
            Some(Step::Texts(question, two))
        }
        (false, [left, right]) => {
            let two = Box::new([step(left, scope)?, step(right, scope)?]);
            operation(name, two)
        }
        (false, [condition, yes, no]) if name == CONDITIONAL => {
            let three = [condition, yes, no].map(|one| step(one, scope));
            let [Some(condition), Some(yes), Some(no)] = three else {
                return None;
            };
            Some(Step::Choice(Box::new([condition, yes, no])))
        }
        _ => None,
    }
}

fn operation(name: &str, two: Box<[Step; 2]>) -> Option<Step> {
    let compare = |how: Comparison, two| Step::Compare(how, two);
    Some(match name {
        LOGICAL_AND => Step::And(two),
        LOGICAL_OR => Step::Or(two),
        EQUALS => Step::Equal(two),
        NOT_EQUALS => Step::Unequal(two),
        LESS => compare(i64::lt, two),
        LESS_EQUALS => compare(i64::le, two),
        GREATER => compare(i64::gt, two),
        GREATER_EQUALS => compare(i64::ge, two),
        ADD => Step::Add(two),
        IN => Step::In(two),
        INDEX => Step::Index(two),
        _ => return None,
    })
}

fn looped<'e>(loops: &'e ComprehensionExpr, scope: &mut Scope<'e, '_>) -> Option<Loop> {
    if loops.iter_var2.is_some() {
        return None;
    }
    let range = step(&loops.iter_range, scope)?;
    let begin = step(&loops.accu_init, scope)?;
    scope.locals.push(&loops.accu_var);
    scope.locals.push(&loops.iter_var);
    let inner = [&loops.loop_cond, &loops.loop_step, &loops.result].map(|part| step(part, scope));
    scope.locals.truncate(scope.locals.len() - 2);
    let [Some(condition), Some(step), Some(result)] = inner else {
        return None;
    };
    Some(Loop {
        range,
        begin,
        condition,
        step,
        result,
    })
}
