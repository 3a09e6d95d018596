//! Rules about what may become of a field once an object exists.
//!
//! They stand at the root of a kind and not beside the field, because the same fields occur in
//! templates, and a template may change.

use kube::core::{Reason, Rule};

use crate::names::NAME_PATTERN;

/// The rule that holds an object's name to a DNS label.
pub(crate) fn metadata_name() -> Rule {
    // Names end up in host names and tags, so they are labels rather than subdomains.
    Rule::new(label("self.metadata.name")).message(
        "metadata.name must be at most 63 lower-case letters, digits and dashes, such as web-server-01",
    )
}

/// The expression that holds a text to a DNS label.
pub(crate) fn label(text: &str) -> String {
    format!("{text}.size() <= 63 && {text}.matches('{NAME_PATTERN}')")
}

/// The field keeps the value, or the absence, that it was created with.
pub(crate) fn immutable(path: &str) -> Rule {
    at(
        path,
        format!(
            "has(self.{path}) == has(oldSelf.{path}) \
             && (!has(self.{path}) || self.{path} == oldSelf.{path})"
        ),
        format!("{path} cannot be changed after creation; delete the object and make it anew"),
    )
}

/// The field may be given later, and keeps its value from then on.
pub(crate) fn set_once(path: &str) -> Rule {
    at(
        path,
        format!("!has(oldSelf.{path}) || (has(self.{path}) && self.{path} == oldSelf.{path})"),
        format!("{path} can be given once and cannot be changed or removed after that"),
    )
}

/// The same for a text, where the empty one counts as not given.
pub(crate) fn set_once_text(path: &str) -> Rule {
    at(
        path,
        format!(
            "!has(oldSelf.{path}) || oldSelf.{path} == '' \
             || (has(self.{path}) && self.{path} == oldSelf.{path})"
        ),
        format!("{path} can be given once and cannot be changed or removed after that"),
    )
}

fn at(path: &str, expression: String, message: String) -> Rule {
    Rule::new(expression)
        .message(message.as_str())
        .field_path(format!(".{path}"))
        .reason(Reason::FieldValueForbidden)
}

/// The quantity may grow and never shrinks.
pub(crate) fn never_smaller(path: &str) -> Rule {
    // A bare number is added to nothing, because turning it into text first has no bounded cost.
    let read = |whose: &str| {
        let field = format!("{whose}.{path}");
        format!("(type({field}) == string ? quantity({field}) : quantity('0').add({field}))")
    };
    at(
        path,
        format!("{}.compareTo({}) >= 0", read("self"), read("oldSelf")),
        format!("{path} can grow and cannot shrink"),
    )
}
