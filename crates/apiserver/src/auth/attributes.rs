//! What a request wants, in the words that authorization decides by, and how a refusal is said.

use http::{Method, StatusCode};
use serde_json::{Map, Value};

use super::Identity;
use crate::schema::go_quote;
use crate::status::ApiError;

/// Who wants to do what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attributes<'a> {
    pub(crate) user: &'a Identity,
    pub(crate) action: &'a Action,
}

/// What is wanted, whoever wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) verb: String,
    pub(crate) object: Object,
}

/// What an action is done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Object {
    /// A collection, an object, or a part of one.
    Resource(Resource),
    /// A path that is no resource.
    Path(String),
}

impl Default for Object {
    fn default() -> Self {
        Self::Path(String::new())
    }
}

/// A collection, an object, or a part of one. What does not apply is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Resource {
    /// The resource with its part, as rules name it.
    pub(crate) fn combined(&self) -> String {
        match self.subresource.as_str() {
            "" => self.resource.clone(),
            part => format!("{}/{part}", self.resource),
        }
    }
}

impl Action {
    /// An action on a resource.
    pub(crate) fn on(verb: impl Into<String>, resource: Resource) -> Self {
        Self {
            verb: verb.into(),
            object: Object::Resource(resource),
        }
    }

    /// The namespace of what it is done to; empty for the whole cluster.
    pub(crate) fn namespace(&self) -> &str {
        match &self.object {
            Object::Resource(resource) => &resource.namespace,
            Object::Path(_) => "",
        }
    }

    /// The refusal of this action to a user, with an explanation if there is one.
    pub(crate) fn forbidden(&self, user: &str, reason: &str) -> ApiError {
        let (user, verb) = (go_quote(user), &self.verb);
        let (subject, words) = match &self.object {
            Object::Path(path) => (
                "forbidden".to_owned(),
                format!("User {user} cannot {verb} path {}", go_quote(path)),
            ),
            Object::Resource(resource) => {
                let subject = match resource.name.as_str() {
                    "" => format!("{} is forbidden", resource.qualified()),
                    name => format!("{} {} is forbidden", resource.qualified(), go_quote(name)),
                };
                (
                    subject,
                    format!("User {user} cannot {verb} {}", resource.described()),
                )
            }
        };
        // A browser must not take the message for a page.
        let words = words
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let sep = if reason.is_empty() { "" } else { ": " };
        let message = format!("{subject}: {words}{sep}{reason}");
        let mut error = ApiError::new(StatusCode::FORBIDDEN, "Forbidden", message);
        if let Object::Resource(resource) = &self.object {
            error.details = resource.details();
        }
        error
    }
}

impl Resource {
    fn qualified(&self) -> String {
        match self.group.as_str() {
            "" => self.resource.clone(),
            group => format!("{}.{group}", self.resource),
        }
    }

    fn described(&self) -> String {
        let what = go_quote(&self.combined());
        let group = go_quote(&self.group);
        match self.namespace.as_str() {
            "" => format!("resource {what} in API group {group} at the cluster scope"),
            namespace => format!(
                "resource {what} in API group {group} in the namespace {}",
                go_quote(namespace)
            ),
        }
    }

    fn details(&self) -> Map<String, Value> {
        let fields = [
            ("name", &self.name),
            ("group", &self.group),
            ("kind", &self.resource),
        ];
        let given = fields.into_iter().filter(|(_, value)| !value.is_empty());
        given
            .map(|(field, value)| (field.to_owned(), value.clone().into()))
            .collect()
    }
}

/// The verb of a method on an object or on a collection.
pub(crate) fn verb(method: &Method, named: bool, watch: bool) -> &'static str {
    match *method {
        Method::POST => "create",
        Method::GET | Method::HEAD if named => "get",
        Method::GET | Method::HEAD if watch => "watch",
        Method::GET | Method::HEAD => "list",
        Method::PUT => "update",
        Method::PATCH => "patch",
        Method::DELETE if named => "delete",
        Method::DELETE => "deletecollection",
        _ => "",
    }
}
