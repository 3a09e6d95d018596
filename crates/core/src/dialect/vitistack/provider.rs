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

use super::credentials::SecretData;
use crate::{
    machine::Trouble,
    provider::{Access, Courtesy, Credentials, ProviderSpec, Rate, Trust},
};

/// The setting that lets a provider be at, and take images from, link-local addresses. It is no
/// platform's own.
const LINK_LOCAL: &str = "allowLinkLocal";

/// The field that drivers blame for an endpoint, in whichever form it was declared.
const ENDPOINT: &str = "spec.config.endpoint";
/// The reason of a trouble of which nothing more is known.
const UNREACHABLE: &str = "ProviderUnreachable";

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
        poll: config.and_then(|config| duration(settings(config).get(names::POLL_INTERVAL)?)),
    }
}

fn duration(text: &str) -> Option<Duration> {
    Duration::try_from(text.parse::<SignedDuration>().ok()?).ok()
}

/// The settings of a provider: those of the documented map, and strings beside it.
fn settings(config: &ProviderSettings) -> BTreeMap<String, String> {
    let beside = config
        .further
        .iter()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    let mut settings: BTreeMap<String, String> = beside.collect();
    settings.extend(config.custom_settings.clone());
    settings
}

/// The same without those that no platform has of its own.
fn of_platform(config: &ProviderSettings) -> BTreeMap<String, String> {
    let mut settings = settings(config);
    settings.retain(|name, _| ![LINK_LOCAL, names::POLL_INTERVAL].contains(&name.as_str()));
    settings
}

/// Where the platform's API is, in either documented form.
pub(super) fn declared_endpoint(provider: &MachineProvider) -> Option<String> {
    let config = provider.spec.config.as_ref();
    let endpoint = provider.spec.endpoint.as_ref();
    let of_config = config.and_then(|config| config.endpoint.clone());
    of_config.or(endpoint.and_then(|endpoint| endpoint.url.clone()))
}

/// The same trouble, in the words of the declaration: the field that the endpoint is from, and, where
/// nobody answers as a platform does, its value and what to do.
pub fn located(provider: &MachineProvider, trouble: Trouble) -> Trouble {
    let Some(endpoint) = declared_endpoint(provider) else {
        return trouble;
    };
    let config = provider.spec.config.as_ref();
    let field = match config.and_then(|config| config.endpoint.as_ref()) {
        Some(_) => ENDPOINT,
        None => "spec.endpoint.url",
    };
    let declared = provider.spec.authentication.as_ref();
    let issuer = declared.and_then(|declared| declared.oauth2.as_ref()?.token_url.as_deref());
    // What an issuer of tokens is silent about is not the platform's fault.
    let of_issuer = issuer.is_some_and(|issuer| trouble.message.contains(issuer));
    let message = match trouble.reason.as_str() {
        UNREACHABLE if !of_issuer => format!(
            "{} ({field}: {endpoint:?}; check that this is the platform's API, and that it answers)",
            trouble.message
        ),
        _ => match trouble.message.strip_prefix(ENDPOINT) {
            Some(rest) => format!("{field}{rest}"),
            None => trouble.message,
        },
    };
    Trouble { message, ..trouble }
}

/// What the endpoint's certificate is checked against. Naming an authority and not checking at the
/// same time is refused at admission; where nobody asked, the certificate is checked.
pub(super) fn trust(provider: &MachineProvider) -> Trust {
    let Some(endpoint) = provider.spec.endpoint.as_ref() else {
        return Trust::Usual;
    };
    let skip = [
        endpoint.insecure_skip_tls_verify,
        endpoint.insecure_skip_verify,
    ];
    match &endpoint.ca_bundle {
        Some(bundle) => Trust::Bundle(bundle.clone()),
        None if skip.contains(&Some(true)) => Trust::Unchecked,
        None => Trust::Usual,
    }
}

/// Understands a MachineProvider; `access` is what its Secrets mean, and `secrets` what they hold.
pub fn lower_provider(
    provider: &MachineProvider,
    access: Access,
    secrets: &SecretData,
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
        endpoint: declared_endpoint(provider),
        timeout: timeout(provider),
        courtesy: courtesy(provider),
        images: images
            .filter_map(|image| Some((image.name.clone(), image.id.clone()?)))
            .collect(),
        settings: config.map(of_platform).unwrap_or_default(),
        link_local: config
            .and_then(|config| config.custom_settings.get(LINK_LOCAL))
            .is_some_and(|allowed| allowed == "true"),
        trust: trust(provider),
        access,
        credentials: Credentials::new(
            secrets
                .values()
                .flatten()
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        ),
    }
}
