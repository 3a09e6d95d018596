//! Telling an API server where the webhooks are and whom to trust.

use std::{collections::BTreeSet, fmt::Debug, pin::pin};

use futures::StreamExt;
use k8s_openapi::serde::{Serialize, de::DeserializeOwned};
use k8s_openapi::{
    ByteString,
    api::{admissionregistration::v1::ValidatingWebhookConfiguration, rbac::v1::ClusterRole},
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
    core::PartialObjectMeta,
    runtime::{WatchStreamExt, watcher},
};
use machinist_api::{
    convert::CONVERTIBLE_KINDS, crds::serve_every_version, names::CONVERSION_PATH, vitistack::GROUP,
};
use serde_json::{Value, json};

use super::configuration::{self, Place};
use crate::failure::{self, Outcome};

/// The name under which the server records what we write.
const MANAGER: &str = "machinist";

/// Tells the server in this process, which answers for the service itself.
pub(crate) async fn configure_embedded(client: &Client, traced: bool) -> Outcome {
    configure_admission(client, &Place::service(), None, traced).await
}

/// What configurations belong to that go when this ClusterRole goes: a namespace cannot own them.
pub(crate) async fn owner(client: &Client, role: &str) -> Outcome<Option<OwnerReference>> {
    let roles: Api<ClusterRole> = Api::all(client.clone());
    let role = roles
        .get(role)
        .await
        .map_err(|e| failure::refused(format!("could not read the ClusterRole {role}"), e))?;
    Ok(role.owner_ref(&()))
}

/// Points the installed CRDs and our configuration of admission webhooks to the webhooks.
pub(crate) async fn install(
    client: &Client,
    place: &Place,
    authority: &str,
    traced: bool,
) -> Outcome {
    let config = client_config(place, authority);
    for name in converted() {
        make_whole(client, &name, Some(&config))
            .await
            .map_err(|e| failure::refused(format!("could not point {name} to its webhook"), e))?;
    }
    configure_admission(client, place, Some(authority), traced).await
}

/// Keeps both versions served for as long as this program converts: whoever applies the shipped
/// definitions again takes the second one back. It ends only when it is dropped.
pub(crate) async fn keep(client: Client, webhook: Option<(Place, String)>) {
    let config = webhook.map(|(place, authority)| client_config(&place, &authority));
    let names: Vec<String> = converted().collect();
    let definitions: Api<PartialObjectMeta<CustomResourceDefinition>> = Api::all(client.clone());
    let changes = watcher(definitions, watcher::Config::default())
        .default_backoff()
        .applied_objects();
    let mut changes = pin!(changes);
    while let Some(change) = changes.next().await {
        let name = match change {
            Ok(definition) => definition.name_any(),
            Err(error) => {
                tracing::warn!(%error, "definitions cannot be watched");
                continue;
            }
        };
        if names.contains(&name)
            && let Err(error) = make_whole(&client, &name, config.as_ref()).await
        {
            tracing::warn!(crd = name, %error, "could not serve every version");
        }
    }
}

/// Names of the definitions that have two versions.
fn converted() -> impl Iterator<Item = String> {
    let plurals = CONVERTIBLE_KINDS.iter().map(|kind| kind.to_lowercase());
    plurals.map(|kind| format!("{kind}s.{GROUP}"))
}

/// How a server reaches the conversion webhook, with everything that it would fill in.
fn client_config(place: &Place, authority: &str) -> Value {
    let authority = ByteString(authority.as_bytes().to_vec());
    match (
        place.url_of(CONVERSION_PATH),
        place.service_of(CONVERSION_PATH),
    ) {
        (Some(url), _) => json!({"caBundle": authority, "url": url}),
        (None, service) => {
            let mut config = json!({"caBundle": authority, "service": service});
            config["service"]["port"] = 443.into();
            config
        }
    }
}

/// Makes an installed definition whole: where its webhook is, and every version served.
async fn make_whole(
    client: &Client,
    name: &str,
    config: Option<&Value>,
) -> Result<(), kube::Error> {
    let resource = ApiResource::erase::<CustomResourceDefinition>(&());
    let definitions: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let params = PostParams {
        field_manager: Some(MANAGER.to_owned()),
        dry_run: false,
    };
    loop {
        let Some(mut definition) = definitions.get_opt(name).await? else {
            tracing::debug!(crd = name, "is not installed");
            return Ok(());
        };
        let before = definition.data.clone();
        let spec = &mut definition.data["spec"];
        if let Some(config) = config {
            spec["conversion"]["webhook"]["clientConfig"] = config.clone();
        }
        for version in spec["versions"].as_array_mut().into_iter().flatten() {
            version["served"] = true.into();
        }
        if definition.data == before {
            return Ok(());
        }
        match definitions.replace(name, &params, &definition).await {
            // Somebody else wrote first; what they wrote counts too.
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            written => return written.map(drop),
        }
    }
}

/// A CRD that says where its webhook is, if it has one, and serves every version.
pub(crate) fn point(crd: &mut CustomResourceDefinition, place: &Place, authority: &str) {
    serve_every_version(crd);
    let webhook = crd
        .spec
        .conversion
        .as_mut()
        .and_then(|c| c.webhook.as_mut());
    if let Some(config) = webhook.and_then(|webhook| webhook.client_config.as_mut()) {
        config.ca_bundle = Some(ByteString(authority.as_bytes().to_vec()));
        config.url = place.url_of(CONVERSION_PATH);
        if config.url.is_some() {
            config.service = None;
        }
    }
}

async fn configure_admission(
    client: &Client,
    place: &Place,
    authority: Option<&str>,
    traced: bool,
) -> Outcome {
    let completing = configuration::completing(place, authority, traced);
    apply(client, &completing).await?;
    apply(client, &configuration::judging(place, authority)).await
}

/// Has servers ask about what is limited in these namespaces, and in no others.
pub(super) async fn configure_limits(
    client: &Client,
    place: &Place,
    authority: Option<&str>,
    namespaces: &BTreeSet<String>,
) -> Outcome {
    apply(
        client,
        &configuration::limiting(place, authority, namespaces),
    )
    .await
}

/// Has servers ask about machines when there are providers that do not offer everything.
pub(super) async fn configure_offers(
    client: &Client,
    place: &Place,
    authority: Option<&str>,
    choosy: bool,
) -> Outcome {
    let name = configuration::OFFERS;
    // Where nobody has ever had to ask, nothing is written.
    let configurations: Api<PartialObjectMeta<ValidatingWebhookConfiguration>> =
        Api::all(client.clone());
    if !choosy
        && configurations
            .get_metadata_opt(name)
            .await
            .map_err(|e| failure::refused("could not look at the admission webhooks", e))?
            .is_none()
    {
        return Ok(());
    }
    apply(client, &configuration::offering(place, authority, choosy)).await
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
