//! Which requests are written down, and how much of each: a policy of `audit.k8s.io/v1`.

use serde::Deserialize;

use crate::auth::Attributes;
use crate::auth::attributes::{Object, Resource};

/// How much of a request is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) enum Level {
    /// Nothing.
    None,
    /// Who did what, when, and how it ended.
    Metadata,
    /// Also what was sent.
    Request,
    /// Also what was answered.
    RequestResponse,
}

impl Level {
    /// The name in events.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Metadata => "Metadata",
            Self::Request => "Request",
            Self::RequestResponse => "RequestResponse",
        }
    }
}

/// When an event about a request is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Stage {
    /// Before anything was done.
    RequestReceived,
    /// When a long answer, such as a watch, begins.
    ResponseStarted,
    /// When the answer is complete.
    ResponseComplete,
    /// When the handler panicked.
    Panic,
}

impl Stage {
    /// The name in events.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::RequestReceived => "RequestReceived",
            Self::ResponseStarted => "ResponseStarted",
            Self::ResponseComplete => "ResponseComplete",
            Self::Panic => "Panic",
        }
    }
}

/// Why a text is not a policy.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// It cannot be read.
    #[error("the audit policy cannot be read: {0}")]
    Malformed(String),
    /// It is something else.
    #[error(
        "the audit policy is a {kind:?} of {api_version:?}; it must be a Policy of audit.k8s.io/v1"
    )]
    Kind {
        /// Its `apiVersion`.
        api_version: String,
        /// Its `kind`.
        kind: String,
    },
    /// It has no rules.
    #[error("the audit policy has no rules, so nothing would be written")]
    NoRules,
    /// A rule is about resources and about paths.
    #[error("rule {0} of the audit policy names both resources and nonResourceURLs")]
    Both(usize),
}

/// A policy: the first rule that matches decides; no match means nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Policy {
    api_version: String,
    kind: String,
    rules: Vec<Rule>,
    omit_stages: Vec<Stage>,
    omit_managed_fields: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    level: Level,
    #[serde(default)]
    users: Vec<String>,
    #[serde(default)]
    user_groups: Vec<String>,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    resources: Vec<GroupResources>,
    #[serde(default)]
    namespaces: Vec<String>,
    #[serde(default, rename = "nonResourceURLs")]
    urls: Vec<String>,
    #[serde(default)]
    omit_stages: Vec<Stage>,
    omit_managed_fields: Option<bool>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GroupResources {
    group: String,
    resources: Vec<String>,
    resource_names: Vec<String>,
}

/// What is written of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) level: Level,
    pub(super) omit_stages: Vec<Stage>,
    pub(super) omit_managed_fields: bool,
}

/// Changes are written down without their content, once they are done; looking is not.
const DEFAULT: &str = "
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, list, watch]
- level: None
  resources:
  - {group: coordination.k8s.io, resources: [leases]}
  - {group: '', resources: [events]}
  - {group: events.k8s.io, resources: [events]}
- level: Metadata
";

impl Policy {
    /// The policy of a server that is given none.
    pub(crate) fn standard() -> Self {
        // The text is ours, and a test reads it.
        Self::parse(DEFAULT).unwrap_or_default()
    }

    /// Reads a policy.
    pub(crate) fn parse(text: &str) -> Result<Self, PolicyError> {
        let policy: Self =
            serde_saphyr::from_str(text).map_err(|e| PolicyError::Malformed(e.to_string()))?;
        if policy.api_version != "audit.k8s.io/v1" || policy.kind != "Policy" {
            let Self {
                api_version, kind, ..
            } = policy;
            return Err(PolicyError::Kind { api_version, kind });
        }
        if policy.rules.is_empty() {
            return Err(PolicyError::NoRules);
        }
        let both = |rule: &Rule| {
            !rule.urls.is_empty() && (!rule.resources.is_empty() || !rule.namespaces.is_empty())
        };
        match policy.rules.iter().position(both) {
            Some(at) => Err(PolicyError::Both(at)),
            None => Ok(policy),
        }
    }

    /// How much of a request is written down.
    pub(crate) fn extent(&self, request: &Attributes<'_>) -> Extent {
        match self.rules.iter().find(|rule| rule.matches(request)) {
            Some(rule) => {
                let stages = self.omit_stages.iter().chain(&rule.omit_stages);
                Extent {
                    level: rule.level,
                    omit_stages: stages.copied().collect(),
                    omit_managed_fields: rule
                        .omit_managed_fields
                        .unwrap_or(self.omit_managed_fields),
                }
            }
            None => Extent {
                level: Level::None,
                omit_stages: Vec::new(),
                omit_managed_fields: false,
            },
        }
    }
}

impl Rule {
    fn matches(&self, request: &Attributes<'_>) -> bool {
        let Attributes { user, action } = request;
        let among = |list: &[String], text: &str| list.is_empty() || has(list, text);
        let in_groups = self.user_groups.is_empty()
            || user
                .groups
                .iter()
                .any(|group| has(&self.user_groups, group));
        if !among(&self.users, &user.user) || !in_groups || !among(&self.verbs, &action.verb) {
            return false;
        }
        let about_resources = !self.namespaces.is_empty() || !self.resources.is_empty();
        match &action.object {
            Object::Resource(resource) if about_resources => {
                among(&self.namespaces, &resource.namespace)
                    && (self.resources.is_empty()
                        || self.resources.iter().any(|group| group.matches(resource)))
            }
            Object::Path(path) if !about_resources && !self.urls.is_empty() => {
                self.urls.iter().any(|url| path_matches(url, path))
            }
            Object::Resource(_) => self.urls.is_empty(),
            Object::Path(_) => !about_resources,
        }
    }
}

impl GroupResources {
    fn matches(&self, wanted: &Resource) -> bool {
        if self.group != wanted.group && self.group != "*" {
            return false;
        }
        if self.resources.is_empty() {
            return true;
        }
        if !self.resource_names.is_empty() && !has(&self.resource_names, &wanted.name) {
            return false;
        }
        let combined = wanted.combined();
        self.resources.iter().any(|entry| {
            entry == "*"
                || *entry == combined
                || entry.strip_suffix("/*") == Some(&wanted.resource)
                || (!wanted.subresource.is_empty()
                    && entry.strip_prefix("*/") == Some(&wanted.subresource))
        })
    }
}

fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|item| item == text)
}

fn path_matches(url: &str, path: &str) -> bool {
    url == path || (url.ends_with('*') && path.starts_with(url.trim_end_matches('*')))
}
