//! CEL rules as data, and how they get into a schema.

use std::borrow::Cow;

use kube::core::Message;
use schemars::Schema;
use serde_json::{Value, json};

/// One CEL rule, with the sentence that a user reads when it is broken.
pub(crate) struct Rule {
    /// The expression that must be true.
    expression: Cow<'static, str>,
    /// What is wrong and what to do about it.
    message: Cow<'static, str>,
    /// The field that the rule is about, when it is not the one that the rule stands at.
    field_path: Option<&'static str>,
    /// As what the server reports that the rule is broken.
    reason: Reason,
    /// The value that breaks the rule.
    value: Option<Shown>,
}

/// A value that a message shows, as an expression.
#[derive(Clone, Copy)]
enum Shown {
    /// An expression that makes a string.
    Text(&'static str),
    /// An expression that makes anything, of which `format` makes a string. Estimates know no bound
    /// for the string that `string` makes of a number, and whatever is done with such a string costs
    /// too much; nothing is done with what `format` gives.
    Any(&'static str),
    /// The entry of this name, which may be a number or a string.
    Entry(&'static str),
}

/// As what a server reports a broken rule. It shows no more of a wrong object or list than the
/// word for its type, so only what a value itself is wrong with is `Invalid`.
#[derive(Clone, Copy)]
enum Reason {
    /// `Invalid value`, with the value.
    Invalid,
    /// `Required value`: something is not there.
    Required,
    /// `Forbidden`: something is there that must not be.
    Forbidden,
}

impl Rule {
    /// A rule that refuses a value.
    pub(crate) const fn new(expression: &'static str, message: &'static str) -> Self {
        Self {
            expression: Cow::Borrowed(expression),
            message: Cow::Borrowed(message),
            field_path: None,
            reason: Reason::Invalid,
            value: None,
        }
    }

    /// The same, about one field of the object that the rule stands at: errors are reported there.
    pub(crate) const fn at(mut self, field_path: &'static str) -> Self {
        self.field_path = Some(field_path);
        self
    }

    /// The same, about a field that must not be there.
    pub(crate) const fn forbids(self, field_path: &'static str) -> Self {
        self.at(field_path).forbidden()
    }

    /// The same, where what the rule stands at must not be as it is.
    pub(crate) const fn forbidden(mut self) -> Self {
        self.reason = Reason::Forbidden;
        self
    }

    /// The same, about a field that must be there, or be more than it is.
    pub(crate) const fn demands(self, field_path: &'static str) -> Self {
        self.at(field_path).demanded()
    }

    /// The same, where what the rule stands at lacks something.
    pub(crate) const fn demanded(mut self) -> Self {
        self.reason = Reason::Required;
        self
    }

    /// The same, with its value, which a server does not show for what is part of an object. The
    /// value is a text; see [`Rule::counting`] for others.
    pub(crate) const fn about(self, field_path: &'static str, value: &'static str) -> Self {
        self.at(field_path).showing(value)
    }

    /// The same, with a value in the message, where there is one.
    pub(crate) const fn showing(mut self, value: &'static str) -> Self {
        self.value = Some(Shown::Text(value));
        self
    }

    /// The same as [`Rule::about`], with a value that is a number, or may be one.
    pub(crate) const fn counting(mut self, field_path: &'static str, value: &'static str) -> Self {
        self.value = Some(Shown::Any(value));
        self.at(field_path)
    }

    /// The same about an entry of a map.
    pub(crate) const fn about_entry(mut self, name: &'static str) -> Self {
        self.value = Some(Shown::Entry(name));
        self.at(name)
    }

    /// A rule that demands a field, so that the server reports it as `Required value` at its path.
    pub(crate) const fn required(
        field_path: &'static str,
        expression: &'static str,
        message: &'static str,
    ) -> Self {
        Self {
            expression: Cow::Borrowed(expression),
            message: Cow::Borrowed(message),
            field_path: Some(field_path),
            reason: Reason::Required,
            value: None,
        }
    }

    /// A rule that was put together.
    pub(crate) fn owned(expression: String, message: String) -> Self {
        Self {
            expression: expression.into(),
            message: message.into(),
            field_path: None,
            reason: Reason::Invalid,
            value: None,
        }
    }

    fn to_json(&self) -> Value {
        let mut rule = json!({ "rule": self.expression, "message": self.message });
        if let Some(field_path) = self.field_path {
            // A bare name is that of an entry of a map.
            let dot = if field_path.starts_with('.') { "" } else { "." };
            rule["fieldPath"] = format!("{dot}{field_path}").into();
        }
        match self.reason {
            Reason::Invalid => {}
            Reason::Required => rule["reason"] = "FieldValueRequired".into(),
            Reason::Forbidden => rule["reason"] = "FieldValueForbidden".into(),
        }
        if let Some(value) = &self.value {
            // The plain message stays for the case that the value cannot be shown.
            rule["messageExpression"] = value.message(&self.message).into();
        }
        rule
    }
}

impl Shown {
    fn message(self, message: &str) -> String {
        let message = message.replace('\'', "\\'");
        let formatted = |value: &str| {
            let message = message.replace('%', "%%");
            format!("'{message}, not %s'.format([{value}])")
        };
        match self {
            Self::Text(value) => format!("'{message}, not ' + {value}"),
            Self::Any(value) => formatted(value),
            Self::Entry(name) => formatted(&format!("self['{name}']")),
        }
    }
}

/// The message of a rule at the root of a kind, where a derive takes no [`Rule`], with a value in it.
pub(crate) fn root_message(message: &str, value: &'static str) -> Message {
    Message::Expression(Shown::Any(value).message(message))
}

/// Appends rules to those that a schema already has.
pub(crate) fn add_rules(schema: &mut Schema, rules: &[Rule]) {
    let all = schema
        .ensure_object()
        .entry("x-kubernetes-validations")
        .or_insert_with(|| json!([]));
    if let Value::Array(all) = all {
        all.extend(rules.iter().map(Rule::to_json));
    }
}
