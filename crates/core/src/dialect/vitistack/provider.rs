//! From a declared MachineProvider to what a driver is built from, and which provider a
//! Machine means.

use std::{collections::BTreeMap, time::Duration};

use jiff::SignedDuration;
use machinist_api::{
    names,
    vitistack::{
        machine::Machine,
        machine_provider::{MachineProvider, ProviderSettings, ProviderType},
    },
};
use thiserror::Error;

use crate::provider::{Courtesy, Credentials, ProviderSpec, Rate};

/// How a Machine names its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderQuery {
    /// By name; without a namespace, the Machine's own, then the shared one.
    Named {
        /// Namespace, when it is given.
        namespace: Option<String>,
        /// Name.
        name: String,
    },
    /// By platform and region, as far as they are given, in the Machine's own namespace, then the
    /// shared one.
    Matching {
        /// The platform.
        kind: Option<String>,
        /// The region.
        region: Option<String>,
    },
    /// By one word, which is a provider's name or its platform; in the Machine's own namespace,
    /// then the shared one.
    Called {
        /// The word.
        word: String,
        /// The region, when it is given.
        region: Option<String>,
    },
}

/// The Machine refers to a provider and does not say which.
#[derive(Debug, Error, Clone, Copy, PartialEq, Eq)]
#[error(
    "spec.providerRef has no name: give it, or leave spec.providerRef out to have a provider chosen"
)]
pub struct ProviderRefError;

/// Which provider a Machine means; one that names none means any.
///
/// # Errors
/// When it refers to one without a name.
pub fn provider_query(machine: &Machine) -> Result<ProviderQuery, ProviderRefError> {
    if let Some(reference) = machine.spec.provider_ref.as_ref() {
        let name = reference.name.clone().ok_or(ProviderRefError)?;
        return Ok(ProviderQuery::Named {
            namespace: reference.namespace.clone(),
            name,
        });
    }
    let config = machine.spec.provider_config.as_ref();
    if let Some(word) = machine.spec.provider.as_ref() {
        return Ok(ProviderQuery::Called {
            word: word.clone(),
            region: config.and_then(|config| config.region.clone()),
        });
    }
    Ok(ProviderQuery::Matching {
        kind: config.and_then(|config| Some(config.name?.as_str().to_owned())),
        region: config.and_then(|config| config.region.clone()),
    })
}

impl ProviderQuery {
    /// Whether a provider is the one that is meant, as far as its own fields say.
    pub fn matches(&self, provider: &MachineProvider) -> bool {
        match self {
            ProviderQuery::Named { namespace, name } => {
                provider.metadata.name.as_ref() == Some(name)
                    && (namespace.is_none() || provider.metadata.namespace == *namespace)
            }
            ProviderQuery::Matching { kind, region } => {
                let same_kind = kind.as_ref().is_none_or(|kind| platform(provider) == kind);
                same_kind && (region.is_none() || provider.spec.region == *region)
            }
            ProviderQuery::Called { word, region } => {
                (provider.metadata.name.as_ref() == Some(word) || platform(provider) == word)
                    && (region.is_none() || provider.spec.region == *region)
            }
        }
    }

    /// Where to look, in this order, for a machine of namespace `own`.
    pub fn namespaces<'a>(&'a self, own: &'a str) -> Vec<&'a str> {
        match self {
            ProviderQuery::Named {
                namespace: Some(namespace),
                ..
            } => vec![namespace],
            ProviderQuery::Named { .. }
            | ProviderQuery::Matching { .. }
            | ProviderQuery::Called { .. } => match own {
                names::SYSTEM_NAMESPACE => vec![own],
                _ => vec![own, names::SYSTEM_NAMESPACE],
            },
        }
    }

    /// What was looked for, in words.
    pub fn describe(&self) -> String {
        match self {
            ProviderQuery::Named {
                namespace: Some(namespace),
                name,
            } => format!("MachineProvider {namespace}/{name}"),
            ProviderQuery::Named {
                namespace: None,
                name,
            } => format!("MachineProvider {name:?}"),
            ProviderQuery::Matching { kind, region } => {
                let kind = kind.as_ref().map(|kind| format!(" of type {kind:?}"));
                let region = region
                    .as_ref()
                    .map(|region| format!(" in region {region:?}"));
                let (kind, region) = (kind.unwrap_or_default(), region.unwrap_or_default());
                format!("MachineProvider{kind}{region}")
            }
            ProviderQuery::Called { word, region: None } => {
                format!("MachineProvider of name or type {word:?}")
            }
            ProviderQuery::Called {
                word,
                region: Some(region),
            } => format!("MachineProvider of name or type {word:?} in region {region:?}"),
        }
    }
}

/// The platform's name; `vmware` is the second documented word for `vsphere`.
pub(super) fn platform(provider: &MachineProvider) -> &'static str {
    match provider.spec.type_.or(provider.spec.provider_type) {
        Some(ProviderType::Vmware) => ProviderType::Vsphere.as_str(),
        Some(kind) => kind.as_str(),
        None => "",
    }
}

/// The Secrets that a provider refers to: namespace (its own unless given) and name.
pub fn secret_names(provider: &MachineProvider) -> Vec<(String, String)> {
    let own = provider.metadata.namespace.clone().unwrap_or_default();
    references(provider)
        .filter_map(|(namespace, name)| {
            let namespace = namespace.cloned().unwrap_or_else(|| own.clone());
            Some((namespace, name?.clone()))
        })
        .collect()
}

/// Namespace and name of every Secret that a provider refers to, in each documented form.
fn references(
    provider: &MachineProvider,
) -> impl Iterator<Item = (Option<&String>, Option<&String>)> {
    let authentication = provider.spec.authentication.as_ref();
    let keys = authentication.and_then(|a| a.api_key.as_ref()?.secret_ref.as_ref());
    let oauth2 = authentication.and_then(|a| a.oauth2.as_ref()?.client_secret_ref.as_ref());
    let certificate = authentication.and_then(|a| a.certificate.as_ref()?.cert_secret_ref.as_ref());
    let key = authentication.and_then(|a| a.certificate.as_ref()?.key_secret_ref.as_ref());
    let service_account = authentication.and_then(|a| a.service_account.as_ref());
    let account = service_account.and_then(|s| s.secret_ref.as_ref());
    let credentials = provider
        .spec
        .credentials
        .as_ref()
        .and_then(|c| c.secret_ref.as_ref());
    let documented = [keys, oauth2, certificate, key, account, credentials]
        .into_iter()
        .flatten()
        .map(|secret| (secret.namespace.as_ref(), secret.name.as_ref()));
    let shipped = [
        authentication.and_then(|a| a.credentials_ref.as_ref()),
        service_account.and_then(|s| s.key_ref.as_ref()),
    ]
    .into_iter()
    .flatten()
    .map(|secret| {
        let name = secret.name.as_ref().or(secret.secret_name.as_ref());
        (secret.namespace.as_ref(), name)
    });
    documented.chain(shipped)
}

/// The declared limit of a call. What is not a duration was refused at admission.
fn timeout(provider: &MachineProvider) -> Option<Duration> {
    let spec = &provider.spec;
    let of_config = spec.config.as_ref().and_then(|c| c.timeout.as_deref());
    let of_endpoint = spec.endpoint.as_ref().and_then(|e| e.timeout.as_deref());
    let Some(text) = of_config.or(of_endpoint) else {
        let seconds = spec.endpoint.as_ref()?.timeout_seconds?;
        return Some(Duration::from_secs(u64::try_from(seconds).ok()?));
    };
    duration(text).filter(|limit| !limit.is_zero())
}

/// How gently the platform is treated. What is no number was refused at admission.
fn courtesy(provider: &MachineProvider) -> Courtesy {
    let config = provider.spec.config.as_ref();
    let retry = config.and_then(|config| config.retry_policy.as_ref());
    let endpoint = provider.spec.endpoint.as_ref();
    let retries = retry
        .and_then(|retry| retry.max_retries)
        .or(endpoint.and_then(|endpoint| endpoint.retry_attempts));
    let number = |text: Option<&String>| text?.parse::<f64>().ok();
    let delay = retry.and_then(|retry| retry.max_backoff_delay.as_deref());
    let rate = config.and_then(|config| config.rate_limiting.as_ref());
    let burst = rate.and_then(|rate| rate.burst_limit);
    let usual = Courtesy::default();
    Courtesy {
        max_retries: retries.and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
        multiplier: number(retry.and_then(|retry| retry.backoff_multiplier.as_ref()))
            .unwrap_or(usual.multiplier),
        max_delay: delay.and_then(duration).unwrap_or(usual.max_delay),
        rate: number(rate.and_then(|rate| rate.requests_per_second.as_ref()))
            .and_then(|rate| Rate::new(rate, burst.and_then(|n| u32::try_from(n).ok()))),
    }
}

fn duration(text: &str) -> Option<Duration> {
    Duration::try_from(text.parse::<SignedDuration>().ok()?).ok()
}

/// The settings that only this platform knows: those of the documented map, and strings beside it.
fn settings(config: &ProviderSettings) -> BTreeMap<String, String> {
    let beside = config
        .further
        .iter()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    let mut settings: BTreeMap<String, String> = beside.collect();
    settings.extend(config.custom_settings.clone());
    settings
}

/// Understands a MachineProvider; `secrets` holds what its Secrets hold, by key.
pub fn lower_provider(
    provider: &MachineProvider,
    secrets: BTreeMap<String, Vec<u8>>,
) -> ProviderSpec {
    let spec = &provider.spec;
    let config = spec.config.as_ref();
    let images = spec.capabilities.iter().flat_map(|c| &c.available_images);
    ProviderSpec {
        name: provider.metadata.name.clone().unwrap_or_default(),
        namespace: provider.metadata.namespace.clone().unwrap_or_default(),
        uid: provider.metadata.uid.clone().unwrap_or_default(),
        kind: platform(provider).into(),
        region: spec.region.clone(),
        endpoint: config.and_then(|config| config.endpoint.clone()).or(spec
            .endpoint
            .as_ref()
            .and_then(|endpoint| endpoint.url.clone())),
        timeout: timeout(provider),
        courtesy: courtesy(provider),
        images: images
            .filter_map(|image| Some((image.name.clone(), image.id.clone()?)))
            .collect(),
        settings: config.map(settings).unwrap_or_default(),
        credentials: Credentials::new(secrets),
    }
}
