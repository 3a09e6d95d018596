//! Macros of the language that the parser does not know: comprehensions over two variables,
//! `sortBy`, `optMap` and `optFlatMap`. They become comprehensions, as in the Go implementation.
//!
//! The interpreter knows one variable only, so before an expression runs those of two become
//! comprehensions over pairs; and its `format.named` gives a format where it may give none.

use kube_cel::cel::IdedExpr;
use kube_cel::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, ListExpr, LiteralValue, MapExpr,
};

/// What a comprehension collects in.
const RESULT: &str = "@result";
/// The list that `sortBy` sorts.
const INPUT: &str = "@__sortBy_input__";
/// The name of a variable that has no values.
const UNUSED: &str = "#unused";

/// Whether a comprehension only gives a value a name.
pub(super) fn is_bind(loops: &ComprehensionExpr) -> bool {
    loops.iter_var == UNUSED
}

/// Expands the macros in an expression.
pub(super) fn expand(expression: &mut IdedExpr) -> Result<(), String> {
    each_part(expression, &mut expand)?;
    if let Expr::Call(call) = &mut expression.expr
        && let Some(made) = expanded(call)?
    {
        expression.expr = made;
    }
    Ok(())
}

fn each_part(
    expression: &mut IdedExpr,
    act: &mut impl FnMut(&mut IdedExpr) -> Result<(), String>,
) -> Result<(), String> {
    match &mut expression.expr {
        Expr::Call(call) => {
            if let Some(target) = call.target.as_deref_mut() {
                act(target)?;
            }
            call.args.iter_mut().try_for_each(act)
        }
        Expr::Comprehension(loops) => {
            act(&mut loops.iter_range)?;
            act(&mut loops.accu_init)?;
            act(&mut loops.loop_cond)?;
            act(&mut loops.loop_step)?;
            act(&mut loops.result)
        }
        Expr::List(list) => list.elements.iter_mut().try_for_each(act),
        Expr::Map(map) => map
            .entries
            .iter_mut()
            .try_for_each(|entry| match &mut entry.expr {
                EntryExpr::MapEntry(entry) => {
                    act(&mut entry.key)?;
                    act(&mut entry.value)
                }
                EntryExpr::StructField(field) => act(&mut field.value),
            }),
        Expr::Select(select) => act(&mut select.operand),
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => Ok(()),
    }
}

fn expanded(call: &mut CallExpr) -> Result<Option<Expr>, String> {
    let count = call.args.len();
    let name = call.func_name.as_str();
    let two = match name {
        "all" | "exists" | "exists_one" | "existsOne" => count == 3,
        "transformList" | "transformMap" | "transformMapEntry" => count == 3 || count == 4,
        _ => false,
    };
    let one = matches!(name, "sortBy" | "optMap" | "optFlatMap") && count == 2;
    if !(one || two) {
        return Ok(None);
    }
    let Some(target) = call.target.take() else {
        return Ok(None);
    };
    let name = std::mem::take(&mut call.func_name);
    let mut args = std::mem::take(&mut call.args).into_iter();
    let first = variable(args.next())?;
    if one {
        let body = args.next().unwrap_or_default();
        return Ok(Some(match name.as_str() {
            "sortBy" => sort_by(*target, first, body),
            _ => opt_map(*target, &first, body, name == "optMap"),
        }));
    }
    let second = variable(args.next())?;
    if first == second {
        return Err("duplicate variable name".into());
    }
    let (filter, body) = match (args.next(), args.next()) {
        (Some(filter), Some(body)) => (Some(filter), body),
        (body, _) => (None, body.unwrap_or_default()),
    };
    let mut loops = ComprehensionExpr {
        iter_range: *target,
        iter_var: first.clone(),
        iter_var2: Some(second),
        accu_var: RESULT.into(),
        result: ident(RESULT),
        loop_cond: boolean(true),
        ..ComprehensionExpr::default()
    };
    let grown = match name.as_str() {
        "all" => {
            loops.accu_init = boolean(true);
            loops.loop_cond = function("@not_strictly_false", vec![ident(RESULT)]);
            function("_&&_", vec![ident(RESULT), body])
        }
        "exists" => {
            loops.accu_init = boolean(false);
            let not = function("!_", vec![ident(RESULT)]);
            loops.loop_cond = function("@not_strictly_false", vec![not]);
            function("_||_", vec![ident(RESULT), body])
        }
        "transformList" => {
            loops.accu_init = of(Expr::List(ListExpr::new(Vec::new())));
            let made = of(Expr::List(ListExpr::new(vec![body])));
            function("_+_", vec![ident(RESULT), made])
        }
        "transformMap" => {
            loops.accu_init = of(Expr::Map(MapExpr::default()));
            function("@mapInsert", vec![ident(RESULT), ident(&first), body])
        }
        "transformMapEntry" => {
            loops.accu_init = of(Expr::Map(MapExpr::default()));
            function("@mapMerge", vec![ident(RESULT), body])
        }
        _ => {
            loops.accu_init = integer(0);
            loops.result = function("_==_", vec![ident(RESULT), integer(1)]);
            let more = function("_+_", vec![ident(RESULT), integer(1)]);
            function("_?_:_", vec![body, more, ident(RESULT)])
        }
    };
    loops.loop_step = match filter {
        Some(filter) => function("_?_:_", vec![filter, grown, ident(RESULT)]),
        None => grown,
    };
    Ok(Some(Expr::Comprehension(Box::new(loops))))
}

/// `list.sortBy(x, by)`: the list gets a name, its keys are made, and both are sorted together.
fn sort_by(list: IdedExpr, variable: String, by: IdedExpr) -> Expr {
    let step = vec![ident(RESULT), of(Expr::List(ListExpr::new(vec![by])))];
    let keys = of(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: ident(INPUT),
        iter_var: variable,
        iter_var2: None,
        accu_var: RESULT.into(),
        accu_init: of(Expr::List(ListExpr::new(Vec::new()))),
        loop_cond: boolean(true),
        loop_step: function("_+_", step),
        result: ident(RESULT),
    })));
    let sorted = method(ident(INPUT), "@sortByAssociatedKeys", vec![keys]);
    bind(INPUT, list, sorted)
}

/// `value.optMap(x, made)`: nothing of nothing, and what is made of what is there.
fn opt_map(value: IdedExpr, variable: &str, made: IdedExpr, wraps: bool) -> Expr {
    let there = method(value.clone(), "hasValue", Vec::new());
    let inner = method(value, "value", Vec::new());
    let bound = of(bind(variable, inner, made));
    let some = if wraps {
        method(ident("optional"), "of", vec![bound])
    } else {
        bound
    };
    let none = method(ident("optional"), "none", Vec::new());
    function("_?_:_", vec![there, some, none]).expr
}

/// A value under a name: a comprehension that makes no turn.
fn bind(name: &str, value: IdedExpr, result: IdedExpr) -> Expr {
    Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: of(Expr::List(ListExpr::new(Vec::new()))),
        iter_var: UNUSED.into(),
        iter_var2: None,
        accu_var: name.into(),
        accu_init: value,
        loop_cond: boolean(false),
        loop_step: ident(name),
        result,
    }))
}

fn variable(expression: Option<IdedExpr>) -> Result<String, String> {
    match expression.map(|e| e.expr) {
        Some(Expr::Ident(name)) => Ok(name),
        _ => Err("argument must be a simple name".into()),
    }
}

fn of(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

fn ident(name: &str) -> IdedExpr {
    of(Expr::Ident(name.into()))
}

fn boolean(value: bool) -> IdedExpr {
    of(Expr::Literal(LiteralValue::Boolean(value.into())))
}

fn integer(value: i64) -> IdedExpr {
    of(Expr::Literal(LiteralValue::Int(value.into())))
}

fn function(name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    of(Expr::Call(CallExpr {
        func_name: name.into(),
        target: None,
        args,
    }))
}

fn method(target: IdedExpr, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    of(Expr::Call(CallExpr {
        func_name: name.into(),
        target: Some(Box::new(target)),
        args,
    }))
}

/// Makes of an expression one that the interpreter can run.
pub(super) fn lower(expression: &mut IdedExpr) {
    let mut count = 0;
    lower_from(expression, &mut count);
}

fn lower_from(expression: &mut IdedExpr, count: &mut usize) {
    let _ = each_part(expression, &mut |part| {
        lower_from(part, count);
        Ok(())
    });
    if let Expr::Call(call) = &mut expression.expr
        && let Some(format) = named_format(call)
    {
        expression.expr = format;
    }
    let Expr::Comprehension(loops) = &mut expression.expr else {
        return;
    };
    let Some(second) = loops.iter_var2.take() else {
        return;
    };
    let pair = format!("@pair{count}");
    *count += 1;
    let first = std::mem::replace(&mut loops.iter_var, pair.clone());
    let range = std::mem::take(&mut loops.iter_range);
    loops.iter_range = function("@pairs", vec![range]);
    for (name, at) in [(first, 0), (second, 1)] {
        for part in [&mut loops.loop_cond, &mut loops.loop_step] {
            put(part, &name, &pair, at);
        }
    }
}

/// `format.named('uuid')` as `optional.of(format.uuid())`, where the name is written out.
fn named_format(call: &CallExpr) -> Option<Expr> {
    let space = call.target.as_deref()?;
    let named = call.func_name == "named" && space.expr == Expr::Ident("format".into());
    let (
        true,
        [
            IdedExpr {
                expr: Expr::Literal(LiteralValue::String(name)),
                ..
            },
        ],
    ) = (named, &call.args[..])
    else {
        return None;
    };
    let name = name.inner();
    let (func_name, args) = if super::scope::is_namespaced(&format!("format.{name}")) {
        ("of", vec![method(space.clone(), name, Vec::new())])
    } else {
        ("none", Vec::new())
    };
    Some(method(ident("optional"), func_name, args).expr)
}

/// Puts a half of a pair in the place of a name, where nothing else has taken that name.
fn put(expression: &mut IdedExpr, name: &str, pair: &str, at: i64) {
    match &mut expression.expr {
        Expr::Ident(found) if found == name => {
            *expression = function("_[_]", vec![ident(pair), integer(at)]);
        }
        Expr::Comprehension(loops) => {
            put(&mut loops.iter_range, name, pair, at);
            put(&mut loops.accu_init, name, pair, at);
            let taken = loops.iter_var == name || loops.accu_var == name;
            if !taken {
                put(&mut loops.loop_cond, name, pair, at);
                put(&mut loops.loop_step, name, pair, at);
            }
            if loops.accu_var != name {
                put(&mut loops.result, name, pair, at);
            }
        }
        _ => {
            let _ = each_part(expression, &mut |part| {
                put(part, name, pair, at);
                Ok(())
            });
        }
    }
}
