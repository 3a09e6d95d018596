//! The kinds at one moment, found by path or by name, with what is computed from them once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::kind::Kind;

/// A document that was rendered once for all who ask, with the tag that names its content.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// The text, or the bytes of another form.
    pub(crate) body: bytes::Bytes,
    /// A hash of the text.
    pub(crate) hash: String,
}

impl Document {
    /// Renders a document.
    pub(crate) fn new(value: &serde_json::Value) -> Self {
        Self::of(value.to_string().into_bytes())
    }

    fn of(body: Vec<u8>) -> Self {
        let hash = hash(&body);
        Self {
            body: body.into(),
            hash,
        }
    }
}

/// A hash of a document's text, for its tag.
fn hash(bytes: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02X}");
    }
    text
}

/// The kinds at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    kinds: Vec<Arc<Kind>>,
    reviews: Arc<[Arc<Kind>]>,
    /// Groups that come before others when a name is in several.
    preferred: Arc<[String]>,
    by_path: HashMap<(String, String, String), usize>,
    /// Discovery documents and OpenAPI documents by their path.
    documents: Mutex<HashMap<String, Arc<OnceLock<Document>>>>,
}

impl Snapshot {
    pub(super) fn new(
        kinds: Vec<Arc<Kind>>,
        reviews: Arc<[Arc<Kind>]>,
        preferred: Arc<[String]>,
    ) -> Self {
        let path = |k: &Arc<Kind>| (k.group.clone(), k.version.clone(), k.plural.clone());
        let by_path = kinds
            .iter()
            .enumerate()
            .map(|(at, kind)| (path(kind), at))
            .collect();
        Self {
            kinds,
            reviews,
            preferred,
            by_path,
            documents: Mutex::default(),
        }
    }

    /// Every kind, built-ins first.
    pub(crate) fn kinds(&self) -> &[Arc<Kind>] {
        &self.kinds
    }

    /// The kind behind `/apis/GROUP/VERSION/PLURAL`.
    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Kind>> {
        let path = (group.to_owned(), version.to_owned(), plural.to_owned());
        self.by_path.get(&path).map(|at| self.kinds[*at].clone())
    }

    /// The questions to the server, of which nothing is stored.
    pub(crate) fn reviews(&self) -> &[Arc<Kind>] {
        &self.reviews
    }

    /// The question behind `/apis/GROUP/VERSION/PLURAL`.
    pub(crate) fn review(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Kind>> {
        let mut all = self.reviews.iter();
        let found = all.find(|k| k.group == group && k.version == version && k.plural == plural);
        found.cloned()
    }

    /// The kind of this `apiVersion` and `kind`.
    pub(crate) fn find_kind(&self, version: &str, name: &str) -> Option<Arc<Kind>> {
        self.kinds
            .iter()
            .find(|k| k.kind == name && k.api_version() == version)
            .cloned()
    }

    /// One kind for each place in the store, so that a sweep sees each object once.
    pub(crate) fn stored_kinds(&self) -> Vec<Arc<Kind>> {
        let mut seen = BTreeMap::new();
        for kind in &self.kinds {
            let better = kind.is_stored_form();
            match seen.get(&kind.prefix) {
                Some((true, _)) => {}
                Some(_) if !better => {}
                _ => {
                    seen.insert(kind.prefix.clone(), (better, kind.clone()));
                }
            }
        }
        seen.into_values().map(|(_, kind)| kind).collect()
    }

    /// The kind to whose place in the store a key belongs.
    pub(crate) fn owner_of_key(&self, key: &str) -> Option<Arc<Kind>> {
        let mut found: Option<&Arc<Kind>> = None;
        for kind in self.kinds.iter().filter(|k| key.starts_with(&k.prefix)) {
            if found.is_none_or(|f| !f.is_stored_form()) {
                found = Some(kind);
            }
        }
        found.cloned()
    }

    /// The groups with their versions, the preferred version first.
    pub(crate) fn groups(&self) -> BTreeMap<String, Vec<String>> {
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for kind in self.kinds.iter().chain(self.reviews.iter()) {
            let versions = groups.entry(kind.group.clone()).or_default();
            if !versions.contains(&kind.version) {
                versions.push(kind.version.clone());
            }
        }
        for versions in groups.values_mut() {
            versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
        }
        groups
    }

    /// The groups in the order in which clients look for a name that is in several: the built-in
    /// ones, those that the embedder prefers, and the others by their names, as in Kubernetes.
    pub(crate) fn ranked_groups(&self) -> Vec<(String, Vec<String>)> {
        let builtin: HashSet<&str> = self
            .kinds
            .iter()
            .chain(self.reviews.iter())
            .filter(|kind| kind.builtin)
            .map(|kind| kind.group.as_str())
            .collect();
        let mut groups: Vec<_> = self.groups().into_iter().collect();
        // The sort is stable, so that equals stay in the order of their names.
        groups.sort_by_key(|(group, _)| {
            let place = self.preferred.iter().position(|name| name == group);
            let custom = !builtin.contains(group.as_str());
            (custom, place.unwrap_or(usize::MAX))
        });
        groups
    }

    /// The kinds of one group and version, in the order of their names.
    pub(crate) fn in_version(&self, group: &str, version: &str) -> Vec<Arc<Kind>> {
        let mut kinds: Vec<_> = self
            .kinds
            .iter()
            .filter(|k| k.group == group && k.version == version)
            .cloned()
            .collect();
        kinds.sort_by(|a, b| a.plural.cmp(&b.plural));
        kinds
    }

    /// Every `apiVersion` that is served.
    pub(crate) fn api_versions(&self) -> Vec<(String, String)> {
        self.groups()
            .into_iter()
            .flat_map(|(group, versions)| versions.into_iter().map(move |v| (group.clone(), v)))
            .collect()
    }

    /// A document of this snapshot, rendered when it is first asked for.
    pub(crate) fn document(
        &self,
        name: &str,
        make: impl FnOnce() -> serde_json::Value,
    ) -> Document {
        self.rendered(name, || Document::new(&make()))
    }

    /// The same for a document that is not JSON.
    pub(crate) fn bytes(&self, name: &str, make: impl FnOnce() -> Vec<u8>) -> Document {
        self.rendered(name, || Document::of(make()))
    }

    fn rendered(&self, name: &str, make: impl FnOnce() -> Document) -> Document {
        let cell = self
            .documents
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(name.to_owned())
            .or_default()
            .clone();
        cell.get_or_init(make).clone()
    }
}

/// The order of versions that Kubernetes uses: GA before beta before alpha, then by number.
fn priority(version: &str) -> (u8, u64, u64, std::cmp::Reverse<String>) {
    let name = std::cmp::Reverse(version.to_owned());
    let parse = || {
        let rest = version.strip_prefix('v')?;
        let (stage, major, minor) = if let Some((major, minor)) = rest.split_once("alpha") {
            (1, major, minor)
        } else if let Some((major, minor)) = rest.split_once("beta") {
            (2, major, minor)
        } else {
            (3, rest, "0")
        };
        Some((stage, major.parse().ok()?, minor.parse().ok()?))
    };
    let (stage, major, minor) = parse().unwrap_or((0, 0, 0));
    (stage, major, minor, name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_are_ordered_as_kubernetes_orders_them() {
        let mut versions = vec!["foo1", "v1alpha1", "v2", "v10", "v1beta2", "v1", "v1beta10"];
        versions.sort_by_key(|v| std::cmp::Reverse(super::priority(v)));
        assert_eq!(
            versions,
            ["v10", "v2", "v1", "v1beta10", "v1beta2", "v1alpha1", "foo1"]
        );
    }
}
