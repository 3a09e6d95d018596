//! Field names as CEL identifiers, by Kubernetes' escaping rules.

/// Words that CEL keeps for itself.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The identifier by which rules reach a field; `None` where no rule can.
pub(super) fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if RESERVED.contains(&name) {
        return Some(format!("__{name}__"));
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    if !name.chars().all(is_allowed) {
        return None;
    }
    // Nearly every name is one already.
    if !name.contains("__") && !name.contains(['.', '-', '/']) {
        return Some(name.to_owned());
    }
    Some(
        name.replace("__", "\0")
            .replace('.', "__dot__")
            .replace('-', "__dash__")
            .replace('/', "__slash__")
            .replace('\0', "__underscores__"),
    )
}
