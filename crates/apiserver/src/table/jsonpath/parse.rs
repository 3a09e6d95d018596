//! The text of a path.

use serde_json::Value;

use super::{Filter, JsonPathError, Operator, Slice, Step};

type Parsed<T> = Result<T, JsonPathError>;

fn fault<T>(text: impl Into<String>) -> Parsed<T> {
    Err(JsonPathError::Syntax(text.into()))
}

/// The steps of a path, or the constant of a filter's operand.
pub(super) fn path(text: &str) -> Parsed<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = match c {
            // The root and the current object are where a path begins anyway.
            ' ' | '@' | '$' => &rest[1..],
            '.' if rest.starts_with("..") => {
                if steps.last() == Some(&Step::Recursive) {
                    return fault("invalid multiple recursive descent");
                }
                steps.push(Step::Recursive);
                match rest[2..].chars().next() {
                    Some(c) if c.is_alphanumeric() || c == '_' => field(&rest[2..], &mut steps),
                    _ => &rest[2..],
                }
            }
            '.' => field(&rest[1..], &mut steps),
            '[' if rest.starts_with("[?(") => filter(&rest[3..], &mut steps)?,
            '[' => brackets(&rest[1..], &mut steps)?,
            '"' | '\'' => quoted(&rest[1..], c, &mut steps)?,
            '+' | '-' | '0'..='9' => number(rest, &mut steps)?,
            c if c.is_alphabetic() || c == '_' => word(rest, &mut steps)?,
            c => return fault(format!("unrecognized character in action: {c:?}")),
        };
    }
    Ok(steps)
}

fn is_end(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}'
    )
}

/// A field name up to the next unescaped mark; a backslash makes a mark part of the name.
fn field<'t>(text: &'t str, steps: &mut Vec<Step>) -> &'t str {
    let mut name = String::new();
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            c if is_end(c) => {
                end = at;
                break;
            }
            c => name.push(c),
        }
    }
    steps.push(match name.as_str() {
        "*" => Step::Wildcard,
        _ => Step::Field(name),
    });
    &text[end..]
}

/// What stands between brackets: a quoted key, an index, a slice, or several of them.
fn brackets<'t>(text: &'t str, steps: &mut Vec<Step>) -> Parsed<&'t str> {
    let Some((inner, rest)) = text.split_once(']') else {
        return fault("unterminated array");
    };
    if inner.contains(',') {
        let paths = inner
            .split(',')
            .map(|part| path(&format!("[{}]", part.trim())))
            .collect::<Parsed<Vec<_>>>()?;
        steps.push(Step::Union(paths));
        return Ok(rest);
    }
    let key = ['\'', '"']
        .into_iter()
        .find_map(|mark| inner.strip_prefix(mark)?.strip_suffix(mark));
    if let Some(key) = key {
        let after = field(key, steps);
        // Dots inside the quotes that are not escaped lead further, as upstream reads them.
        steps.extend(path(after)?);
        return Ok(rest);
    }
    if inner == "*" {
        steps.push(Step::Slice(Slice {
            start: None,
            end: None,
            step: None,
            single: false,
        }));
        return Ok(rest);
    }
    let parts: Vec<&str> = inner.split(':').collect();
    let bound = |at: usize| match parts.get(at).copied().unwrap_or_default() {
        "" => Ok(None),
        text => match text.parse() {
            Ok(index) => Ok(Some(index)),
            Err(_) => fault(format!("invalid array index {inner}")),
        },
    };
    if parts.len() > 3 || inner.is_empty() {
        return fault(format!("invalid array index {inner}"));
    }
    steps.push(Step::Slice(Slice {
        start: bound(0)?,
        end: bound(1)?,
        step: bound(2)?,
        single: parts.len() == 1,
    }));
    Ok(rest)
}

/// A filter from after its `[?(` to after its `)]`.
fn filter<'t>(text: &'t str, steps: &mut Vec<Step>) -> Parsed<&'t str> {
    let mut quote = None;
    let mut escaped = false;
    let mut end = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(mark), c) if c == mark && !escaped => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ')') => {
                end = Some(at);
                break;
            }
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    let Some(end) = end else {
        return fault("unterminated filter");
    };
    let Some(rest) = text[end + 1..].strip_prefix(']') else {
        return fault("unclosed array expect ]");
    };
    let inner = &text[..end];
    let is_mark = |c: char| matches!(c, '!' | '<' | '>' | '=');
    let compare = match inner.find(is_mark).filter(|at| *at > 0) {
        None => None,
        Some(at) => {
            let after = inner[at..].trim_start_matches(is_mark);
            let operator = match &inner[at..inner.len() - after.len()] {
                "==" => Operator::Equal,
                "!=" => Operator::NotEqual,
                "<" => Operator::Less,
                "<=" => Operator::LessEqual,
                ">" => Operator::Greater,
                ">=" => Operator::GreaterEqual,
                other => return fault(format!("unrecognized filter operator {other}")),
            };
            if after.trim().is_empty() {
                return fault("a comparison needs two sides");
            }
            Some((at, operator, path(after)?))
        }
    };
    let (left, compare) = match compare {
        Some((at, operator, right)) => (path(&inner[..at])?, Some((operator, right))),
        None => (path(inner)?, None),
    };
    steps.push(Step::Filter(Box::new(Filter { left, compare })));
    Ok(rest)
}

fn quoted<'t>(text: &'t str, mark: char, steps: &mut Vec<Step>) -> Parsed<&'t str> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == mark => {
                steps.push(Step::Literal(Value::String(out)));
                return Ok(&text[at + 1..]);
            }
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(c) => out.push(c),
                None => break,
            },
            c => out.push(c),
        }
    }
    fault("unterminated quoted string")
}

fn number<'t>(text: &'t str, steps: &mut Vec<Step>) -> Parsed<&'t str> {
    let signless = text.trim_start_matches(['+', '-']);
    let rest = signless.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let digits = text[..text.len() - rest.len()].trim_start_matches('+');
    let value = match (digits.parse::<i64>(), digits.parse::<f64>()) {
        (Ok(whole), _) => Value::from(whole),
        (_, Ok(float)) => Value::from(float),
        _ => return fault(format!("cannot parse number {digits}")),
    };
    steps.push(Step::Literal(value));
    Ok(rest)
}

fn word<'t>(text: &'t str, steps: &mut Vec<Step>) -> Parsed<&'t str> {
    let end = text.find(is_end).unwrap_or(text.len());
    match &text[..end] {
        "true" => steps.push(Step::Literal(Value::Bool(true))),
        "false" => steps.push(Step::Literal(Value::Bool(false))),
        other => return fault(format!("unrecognized identifier {other}")),
    }
    Ok(&text[end..])
}
