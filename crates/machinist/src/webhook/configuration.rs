//! Which webhooks an API server asks about which kinds, and where it finds them.
//!
//! A server that cannot reach them goes on: what a schema and CEL can say is enforced without us,
//! and nobody's writes wait for us.

use std::collections::BTreeSet;

use k8s_openapi::{
    ByteString,
    api::admissionregistration::v1::{
        MatchCondition, MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations,
        ServiceReference, ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
    },
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement, OwnerReference},
};
use kube::api::ObjectMeta;
use machinist_api::{
    admission,
    names::{SYSTEM_NAMESPACE, WEBHOOK_SERVICE},
    vitistack::GROUP,
};

/// Name of our configurations of admission webhooks.
const NAME: &str = "machinist";
/// Name of our configuration of the webhook that holds to quotas.
const QUOTA: &str = "machinist-quota";
/// Name of our configuration of the webhook that holds machines against what providers offer.
pub(super) const OFFERS: &str = "machinist-offers";
/// How long a server waits for an answer, in seconds.
const TIMEOUT: i32 = 5;

/// How an API server reaches the webhooks, and what the configurations that say so go with.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// A URL without a path; without one they are behind the documented service.
    url: Option<String>,
    /// What the configurations belong to: when it goes, they go.
    owner: Option<OwnerReference>,
}

impl Place {
    /// Behind the documented service.
    pub(crate) fn service() -> Place {
        Place {
            url: None,
            owner: None,
        }
    }

    /// At a URL without a path.
    pub(crate) fn url(url: String) -> Place {
        Place {
            url: Some(url),
            owner: None,
        }
    }

    /// The same, for configurations that go when their owner goes.
    pub(crate) fn owned_by(self, owner: Option<OwnerReference>) -> Place {
        Place { owner, ..self }
    }

    pub(super) fn url_of(&self, path: &str) -> Option<String> {
        let url = self.url.as_ref()?;
        Some(format!("{}{path}", url.trim_end_matches('/')))
    }

    pub(super) fn service_of(&self, path: &str) -> Option<ServiceReference> {
        self.url.is_none().then(|| ServiceReference {
            name: WEBHOOK_SERVICE.to_owned(),
            namespace: SYSTEM_NAMESPACE.to_owned(),
            path: Some(path.to_owned()),
            port: None,
        })
    }

    fn metadata(&self, name: &str) -> ObjectMeta {
        ObjectMeta {
            name: Some(name.to_owned()),
            owner_references: self.owner.clone().map(|owner| vec![owner]),
            ..ObjectMeta::default()
        }
    }

    fn client(&self, path: &str, authority: Option<&str>) -> WebhookClientConfig {
        WebhookClientConfig {
            ca_bundle: authority.map(|pem| ByteString(pem.as_bytes().to_vec())),
            service: self.service_of(path),
            url: self.url_of(path),
        }
    }
}

/// The defaults that follow from other fields; and, while traces are asked for, the place of a
/// machine in one.
pub(super) fn completing(
    place: &Place,
    authority: Option<&str>,
    traced: bool,
) -> MutatingWebhookConfiguration {
    let webhook = |name: &str, path: &str, of: &[(&str, &[&str])]| MutatingWebhook {
        name: format!("{name}.{GROUP}"),
        admission_review_versions: vec!["v1".to_owned()],
        client_config: place.client(path, authority),
        failure_policy: Some("Ignore".to_owned()),
        match_policy: Some("Equivalent".to_owned()),
        rules: Some(rules(of)),
        side_effects: "None".to_owned(),
        timeout_seconds: Some(TIMEOUT),
        ..MutatingWebhook::default()
    };
    let completed = webhook("complete", admission::COMPLETE_PATH, admission::COMPLETED);
    let trace = MutatingWebhook {
        match_conditions: Some(vec![new_or_changed()]),
        // A span is sent, but not of a dry run.
        side_effects: "NoneOnDryRun".to_owned(),
        ..webhook("trace", super::trace::PATH, &[(GROUP, &["machines"])])
    };
    let webhooks = [completed].into_iter().chain(traced.then_some(trace));
    MutatingWebhookConfiguration {
        metadata: place.metadata(NAME),
        webhooks: Some(webhooks.collect()),
    }
}

/// What asks for nothing new is not asked about.
fn new_or_changed() -> MatchCondition {
    MatchCondition {
        name: "is-new-or-changed".to_owned(),
        expression: "request.operation == 'CREATE' || object.spec != oldObject.spec".to_owned(),
    }
}

/// The rules that need code. Machines are many, and few of them have anything to be read, and only
/// while it is new: conditions keep the rest away from the wire.
pub(super) fn judging(place: &Place, authority: Option<&str>) -> ValidatingWebhookConfiguration {
    let webhook = |name: &str, of: &[(&str, &[&str])]| ValidatingWebhook {
        name: name.to_owned(),
        admission_review_versions: vec!["v1".to_owned()],
        client_config: place.client(admission::PATH, authority),
        failure_policy: Some("Ignore".to_owned()),
        match_policy: Some("Equivalent".to_owned()),
        rules: Some(rules(of)),
        side_effects: "None".to_owned(),
        timeout_seconds: Some(TIMEOUT),
        ..ValidatingWebhook::default()
    };
    let machines = ValidatingWebhook {
        match_conditions: Some(vec![
            MatchCondition {
                name: "has-first-boot-data".to_owned(),
                expression: admission::MATCH_CONDITION.to_owned(),
            },
            new_or_changed(),
        ]),
        ..webhook(&format!("validate.{GROUP}"), &[(GROUP, &["machines"])])
    };
    let others = webhook(&format!("rules.{GROUP}"), admission::JUDGED);
    ValidatingWebhookConfiguration {
        metadata: place.metadata(NAME),
        webhooks: Some(vec![machines, others]),
    }
}

/// The quotas, where there are any. What they limit is refused while nobody can say whether they
/// are exceeded; every other namespace is left alone.
pub(super) fn limiting(
    place: &Place,
    authority: Option<&str>,
    namespaces: &BTreeSet<String>,
) -> ValidatingWebhookConfiguration {
    let mut machines = rules(&[(GROUP, &["machines", "networkconfigurations"])]);
    // A server shows objects of the other version in this one.
    for rule in &mut machines {
        rule.api_versions = Some(vec!["v1alpha1".to_owned()]);
    }
    let selector = LabelSelector {
        match_expressions: Some(vec![LabelSelectorRequirement {
            key: "kubernetes.io/metadata.name".to_owned(),
            operator: "In".to_owned(),
            values: Some(namespaces.iter().cloned().collect()),
        }]),
        ..LabelSelector::default()
    };
    let webhook = ValidatingWebhook {
        name: format!("quota.{GROUP}"),
        admission_review_versions: vec!["v1".to_owned()],
        client_config: place.client(super::limit::PATH, authority),
        failure_policy: Some("Fail".to_owned()),
        match_policy: Some("Equivalent".to_owned()),
        match_conditions: Some(vec![MatchCondition {
            name: "may-take-more".to_owned(),
            expression: "request.operation == 'CREATE' || object.spec != oldObject.spec".to_owned(),
        }]),
        namespace_selector: Some(selector),
        rules: Some(machines),
        side_effects: "NoneOnDryRun".to_owned(),
        timeout_seconds: Some(TIMEOUT),
        ..ValidatingWebhook::default()
    };
    ValidatingWebhookConfiguration {
        metadata: place.metadata(QUOTA),
        webhooks: Some(
            (!namespaces.is_empty())
                .then_some(webhook)
                .into_iter()
                .collect(),
        ),
    }
}

/// What providers offer, where one does not offer everything. Nobody's writes wait for us: what is let
/// in meanwhile is refused by the platform.
pub(super) fn offering(
    place: &Place,
    authority: Option<&str>,
    choosy: bool,
) -> ValidatingWebhookConfiguration {
    let mut machines = rules(&[(GROUP, &["machines"])]);
    // A server shows objects of the other version in this one.
    for rule in &mut machines {
        rule.api_versions = Some(vec!["v1alpha1".to_owned()]);
    }
    let webhook = ValidatingWebhook {
        name: format!("offer.{GROUP}"),
        admission_review_versions: vec!["v1".to_owned()],
        client_config: place.client(super::limit::OFFER_PATH, authority),
        failure_policy: Some("Ignore".to_owned()),
        match_policy: Some("Equivalent".to_owned()),
        match_conditions: Some(vec![new_or_changed()]),
        rules: Some(machines),
        side_effects: "None".to_owned(),
        timeout_seconds: Some(TIMEOUT),
        ..ValidatingWebhook::default()
    };
    ValidatingWebhookConfiguration {
        metadata: place.metadata(OFFERS),
        webhooks: Some(choosy.then_some(webhook).into_iter().collect()),
    }
}

/// Creations and changes of kinds, by group and plural.
fn rules(kinds: &[(&str, &[&str])]) -> Vec<RuleWithOperations> {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    let one = |(group, plurals): &(&str, &[&str])| RuleWithOperations {
        api_groups: words(&[group]),
        api_versions: words(match *group {
            GROUP => &["v1alpha1", "v1beta1"],
            _ => &["v1alpha1"],
        }),
        operations: words(&["CREATE", "UPDATE"]),
        resources: words(plurals),
        scope: Some("Namespaced".to_owned()),
    };
    kinds.iter().map(one).collect()
}
