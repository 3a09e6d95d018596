//! Field selectors: `metadata.name=x,involvedObject.kind!=Pod`.

use serde_json::Value;

use crate::meta;
use crate::registry::Kind;
use crate::status::ApiError;

#[derive(Debug, Clone)]
struct Requirement {
    path: String,
    equal: bool,
    value: String,
}

/// A conjunction of field comparisons.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldSelector(Vec<Requirement>);

impl FieldSelector {
    /// Reads a selector; `\\`, `\,` and `\=` are escapes, as upstream has them.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut requirements = Vec::new();
        for term in split_unescaped(text) {
            if term.trim().is_empty() {
                continue;
            }
            let (path, equal, value) = split_term(&term)
                .ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{term}'"))?;
            if let Some(wrong) = unescaped_sign(value) {
                let code = u32::from(wrong);
                let why = format!("unescaped character in value: {code}");
                return Err(format!("invalid field selector: {why}"));
            }
            requirements.push(Requirement {
                path: path.trim().to_owned(),
                equal,
                value: unescape(value.trim()),
            });
        }
        Ok(Self(requirements))
    }

    /// Selects the one object of this name.
    pub(crate) fn by_name(name: &str) -> Self {
        Self(vec![Requirement {
            path: "metadata.name".into(),
            equal: true,
            value: name.into(),
        }])
    }

    /// Refuses fields that the kind does not declare.
    pub(crate) fn check(&self, kind: &Kind) -> Result<(), ApiError> {
        for requirement in &self.0 {
            let path = requirement.path.as_str();
            let known = path == "metadata.name"
                || (path == "metadata.namespace" && kind.namespaced)
                || kind
                    .selectable
                    .iter()
                    .any(|s| s.trim_start_matches('.') == path);
            if !known {
                return Err(ApiError::bad_request(if generic(kind) {
                    let known = "only \"metadata.name\", \"metadata.namespace\"";
                    format!("{path:?} is not a known field selector: {known}")
                } else {
                    format!("field label not supported: {path}")
                }));
            }
        }
        Ok(())
    }

    /// Whether there is no requirement.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value that a field must equal, if it must.
    pub(crate) fn equal_to(&self, path: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|r| r.equal && r.path == path)
            .map(|r| r.value.as_str())
    }

    /// The fields that [`matches`](Self::matches) looks at.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|requirement| {
            let path = requirement.path.as_str();
            let others: &[&str] = match path {
                "source" => &["involvedObject", "reportingComponent"],
                _ => &[],
            };
            std::iter::once(path).chain(others.iter().copied())
        })
    }

    /// Whether every requirement holds.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.0.iter().all(|requirement| {
            let found = match meta::at_path(object, &requirement.path) {
                found if requirement.path == "source" && object.get("involvedObject").is_some() => {
                    event_source(object, found)
                }
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                Some(Value::Bool(flag)) => flag.to_string(),
                _ => String::new(),
            };
            (found == requirement.value) == requirement.equal
        })
    }
}

/// Whether a built-in kind has no field selectors of its own.
fn generic(kind: &Kind) -> bool {
    kind.builtin && kind.selectable.is_empty()
}

/// A sign in a value that should have had a backslash before it.
fn unescaped_sign(value: &str) -> Option<char> {
    let mut escaped = false;
    value.chars().find(|c| {
        let wrong = *c == '=' && !escaped;
        escaped = *c == '\\' && !escaped;
        wrong
    })
}

/// The source of an event is who reports it, under its old or its new name.
fn event_source(event: &Value, source: Option<&Value>) -> String {
    let names = [
        source.and_then(|s| s.get("component")),
        event.get("reportingComponent"),
    ];
    let mut names = names.into_iter().flatten().filter_map(Value::as_str);
    names
        .find(|name| !name.is_empty())
        .unwrap_or_default()
        .to_owned()
}

fn split_unescaped(text: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let mut escaped = false;
    for c in text.chars() {
        if c == ',' && !escaped {
            terms.push(String::new());
            continue;
        }
        escaped = c == '\\' && !escaped;
        if let Some(last) = terms.last_mut() {
            last.push(c);
        }
    }
    terms
}

fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let mut escaped = false;
    for (at, c) in term.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        let rest = &term[at..];
        if c == '\\' {
            escaped = true;
        } else if let Some(value) = rest.strip_prefix("!=") {
            return Some((&term[..at], false, value));
        } else if let Some(value) = rest.strip_prefix("==").or_else(|| rest.strip_prefix('=')) {
            return Some((&term[..at], true, value));
        }
    }
    None
}

fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut escaped = false;
    for c in value.chars() {
        if c == '\\' && !escaped {
            escaped = true;
        } else {
            escaped = false;
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comparisons() {
        let object = json!({"metadata": {"name": "a"}, "spec": {"n": 3, "s": "x,y=z"}});
        for (text, expected) in [
            ("metadata.name=a", true),
            ("metadata.name==a,spec.n=3", true),
            ("metadata.name!=a", false),
            ("spec.missing=", true),
            ("spec.missing!=x", true),
            (r"spec.s=x\,y\=z", true),
            ("", true),
        ] {
            let selector = FieldSelector::parse(text).unwrap();
            assert_eq!(selector.matches(&object), expected, "{text}");
        }
        let selector = FieldSelector::parse("source=a,reason!=b").unwrap();
        let paths: Vec<&str> = selector.paths().collect();
        let wanted = ["source", "involvedObject", "reportingComponent", "reason"];
        assert_eq!(paths, wanted);
        assert!(FieldSelector::parse("metadata.name").is_err());
    }
}
