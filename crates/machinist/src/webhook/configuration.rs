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
    apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement},
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
/// How long a server waits for an answer, in seconds.
const TIMEOUT: i32 = 5;

/// How an API server reaches the webhooks.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Behind the documented service.
    Service,
    /// At a URL without a path.
    Url(String),
}

impl Place {
    pub(super) fn url(&self, path: &str) -> Option<String> {
        match self {
            Place::Service => None,
            Place::Url(url) => Some(format!("{}{path}", url.trim_end_matches('/'))),
        }
    }

    pub(super) fn service(&self, path: &str) -> Option<ServiceReference> {
        matches!(self, Place::Service).then(|| ServiceReference {
            name: WEBHOOK_SERVICE.to_owned(),
            namespace: SYSTEM_NAMESPACE.to_owned(),
            path: Some(path.to_owned()),
            port: None,
        })
    }

    fn client(&self, path: &str, authority: Option<&str>) -> WebhookClientConfig {
        WebhookClientConfig {
            ca_bundle: authority.map(|pem| ByteString(pem.as_bytes().to_vec())),
            service: self.service(path),
            url: self.url(path),
        }
    }
}

/// The defaults that follow from other fields.
pub(super) fn completing(place: &Place, authority: Option<&str>) -> MutatingWebhookConfiguration {
    MutatingWebhookConfiguration {
        metadata: metadata(),
        webhooks: Some(vec![MutatingWebhook {
            name: format!("complete.{GROUP}"),
            admission_review_versions: vec!["v1".to_owned()],
            client_config: place.client(admission::COMPLETE_PATH, authority),
            failure_policy: Some("Ignore".to_owned()),
            match_policy: Some("Equivalent".to_owned()),
            rules: Some(rules(admission::COMPLETED)),
            side_effects: "None".to_owned(),
            timeout_seconds: Some(TIMEOUT),
            ..MutatingWebhook::default()
        }]),
    }
}

/// The rules that need code. Machines are many, and few of them have anything to be read, so a
/// condition keeps the rest away from the wire.
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
        match_conditions: Some(vec![MatchCondition {
            name: "has-first-boot-data".to_owned(),
            expression: admission::MATCH_CONDITION.to_owned(),
        }]),
        ..webhook(&format!("validate.{GROUP}"), &[(GROUP, &["machines"])])
    };
    let others = webhook(&format!("rules.{GROUP}"), admission::JUDGED);
    ValidatingWebhookConfiguration {
        metadata: metadata(),
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
        metadata: ObjectMeta {
            name: Some(QUOTA.to_owned()),
            ..ObjectMeta::default()
        },
        webhooks: Some(
            (!namespaces.is_empty())
                .then_some(webhook)
                .into_iter()
                .collect(),
        ),
    }
}

fn metadata() -> ObjectMeta {
    ObjectMeta {
        name: Some(NAME.to_owned()),
        ..ObjectMeta::default()
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
