//! The kinds that an API server has, and which of them a word means: what discovery says.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::{
    connection::{Connection, refused},
    failure::{self, Outcome},
};

/// All of a group and its resources in one answer.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
/// The group that a word means which several groups have.
const PREFERRED: &str = machinist_api::vitistack::GROUP;

/// A kind, in the version that the server prefers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    singular: String,
    short: Vec<String>,
    categories: Vec<String>,
    pub(crate) namespaced: bool,
    listable: bool,
}

/// Every kind of an API server.
pub(crate) struct Kinds(Vec<Kind>);

impl Kinds {
    /// Asks the API server.
    pub(crate) async fn discover(connection: &Connection) -> Outcome<Kinds> {
        let mut all = Vec::new();
        for path in ["/api", "/apis"] {
            let answer = connection.read(path, AGGREGATED).await;
            let answer = answer.map_err(refused("could not learn which kinds there are"))?;
            all.extend(groups(&answer));
        }
        Ok(Kinds(all))
    }

    /// The kinds that a word means: all of a category, or one. Where a word is both, it is the
    /// category, as for kubectl.
    pub(crate) fn meant(&self, word: &str) -> Outcome<Vec<&Kind>> {
        let category = word.to_lowercase();
        let of_category = |kind: &&Kind| kind.listable && kind.categories.contains(&category);
        let found: Vec<&Kind> = self.0.iter().filter(of_category).collect();
        match found.as_slice() {
            [] => Ok(vec![self.one(word)?]),
            _ => Ok(found),
        }
    }

    /// The kind of this very name in this very group.
    pub(crate) fn exact(&self, group: &str, kind: &str) -> Option<&Kind> {
        self.0
            .iter()
            .find(|known| known.group == group && known.kind == kind)
    }

    /// Everything of some groups that can be listed.
    pub(crate) fn of_groups<'a>(
        &'a self,
        wanted: impl Fn(&str) -> bool + 'a,
    ) -> impl Iterator<Item = &'a Kind> {
        self.0
            .iter()
            .filter(move |kind| kind.listable && wanted(&kind.group))
    }

    /// The one kind that a word means.
    pub(crate) fn one(&self, word: &str) -> Outcome<&Kind> {
        let named = self.0.iter().filter(|kind| kind.is_called(word));
        named.min_by_key(|kind| rank(kind)).ok_or_else(|| {
            failure::user_plain(format!("there is no kind {word:?}")).hint(
                "`machinist get crds` lists the kinds; a word may be plural, singular or short.",
            )
        })
    }
}

/// What is ours comes before what is not, and what is built in before extensions.
fn rank(kind: &Kind) -> u8 {
    match kind.group.as_str() {
        PREFERRED => 0,
        group if !group.contains('.') || group.ends_with(".k8s.io") => 1,
        _ => 2,
    }
}

impl Kind {
    fn is_called(&self, word: &str) -> bool {
        let lower = word.to_lowercase();
        let (name, group) = match lower.split_once('.') {
            Some((name, group)) => (name, Some(group)),
            None => (lower.as_str(), None),
        };
        let named = name == self.plural
            || name == self.singular
            || name == self.kind.to_lowercase()
            || (group.is_none() && self.short.iter().any(|short| *short == name));
        let versioned = format!("{}.{}", self.version, self.group);
        named && group.is_none_or(|group| group == self.group || group == versioned)
    }

    /// The same in another version.
    pub(crate) fn at(&self, version: &str) -> Kind {
        Kind {
            version: version.into(),
            ..self.clone()
        }
    }

    /// What `-o name` calls an object of this kind.
    pub(crate) fn object_name(&self, name: &str) -> String {
        match self.group.as_str() {
            "" => format!("{}/{name}", self.singular),
            group => format!("{}.{group}/{name}", self.singular),
        }
    }

    /// The path of all objects of a namespace, or of all.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let root = match self.group.as_str() {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        };
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => format!("{root}/namespaces/{}/{}", escape(namespace), self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }

    /// The path of one object.
    pub(crate) fn object_path(&self, namespace: &str, name: &str) -> String {
        format!("{}/{}", self.path(Some(namespace)), escape(name))
    }
}

/// A word as part of a path or of a query.
pub(crate) fn escape(word: &str) -> String {
    utf8_percent_encode(word, NON_ALPHANUMERIC).to_string()
}

fn groups(answer: &Value) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for item in list(&answer["items"]) {
        let group = text(&item["metadata"]["name"]);
        for version in list(&item["versions"]) {
            for resource in list(&version["resources"]) {
                let kind = kind(&group, &text(&version["version"]), resource);
                let known = kinds
                    .iter()
                    .any(|k| k.group == group && k.plural == kind.plural);
                // The first version is the one that the server prefers.
                if !known {
                    kinds.push(kind);
                }
            }
        }
    }
    kinds
}

fn kind(group: &str, version: &str, resource: &Value) -> Kind {
    let words = |value: &Value| list(value).iter().map(text).collect::<Vec<_>>();
    let name = text(&resource["responseKind"]["kind"]);
    let singular = text(&resource["singularResource"]);
    Kind {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: text(&resource["resource"]),
        singular: match singular.is_empty() {
            true => name.to_lowercase(),
            false => singular,
        },
        kind: name,
        short: words(&resource["shortNames"]),
        categories: words(&resource["categories"]),
        namespaced: resource["scope"] == "Namespaced",
        listable: words(&resource["verbs"]).iter().any(|verb| verb == "list"),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kinds() -> Kinds {
        let machine = |kind: &str, plural: &str, short: &[&str]| {
            json!({"resource": plural, "responseKind": {"kind": kind}, "scope": "Namespaced",
                "singularResource": kind.to_lowercase(), "shortNames": short,
                "verbs": ["get", "list"], "categories": ["vitistack"]})
        };
        let answer = json!({"items": [
            {"metadata": {"name": "compute.ironcore.dev"}, "versions": [
                {"version": "v1alpha1", "resources": [machine("Machine", "machines", &[])]}]},
            {"metadata": {"name": "vitistack.io"}, "versions": [
                {"version": "v1beta1", "resources": [machine("Machine", "machines", &["m"])]},
                {"version": "v1alpha1", "resources": [
                    machine("Machine", "machines", &["m"]),
                    machine("MachineProvider", "machineproviders", &["mp"])]}]},
        ]});
        Kinds(groups(&answer))
    }

    #[test]
    fn a_word_means_the_kind_that_a_person_expects() {
        let kinds = kinds();
        for (word, path) in [
            (
                "machines",
                "/apis/vitistack.io/v1beta1/namespaces/shop/machines",
            ),
            (
                "Machine",
                "/apis/vitistack.io/v1beta1/namespaces/shop/machines",
            ),
            ("m", "/apis/vitistack.io/v1beta1/namespaces/shop/machines"),
            (
                "mp",
                "/apis/vitistack.io/v1alpha1/namespaces/shop/machineproviders",
            ),
            (
                "machines.compute.ironcore.dev",
                "/apis/compute.ironcore.dev/v1alpha1/namespaces/shop/machines",
            ),
        ] {
            let kind = kinds.one(word).expect(word);
            assert_eq!(kind.path(Some("shop")), path, "{word}");
        }
        let category = kinds.meant("vitistack").expect("a category");
        assert_eq!(category.len(), 3);
        let unknown = kinds
            .meant("unicorns")
            .expect_err("no such kind")
            .to_string();
        assert!(unknown.contains("unicorns"), "{unknown}");
    }

    #[test]
    fn a_name_cannot_leave_its_path() {
        let kinds = kinds();
        let kind = kinds.one("mp").expect("a kind");
        let path = kind.object_path("a/../b", "../secrets?x=1");
        assert_eq!(path.matches('/').count(), 7, "{path}");
        assert!(!path.contains('?'), "{path}");
    }
}
