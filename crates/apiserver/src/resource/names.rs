//! What names, label keys and label values may look like, and the words with which Kubernetes
//! refuses others. Which field is held to which rule is left to `metadata`.

use std::sync::LazyLock;

use regex::Regex;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const VALUE: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";

const LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const LETTER: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const LETTER_RULE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const KEY_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

static IS_LABEL: LazyLock<Option<Regex>> = LazyLock::new(|| whole(LABEL));
static IS_SUBDOMAIN: LazyLock<Option<Regex>> = LazyLock::new(|| whole(SUBDOMAIN));
static IS_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| whole(KEY));
static IS_VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| whole(VALUE));

fn whole(pattern: &str) -> Option<Regex> {
    Regex::new(&format!("^(?:{pattern})$")).ok()
}

/// A pattern that did not compile matches nothing; a test sees to it that all do.
fn is(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|regex| regex.is_match(text))
}

fn unlike(rule: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|e| format!("'{e}', ")).collect();
    let examples = examples.join(" or ");
    format!("{rule} (e.g. {examples}regex used for validation is '{pattern}')")
}

/// What is wrong with a DNS name; nothing when the list is empty.
pub(crate) fn dns_subdomain(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > 253 {
        wrong.push("must be no more than 253 characters".to_owned());
    }
    if !is(&IS_SUBDOMAIN, name) {
        wrong.push(unlike(SUBDOMAIN_RULE, SUBDOMAIN, &["example.com"]));
    }
    wrong
}

/// What is wrong with one part of a path, which is all that some names have to be.
pub(crate) fn path_segment(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    let wrong = ["/", "%"].into_iter().filter(|part| name.contains(part));
    wrong
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// What is wrong with a DNS label.
pub(crate) fn dns_label(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > 63 {
        wrong.push("must be no more than 63 characters".to_owned());
    }
    if !is(&IS_LABEL, name) {
        wrong.push(if is(&IS_SUBDOMAIN, name) {
            "must not contain dots".to_owned()
        } else {
            unlike(LABEL_RULE, LABEL, &["my-name", "123-abc"])
        });
    }
    wrong
}

/// What is wrong with a DNS label that must begin with a letter.
pub(crate) fn dns_1035_label(name: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if name.len() > 63 {
        wrong.push("must be no more than 63 characters".to_owned());
    }
    if !is(&IS_LABEL, name) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        wrong.push(unlike(LETTER_RULE, LETTER, &["my-name", "abc-123"]));
    }
    wrong
}

/// What is wrong with the key of a label or an annotation, or with a finalizer.
pub(crate) fn qualified(key: &str) -> Vec<String> {
    let rule = || unlike(KEY_RULE, KEY, &["MyName", "my.name", "123-abc"]);
    let mut wrong = Vec::new();
    let name =
        match key.split('/').collect::<Vec<_>>().as_slice() {
            [name] => *name,
            ["", name] => {
                wrong.push("prefix part must be non-empty".to_owned());
                *name
            }
            [prefix, name] => {
                // The same rule as for names, but with the length in bytes.
                let of_prefix = dns_subdomain(prefix).into_iter();
                wrong.extend(of_prefix.map(|why| {
                    format!("prefix part {}", why.replace("253 characters", "253 bytes"))
                }));
                *name
            }
            _ => {
                let prefix =
                    "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
                return vec![format!("a valid label key {} {prefix}", rule())];
            }
        };
    if name.is_empty() {
        wrong.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        wrong.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is(&IS_KEY, name) {
        wrong.push(format!("name part {}", rule()));
    }
    wrong
}

/// What is wrong with the value of a label.
pub(crate) fn label_value(value: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if value.len() > 63 {
        wrong.push("must be no more than 63 bytes".to_owned());
    }
    if !is(&IS_VALUE, value) {
        wrong.push(unlike(VALUE_RULE, VALUE, &["MyValue", "my_value", "12345"]));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        type Rule = fn(&str) -> Vec<String>;
        let long = "a".repeat(64);
        let cases: [(Rule, &str, usize); 14] = [
            (dns_subdomain, "a.b-c", 0),
            (dns_subdomain, "a..b", 1),
            (dns_subdomain, "", 1),
            (dns_label, "a-1", 0),
            (dns_label, "a.b", 1),
            (dns_label, &long, 1),
            (qualified, "example.com/Name_1", 0),
            (qualified, "/name", 1),
            (qualified, "a/b/c", 1),
            (qualified, "A/", 3),
            (qualified, &long, 1),
            (label_value, "", 0),
            (label_value, "-", 1),
            (label_value, &long, 1),
        ];
        for (rule, text, complaints) in cases {
            let found = rule(text);
            assert_eq!(found.len(), complaints, "{text:?}: {found:?}");
        }
        assert_eq!(dns_label("a.b"), ["must not contain dots"]);
    }
}
