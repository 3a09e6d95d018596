//! One rule of a role: what it allows, and what it covers of another rule.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::auth::attributes::{Action, Object, Resource};
use crate::schema::go_quote;

/// A rule, as roles carry it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Rule {
    #[serde(deserialize_with = "or_empty")]
    pub(crate) verbs: Vec<String>,
    #[serde(deserialize_with = "or_empty")]
    pub(crate) api_groups: Vec<String>,
    #[serde(deserialize_with = "or_empty")]
    pub(crate) resources: Vec<String>,
    #[serde(deserialize_with = "or_empty")]
    pub(crate) resource_names: Vec<String>,
    #[serde(rename = "nonResourceURLs", deserialize_with = "or_empty")]
    pub(crate) urls: Vec<String>,
}

fn or_empty<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(Option::<Vec<String>>::deserialize(from)?.unwrap_or_default())
}

const ANY: &str = "*";

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|item| item == wanted)
}

fn has_or_any(list: &[String], wanted: &str) -> bool {
    list.iter().any(|item| item == ANY || item == wanted)
}

/// Whether a path is one that a rule names, itself or by what it begins with.
fn url_matches(rule: &str, path: &str) -> bool {
    rule == path || (rule.ends_with('*') && path.starts_with(rule.trim_end_matches('*')))
}

impl Rule {
    /// The rules in a role; what is not a rule is none.
    pub(crate) fn list(role: &Value) -> Vec<Self> {
        let rules = role["rules"].as_array().into_iter().flatten();
        rules
            .filter_map(|rule| Self::deserialize(rule).ok())
            .collect()
    }

    /// Everything, resources and paths alike.
    pub(crate) fn full_authority() -> [Self; 2] {
        let any = || vec![ANY.to_owned()];
        [
            Self {
                verbs: any(),
                api_groups: any(),
                resources: any(),
                ..Self::default()
            },
            Self {
                verbs: any(),
                urls: any(),
                ..Self::default()
            },
        ]
    }

    /// Whether the rule allows an action.
    pub(crate) fn allows(&self, action: &Action) -> bool {
        if !has_or_any(&self.verbs, &action.verb) {
            return false;
        }
        match &action.object {
            Object::Path(path) => self.urls.iter().any(|url| url_matches(url, path)),
            Object::Resource(resource) => {
                has_or_any(&self.api_groups, &resource.group)
                    && self.resources.iter().any(|r| resource_matches(r, resource))
                    && (self.resource_names.is_empty() || has(&self.resource_names, &resource.name))
            }
        }
    }

    /// The rule as rules of one verb, one resource and one name each.
    pub(crate) fn atoms(&self) -> Vec<Self> {
        let one = |text: &String| vec![text.clone()];
        let mut atoms = Vec::new();
        for group in &self.api_groups {
            for resource in &self.resources {
                for verb in &self.verbs {
                    let atom = Self {
                        verbs: one(verb),
                        api_groups: one(group),
                        resources: one(resource),
                        ..Self::default()
                    };
                    if self.resource_names.is_empty() {
                        atoms.push(atom);
                        continue;
                    }
                    atoms.extend(self.resource_names.iter().map(|name| Self {
                        resource_names: one(name),
                        ..atom.clone()
                    }));
                }
            }
        }
        for url in &self.urls {
            atoms.extend(self.verbs.iter().map(|verb| Self {
                verbs: one(verb),
                urls: one(url),
                ..Self::default()
            }));
        }
        atoms
    }

    /// Whether everything that an atom allows is allowed by this rule.
    pub(crate) fn covers(&self, atom: &Self) -> bool {
        let all = |owned: &[String], wanted: &[String]| {
            has(owned, ANY) || wanted.iter().all(|item| has(owned, item))
        };
        let names = self.resource_names.is_empty()
            || (!atom.resource_names.is_empty()
                && atom
                    .resource_names
                    .iter()
                    .all(|name| has(&self.resource_names, name)));
        all(&self.verbs, &atom.verbs)
            && all(&self.api_groups, &atom.api_groups)
            && atom.resources.iter().all(|r| self.covers_resource(r))
            && atom
                .urls
                .iter()
                .all(|path| self.urls.iter().any(|url| url_matches(url, path)))
            && names
    }

    fn covers_resource(&self, resource: &str) -> bool {
        has_or_any(&self.resources, resource)
            || resource
                .split_once('/')
                .is_some_and(|(_, part)| has(&self.resources, &format!("*/{part}")))
    }

    /// The rule on one line, in the form that refusals use.
    pub(crate) fn compact(&self) -> String {
        let fields = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let given = fields.into_iter().filter(|(_, list)| !list.is_empty());
        let parts: Vec<String> = given
            .map(|(name, list)| format!("{name}:{}", go_list(list)))
            .collect();
        format!("{{{}}}", parts.join(", "))
    }
}

/// Whether an entry of a rule's resources means this one: itself, all, or a part of all.
fn resource_matches(rule: &str, wanted: &Resource) -> bool {
    if rule == ANY {
        return true;
    }
    if wanted.subresource.is_empty() {
        return rule == wanted.resource;
    }
    rule.split_once('/').is_some_and(|(resource, part)| {
        part == wanted.subresource && (resource == wanted.resource || resource == ANY)
    })
}

/// A list of texts as Go quotes it.
pub(crate) fn go_list(list: &[String]) -> String {
    let quoted: Vec<String> = list.iter().map(|text| go_quote(text)).collect();
    format!("[{}]", quoted.join(" "))
}
