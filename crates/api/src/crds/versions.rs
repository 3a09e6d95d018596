//! Kinds in two versions: one CRD, and the webhook that converts between them.
//!
//! The service, its namespace and the path are the documented ones. The certificate that the server
//! trusts is left to whoever runs the webhook, and so is serving the second version: kubectl prefers
//! it, so without a webhook nobody could read what is stored, nor end a namespace.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, ServiceReference, WebhookClientConfig,
    WebhookConversion,
};

use crate::names::{CONVERSION_PATH, SYSTEM_NAMESPACE, WEBHOOK_SERVICE};

/// The CRD with every version served, for whoever runs the webhook.
pub fn serve_every_version(crd: &mut CustomResourceDefinition) {
    for version in &mut crd.spec.versions {
        version.served = true;
    }
}

/// The CRD with the version that is stored served alone, as it is shipped.
pub fn serve_stored_version(crd: &mut CustomResourceDefinition) {
    for version in &mut crd.spec.versions {
        version.served = version.storage;
    }
}

/// The CRD of a kind that is stored in one version and served in another one too.
pub(super) fn in_two_versions(
    mut stored: CustomResourceDefinition,
    other: CustomResourceDefinition,
) -> CustomResourceDefinition {
    for mut version in other.spec.versions {
        version.storage = false;
        version.served = false;
        stored.spec.versions.push(version);
    }
    stored.spec.conversion = Some(CustomResourceConversion {
        strategy: "Webhook".to_owned(),
        webhook: Some(WebhookConversion {
            client_config: Some(WebhookClientConfig {
                service: Some(ServiceReference {
                    name: WEBHOOK_SERVICE.to_owned(),
                    namespace: SYSTEM_NAMESPACE.to_owned(),
                    path: Some(CONVERSION_PATH.to_owned()),
                    port: None,
                }),
                ..WebhookClientConfig::default()
            }),
            conversion_review_versions: vec!["v1".to_owned()],
        }),
    });
    stored
}
