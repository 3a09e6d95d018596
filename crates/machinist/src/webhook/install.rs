//! Telling an API server where the webhooks are and whom to trust.

use std::fmt::Debug;

use k8s_openapi::serde::{Serialize, de::DeserializeOwned};
use k8s_openapi::{
    ByteString, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{Patch, PatchParams},
};
use machinist_api::{crds, names::CONVERSION_PATH};
use serde_json::json;

use super::configuration::{self, Place};
use crate::failure::{self, Outcome};

/// The name under which the server records what we write.
const MANAGER: &str = "machinist";

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
    apply(client, &configuration::completing(place, authority)).await?;
    apply(client, &configuration::judging(place, authority)).await
}

async fn apply<K>(client: &Client, configuration: &K) -> Outcome
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Serialize,
{
    let configurations: Api<K> = Api::all(client.clone());
    let params = PatchParams::apply(MANAGER).force();
    configurations
        .patch(
            &configuration.name_any(),
            &params,
            &Patch::Apply(configuration),
        )
        .await
        .map_err(|e| failure::refused("could not configure the admission webhooks", e))?;
    Ok(())
}
