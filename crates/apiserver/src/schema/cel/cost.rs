//! What running a rule costs, and a stop to rules that cost too much.
//!
//! The interpreter knows no cost, so the expression is made to say it: every turn of a loop and
//! every operand whose length counts passes through a function of ours that adds to a counter.
//! One unit is about one step of the interpreter, as upstream; the counts are near, not equal.

use std::cell::Cell;

use kube_cel::cel::common::ast::{CallExpr, EntryExpr, Expr, LiteralValue};
use kube_cel::cel::{Context, ExecutionError, IdedExpr, Value};

/// What one evaluation of one rule may cost, as upstream.
pub(super) const PER_CALL: u64 = 1_000_000;
/// What all rules together may cost on one object, as upstream.
pub(super) const PER_OBJECT: u64 = 10_000_000;

/// The deepest expression that is taken, as upstream.
pub(super) const MAX_DEPTH: usize = 250;

pub(super) const TURN: &str = "@turn";
pub(super) const SIZED: &str = "@sized";

/// Functions that look at every character or item of their operands.
const BY_SIZE: [&str; 24] = [
    "_+_",
    "_==_",
    "_!=_",
    "_<_",
    "_<=_",
    "_>_",
    "_>=_",
    "@in",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "find",
    "findAll",
    "replace",
    "split",
    "join",
    "indexOf",
    "lastIndexOf",
    "lowerAscii",
    "upperAscii",
    "trim",
    "reverse",
    "sort",
];

thread_local! {
    static SPENT: Cell<u64> = const { Cell::new(0) };
}

fn spend(units: u64) -> Result<(), ExecutionError> {
    let spent = SPENT.get().saturating_add(units);
    SPENT.set(spent);
    if spent > PER_CALL {
        let why = "operation cancelled: actual cost limit exceeded";
        return Err(ExecutionError::function_error("cost", why));
    }
    Ok(())
}

/// What evaluating cost, and whether it was too much.
pub(super) fn measured<T>(base: u64, evaluate: impl FnOnce() -> T) -> (T, u64) {
    SPENT.set(base);
    let result = evaluate();
    (result, SPENT.get())
}

/// Teaches the interpreter the functions that count.
pub(super) fn register(library: &mut Context<'static>) {
    library.add_function(TURN, |goes_on: Value, units: i64| {
        spend(units.unsigned_abs())?;
        Ok::<_, ExecutionError>(goes_on)
    });
    library.add_function(SIZED, |value: Value| {
        spend(length(&value) / 10)?;
        Ok::<_, ExecutionError>(value)
    });
}

fn length(value: &Value) -> u64 {
    let length = match value {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.len().saturating_mul(10),
        Value::Map(map) => map.map.len().saturating_mul(10),
        _ => 0,
    };
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// The size of an expression before it is instrumented.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    /// What running each part of it once costs.
    pub(super) nodes: u64,
    /// How deep it nests.
    pub(super) depth: usize,
}

/// Makes an expression count its cost.
pub(super) fn instrument(expression: &mut IdedExpr) -> Size {
    let mut size = Size::default();
    let mut add = |part: &mut IdedExpr| {
        let below = instrument(part);
        size.nodes += below.nodes;
        size.depth = size.depth.max(below.depth);
        below
    };
    match &mut expression.expr {
        Expr::Call(call) => {
            let by_size = BY_SIZE.contains(&call.func_name.as_str());
            for part in call
                .target
                .iter_mut()
                .map(Box::as_mut)
                .chain(&mut call.args)
            {
                add(part);
                let plain = match &part.expr {
                    Expr::Literal(_) => true,
                    // A namespace such as `sets` in `sets.contains()` is no value.
                    Expr::Ident(name) => super::scope::is_namespace(name),
                    _ => false,
                };
                if by_size && !plain {
                    wrap(part, SIZED, None);
                }
            }
        }
        Expr::Comprehension(loops) => {
            add(&mut loops.iter_range);
            add(&mut loops.accu_init);
            let condition = add(&mut loops.loop_cond).nodes;
            let step = add(&mut loops.loop_step).nodes;
            add(&mut loops.result);
            wrap(&mut loops.loop_cond, TURN, Some(condition + step));
        }
        Expr::List(list) => list.elements.iter_mut().for_each(|one| {
            add(one);
        }),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                match &mut entry.expr {
                    EntryExpr::MapEntry(entry) => {
                        add(&mut entry.key);
                        add(&mut entry.value);
                    }
                    EntryExpr::StructField(field) => {
                        add(&mut field.value);
                    }
                }
            }
        }
        Expr::Select(select) => {
            add(&mut select.operand);
        }
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) | Expr::Struct(_) => {}
    }
    Size {
        nodes: size.nodes + weight(expression),
        depth: size.depth + 1,
    }
}

/// What a step costs beside its operands and their sizes.
fn weight(expression: &IdedExpr) -> u64 {
    match &expression.expr {
        Expr::Unspecified | Expr::Literal(_) | Expr::Comprehension(_) => 0,
        Expr::Select(select) => u64::from(!select.test),
        Expr::Call(call) => u64::from(!matches!(&*call.func_name, "_&&_" | "_||_" | "_?_:_")),
        Expr::Ident(_) => 1,
        Expr::List(_) => 10,
        Expr::Map(_) | Expr::Struct(_) => 30,
    }
}

fn wrap(part: &mut IdedExpr, function: &str, units: Option<u64>) {
    let inner = std::mem::take(part);
    let units = units.map(|units| IdedExpr {
        id: 0,
        expr: Expr::Literal(LiteralValue::Int(
            i64::try_from(units).unwrap_or(i64::MAX).into(),
        )),
    });
    part.expr = Expr::Call(CallExpr {
        func_name: function.to_string(),
        target: None,
        args: std::iter::once(inner).chain(units).collect(),
    });
}

/// Whether the text of an expression nests, or is, too much for the parser, which has no bound of
/// its own and only the stack.
pub(super) fn check_text(text: &str) -> Result<(), String> {
    const LONGEST: usize = 32 * 1024;
    if text.len() > LONGEST {
        return Err(format!("expression is longer than {LONGEST} bytes"));
    }
    let (mut depth, mut choices, mut chain) = (0_usize, 0_usize, 0_usize);
    let bytes = text.as_bytes();
    let mut place = 0;
    while let Some(c) = bytes.get(place) {
        match c {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'?' => choices += 1,
            b'+' | b'-' | b'*' | b'/' | b'%' | b'.' | b'!' | b'<' | b'>' | b'=' | b'&' | b'|' => {
                chain += 1;
            }
            b'"' | b'\'' => place = end_of_string(bytes, place),
            _ => {}
        }
        if depth > MAX_DEPTH || choices > MAX_DEPTH || chain > 20 * MAX_DEPTH {
            return Err(format!("expression recursion limit exceeded: {MAX_DEPTH}"));
        }
        place += 1;
    }
    Ok(())
}

/// The place of the last byte of the string that begins with the quote at `start`; that quote
/// itself when the string has no end, so that what follows counts.
pub(super) fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let quote = bytes[start];
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let word = bytes[..start]
        .iter()
        .rev()
        .take_while(|b| is_name(b))
        .count();
    let prefix = bytes[start - word..start].to_ascii_lowercase();
    let is_raw = matches!(&prefix[..], b"r" | b"br" | b"rb");
    let is_long = bytes[start..].starts_with(&[quote; 3]);
    let end: &[u8] = if is_long { &[quote; 3] } else { &[quote] };
    let mut place = start + end.len();
    while let Some(c) = bytes.get(place) {
        match c {
            b'\\' if !is_raw => place += 1,
            b'\n' | b'\r' if !is_long => return start,
            _ if bytes[place..].starts_with(end) => return place + end.len() - 1,
            _ => {}
        }
        place += 1;
    }
    start
}

/// Refuses what nests too deep to be evaluated.
pub(super) fn check_depth(size: Size) -> Result<(), String> {
    if size.depth > MAX_DEPTH {
        return Err(format!("expression recursion limit exceeded: {MAX_DEPTH}"));
    }
    Ok(())
}

/// Runs with enough stack for any expression that the checks let through.
pub(super) fn with_stack<T>(run: impl FnOnce() -> T) -> T {
    const STACK: usize = 256 * 1024 * 1024;
    stacker::grow(STACK, run)
}

/// Runs with enough stack to evaluate an expression of this depth; most need none of their own.
pub(super) fn with_stack_for<T>(depth: usize, run: impl FnOnce() -> T) -> T {
    if depth > 16 { with_stack(run) } else { run() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_neither_count_nor_hide_others() {
        let many = "(".repeat(MAX_DEPTH + 1);
        for fine in [
            format!("'{many}'"),
            format!(r"'\'{many}'"),
            format!("'''it's\n{many}'''"),
            format!(r"r'\' + '{many}'"),
        ] {
            assert_eq!(check_text(&fine), Ok(()), "{fine}");
        }
        for deep in [
            many.clone(),
            format!(r"'\'' + {many}"),
            format!(r#""\"" + {many}"#),
            format!(r"r'\' + {many}"),
            format!(r"bar'\'' + {many}"),
            format!("'''it's''' + {many}"),
            format!("'no end {many}"),
            "(')' + ".repeat(MAX_DEPTH + 1),
        ] {
            assert!(check_text(&deep).is_err(), "{deep}");
        }
    }
}
