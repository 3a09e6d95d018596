//! Providers that a Vitistack declares: those inline become MachineProviders that it owns and are
//! kept as declared; one that somebody else made under such a name is left alone.

use std::{collections::HashMap, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::{
    Api, Resource, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, Preconditions},
    runtime::reflector::ObjectRef,
};
use machinist_api::{
    names,
    vitistack::{
        MachineProvider, Vitistack,
        stack::{InfrastructureProvider, StackProviderType},
    },
};
use machinist_core::dialect::vitistack::{FoundProvider, inline_providers};
use serde_json::{Value, json};

use crate::{context::Context, error::PassError};

/// In which words the API server refused a provider, by name.
pub(super) type Refused = HashMap<String, String>;

/// Makes, corrects and removes the MachineProviders of the inline declarations.
pub(super) async fn keep(stack: &Vitistack, context: &Context) -> Result<Refused, PassError> {
    let mut refused = Refused::new();
    let namespace = stack.namespace().unwrap_or_default();
    let api: Api<MachineProvider> = Api::namespaced(context.client.clone(), &namespace);
    let declared: Vec<&InfrastructureProvider> = inline_providers(stack)
        .iter()
        .filter(|declared| makes_machines(declared))
        .collect();
    for provider in &declared {
        let there = get(&namespace, &provider.name, context);
        if there.as_ref().is_some_and(|there| !owns(stack, there)) {
            continue;
        }
        let wanted = object(stack, provider);
        if there.is_some_and(|there| is_as_declared(&there, &wanted["spec"])) {
            continue;
        }
        let params = PatchParams::apply(names::STACK_FIELD_MANAGER).force();
        let applied = api
            .patch(&provider.name, &params, &Patch::Apply(&wanted))
            .await;
        match applied {
            Ok(_) => {
                let note = format!(
                    "MachineProvider {namespace}/{} is as declared.",
                    provider.name
                );
                let events = &context.events;
                events.normal(stack, "ProviderApplied", "apply", note).await;
            }
            // A person must correct it; the others need not wait for that.
            Err(kube::Error::Api(status)) if status.code == 422 || status.code == 403 => {
                let note = format!("MachineProvider {}: {}", provider.name, status.message);
                refused.insert(provider.name.clone(), status.message.clone());
                let events = &context.events;
                events
                    .warning(stack, "ProviderRefused", "apply", note)
                    .await;
            }
            Err(error) => return Err(PassError::api("could not apply a provider")(error)),
        }
    }
    for left in context.providers.state() {
        let named = |declared: &&InfrastructureProvider| declared.name == left.name_any();
        let is_over = owns(stack, &left) && !declared.iter().any(named);
        if !is_over || left.metadata.deletion_timestamp.is_some() {
            continue;
        }
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: left.uid(),
                resource_version: None,
            }),
            ..DeleteParams::default()
        };
        match api.delete(&left.name_any(), &params).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => {}
            Err(error) => return Err(PassError::api("could not remove a provider")(error)),
        }
    }
    Ok(refused)
}

/// Every provider of the Vitistack, inline or by reference, as it is.
pub(super) fn find(stack: &Vitistack, refused: &Refused, context: &Context) -> Vec<FoundProvider> {
    let own = stack.namespace().unwrap_or_default();
    let inline = inline_providers(stack).iter().map(|declared| {
        let there = get(&own, &declared.name, context);
        let object = match there {
            _ if !makes_machines(declared) => Err(format!(
                "type {} makes no machines, and nothing of it is made here",
                declared.type_.map_or("none", StackProviderType::as_str)
            )),
            Some(there) if owns(stack, &there) => Ok(there),
            Some(_) => Err(format!(
                "MachineProvider {own}/{} is there already and is not of this Vitistack; rename one of them",
                declared.name
            )),
            None => Err(match refused.get(&declared.name) {
                Some(words) => format!("its MachineProvider was refused: {words}"),
                None => "its MachineProvider is not there yet".to_owned(),
            }),
        };
        found(&declared.name, &own, object, context)
    });
    let used = stack.spec.machine_providers.iter();
    let used = used
        .filter(|used| used.enabled.unwrap_or(true))
        .map(|used| {
            let namespace = used.namespace.clone().unwrap_or_else(|| own.clone());
            let object = get(&namespace, &used.name, context)
                .ok_or_else(|| format!("there is no MachineProvider {namespace}/{}", used.name));
            found(&used.name, &namespace, object, context)
        });
    inline.chain(used).collect()
}

fn found(
    name: &str,
    namespace: &str,
    object: Result<Arc<MachineProvider>, String>,
    context: &Context,
) -> FoundProvider {
    let site = (namespace.to_owned(), name.to_owned());
    FoundProvider {
        name: name.to_owned(),
        object,
        machines: context.placing.machines(&site),
    }
}

fn get(namespace: &str, name: &str, context: &Context) -> Option<Arc<MachineProvider>> {
    context
        .providers
        .get(&ObjectRef::new(name).within(namespace))
}

/// Kea and Talos are no platforms that machines run on.
fn makes_machines(declared: &InfrastructureProvider) -> bool {
    match declared.type_ {
        Some(StackProviderType::Proxmox | StackProviderType::Kubevirt) => true,
        Some(StackProviderType::Talos | StackProviderType::Kea) | None => false,
    }
}

fn owns(stack: &Vitistack, provider: &MachineProvider) -> bool {
    let owners = provider.metadata.owner_references.as_deref();
    let mut owners = owners.unwrap_or_default().iter();
    owners.any(|owner| Some(&owner.uid) == stack.metadata.uid.as_ref())
}

/// Whether everything that is declared is there; what others added is theirs.
fn is_as_declared(provider: &MachineProvider, wanted: &Value) -> bool {
    let there = serde_json::to_value(&provider.spec).unwrap_or_default();
    contains(&there, wanted)
}

fn contains(there: &Value, wanted: &Value) -> bool {
    match (there, wanted) {
        (Value::Object(there), Value::Object(wanted)) => wanted
            .iter()
            .all(|(key, value)| there.get(key).is_some_and(|there| contains(there, value))),
        (there, wanted) => there == wanted,
    }
}

fn object(stack: &Vitistack, declared: &InfrastructureProvider) -> Value {
    let InfrastructureProvider {
        name,
        type_,
        endpoint,
        region,
        credentials,
    } = declared;
    let owner = OwnerReference {
        block_owner_deletion: Some(false),
        ..stack.controller_owner_ref(&()).unwrap_or_default()
    };
    let mut spec = json!({ "type": type_ });
    if let Some(region) = region {
        spec["region"] = region.as_str().into();
    }
    match endpoint {
        Some(url) if url.contains("://") => spec["endpoint"] = json!({ "url": url }),
        Some(host) => spec["config"] = json!({ "endpoint": host }),
        None => {}
    }
    if let Some(reference) = credentials.as_ref().and_then(|c| c.secret_ref.as_ref()) {
        spec["credentials"] = json!({ "secretRef": reference });
    }
    json!({
        "apiVersion": "vitistack.io/v1alpha1",
        "kind": "MachineProvider",
        "metadata": {
            "name": name,
            "ownerReferences": [owner],
        },
        "spec": spec,
    })
}
