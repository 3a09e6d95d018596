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
            // Upstream appends the path as the name of a field, also when it begins with a key.
            let dot = if out.is_empty() { "." } else { "" };
            out.push_str(&format!("{dot}[{name}]"));
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_is_written_as_upstream_writes_it() {
        let schema = json!({"properties": {"map": {"additionalProperties": {"type": "string"}}}});
        let schema = Schema::from_value(&schema).unwrap();
        let map = &schema.properties["map"];
        for (text, schema, written) in [
            (".map", &schema, Some(".map")),
            (".map.a", &schema, Some(".map[a]")),
            (".map['a.b']", &schema, Some(".map[a.b]")),
            (".a", map, Some(".[a]")),
            ("['a.b']", map, Some(".[a.b]")),
            (".other", &schema, None),
        ] {
            assert_eq!(resolve(text, schema).as_deref(), written, "{text}");
        }
    }
}
