//! `fieldPath` of a rule: which field to blame, relative to the rule's node.

use crate::schema::Schema;

/// The path to append to the node's own, as `.spec['a.b']` written out; `None` where the path
/// is malformed or leads to no field of the schema.
pub(super) fn resolve(text: &str, schema: &Schema) -> Option<String> {
    let mut rest = text;
    let mut schema = schema;
    let mut out = String::new();
    while !rest.is_empty() {
        let name;
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[', ']']).unwrap_or(after.len());
            name = after[..end].to_string();
            rest = &after[end..];
        } else {
            let after = rest.strip_prefix("['")?;
            let (found, after) = quoted(after)?;
            name = found;
            rest = after.strip_prefix(']')?;
        }
        if name.is_empty() {
            return None;
        }
        if let Some(child) = schema.properties.get(&name) {
            out.push('.');
            out.push_str(&name);
            schema = child;
        } else {
            // Only a pure map takes any key.
            schema = schema
                .map_value()
                .filter(|_| schema.properties.is_empty())?;
            out.push_str(&format!("[{name}]"));
        }
    }
    Some(out)
}

/// A text up to its closing single quote, with backslash escapes undone.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return Some((out, &text[at + 1..])),
            '\\' => out.push(match chars.next()?.1 {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c @ ('\'' | '\\') => c,
                _ => return None,
            }),
            c => out.push(c),
        }
    }
    None
}
