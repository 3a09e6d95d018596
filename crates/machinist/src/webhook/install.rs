//! Telling an API server where the webhooks are and whom to trust.

use k8s_openapi::{
    ByteString,
    api::admissionregistration::v1::{
        MatchCondition, RuleWithOperations, ServiceReference, ValidatingWebhook,
        ValidatingWebhookConfiguration, WebhookClientConfig,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, ResourceExt,
    api::{ObjectMeta, Patch, PatchParams},
};
use machinist_api::{
    admission, crds,
    names::{CONVERSION_PATH, SYSTEM_NAMESPACE, WEBHOOK_SERVICE},
    vitistack::GROUP,
};
use serde_json::json;

use crate::failure::{self, Outcome};

/// Name of our configuration of admission webhooks.
const CONFIGURATION: &str = "machinist";
/// The name under which the server records what we write.
const MANAGER: &str = "machinist";

/// How an API server reaches the webhooks.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Behind the documented service.
    Service,
    /// At a URL without a path.
    Url(String),
}

impl Place {
    fn url(&self, path: &str) -> Option<String> {
        match self {
            Place::Service => None,
            Place::Url(url) => Some(format!("{}{path}", url.trim_end_matches('/'))),
        }
    }

    fn service(&self, path: &str) -> Option<ServiceReference> {
        matches!(self, Place::Service).then(|| ServiceReference {
            name: WEBHOOK_SERVICE.to_owned(),
            namespace: SYSTEM_NAMESPACE.to_owned(),
            path: Some(path.to_owned()),
            port: None,
        })
    }
}

/// The rules that need a parser, as a configuration. A server that cannot reach them goes on: what
/// a schema and CEL can say is enforced without us, and nobody's writes wait for us.
fn admission_configuration(
    place: &Place,
    authority: Option<&str>,
) -> ValidatingWebhookConfiguration {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    ValidatingWebhookConfiguration {
        metadata: ObjectMeta {
            name: Some(CONFIGURATION.to_owned()),
            ..ObjectMeta::default()
        },
        webhooks: Some(vec![ValidatingWebhook {
            name: format!("validate.{GROUP}"),
            admission_review_versions: vec!["v1".to_owned()],
            client_config: WebhookClientConfig {
                ca_bundle: authority.map(|pem| ByteString(pem.as_bytes().to_vec())),
                service: place.service(admission::PATH),
                url: place.url(admission::PATH),
            },
            failure_policy: Some("Ignore".to_owned()),
            match_conditions: Some(vec![MatchCondition {
                name: "has-first-boot-data".to_owned(),
                expression: admission::MATCH_CONDITION.to_owned(),
            }]),
            match_policy: Some("Equivalent".to_owned()),
            rules: Some(vec![RuleWithOperations {
                api_groups: words(&[GROUP]),
                api_versions: words(&["v1alpha1", "v1beta1"]),
                operations: words(&["CREATE", "UPDATE"]),
                resources: words(&["machines"]),
                scope: Some("Namespaced".to_owned()),
            }]),
            side_effects: "None".to_owned(),
            timeout_seconds: Some(5),
            ..ValidatingWebhook::default()
        }]),
    }
}

/// Tells the server in this process, which answers for the service itself.
pub(crate) async fn configure_embedded(client: &Client) -> Outcome {
    configure_admission(client, &Place::Service, None).await
}

/// Points the installed CRDs and our configuration of admission webhooks to the webhooks.
pub(crate) async fn install(client: &Client, place: &Place, authority: &str) -> Outcome {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in crds()
        .into_iter()
        .filter(|crd| crd.spec.conversion.is_some())
    {
        let name = crd.name_any();
        let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": {
            "caBundle": ByteString(authority.as_bytes().to_vec()),
            "service": place.service(CONVERSION_PATH),
            "url": place.url(CONVERSION_PATH),
        }}}}});
        let params = PatchParams::default();
        match definitions
            .patch(&name, &params, &Patch::Merge(&patch))
            .await
        {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 404 => {
                tracing::debug!(crd = name, "is not installed");
            }
            Err(e) => {
                return Err(failure::refused(
                    format!("could not point {name} to its webhook"),
                    e,
                ));
            }
        }
    }
    configure_admission(client, place, Some(authority)).await
}

/// A CRD that says where its webhook is, if it has one.
pub(crate) fn point(crd: &mut CustomResourceDefinition, place: &Place, authority: &str) {
    let webhook = crd
        .spec
        .conversion
        .as_mut()
        .and_then(|c| c.webhook.as_mut());
    if let Some(config) = webhook.and_then(|webhook| webhook.client_config.as_mut()) {
        config.ca_bundle = Some(ByteString(authority.as_bytes().to_vec()));
        config.url = place.url(CONVERSION_PATH);
        if config.url.is_some() {
            config.service = None;
        }
    }
}

async fn configure_admission(client: &Client, place: &Place, authority: Option<&str>) -> Outcome {
    let configurations: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    let configuration = admission_configuration(place, authority);
    let params = PatchParams::apply(MANAGER).force();
    configurations
        .patch(CONFIGURATION, &params, &Patch::Apply(&configuration))
        .await
        .map_err(|e| failure::refused("could not configure the admission webhook", e))?;
    Ok(())
}
