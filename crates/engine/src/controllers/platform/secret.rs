//! The Secret that a platform's configuration names, and whether it holds what it must.
//!
//! What is said of it names keys, and never repeats a value.

use std::collections::BTreeMap;

use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{Api, config::Kubeconfig};
use machinist_core::dialect::vitistack::FoundSecret;

use crate::{context::Context, error::PassError};

/// The key that holds how a KubeVirt cluster is reached.
const KUBECONFIG: &str = "kubeconfig";

/// The Secret that a configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    /// None.
    None,
    /// None; the token stands in the configuration.
    InClear,
    /// One that holds a kubeconfig.
    Kubeconfig {
        /// Its namespace.
        namespace: Option<String>,
        /// Its name.
        name: String,
    },
    /// One that holds a user with a password or a token.
    Credentials {
        /// Its namespace.
        namespace: Option<String>,
        /// Its name.
        name: String,
        /// The only key to read, if one is given.
        key: Option<String>,
        /// Whether the configuration names the user itself.
        has_user: bool,
    },
}

/// Looks for it, as it is now.
pub(super) async fn find(named: &Named, context: &Context) -> Result<FoundSecret, PassError> {
    let (namespace, name) = match named {
        Named::None => return Ok(FoundSecret::NotNamed),
        Named::InClear => return Ok(FoundSecret::InClear),
        Named::Kubeconfig { namespace, name }
        | Named::Credentials {
            namespace, name, ..
        } => (namespace.clone().unwrap_or_default(), name),
    };
    let full = format!("{namespace}/{name}");
    let api: Api<Secret> = Api::namespaced(context.client.clone(), &namespace);
    let data = match api.get_opt(name).await {
        Ok(Some(secret)) => secret.data.unwrap_or_default(),
        Ok(None) => return Ok(FoundSecret::Missing(full)),
        Err(kube::Error::Api(status)) if status.code == 403 => {
            let why =
                format!("Secret {full} may not be read by Machinist; let its account get it.");
            return Ok(FoundSecret::Unusable(why));
        }
        Err(error) => return Err(PassError::api("could not read a secret")(error)),
    };
    Ok(match judge(named, &data) {
        Ok(()) => FoundSecret::Usable(full),
        Err(why) => FoundSecret::Unusable(format!("Secret {full} {why}.")),
    })
}

/// Whether what is in it can be used; the error goes on after its name.
fn judge(named: &Named, data: &BTreeMap<String, ByteString>) -> Result<(), String> {
    let has = |key: &str| data.get(key).is_some_and(|value| !value.0.is_empty());
    let keys = || match data.is_empty() {
        true => "it is empty".to_owned(),
        false => {
            let keys: Vec<&str> = data.keys().map(String::as_str).collect();
            format!("it has {}", keys.join(", "))
        }
    };
    match named {
        Named::None | Named::InClear => Ok(()),
        Named::Kubeconfig { .. } => {
            let Some(value) = data.get(KUBECONFIG).filter(|value| !value.0.is_empty()) else {
                return Err(format!("has no key {KUBECONFIG}; {}", keys()));
            };
            let text = std::str::from_utf8(&value.0)
                .map_err(|_| format!("has a key {KUBECONFIG} that is no text"))?;
            let read = Kubeconfig::from_yaml(text)
                .map_err(|_| format!("has a key {KUBECONFIG} that is no kubeconfig"))?;
            let has_server = |cluster: &kube::config::NamedCluster| {
                let cluster = cluster.cluster.as_ref();
                cluster.is_some_and(|cluster| cluster.server.is_some())
            };
            match read.clusters.iter().any(has_server) {
                true => Ok(()),
                false => Err(format!("has a {KUBECONFIG} that names no server")),
            }
        }
        Named::Credentials { key: Some(key), .. } => match has(key) {
            true => Ok(()),
            false => Err(format!("has no key {key}; {}", keys())),
        },
        Named::Credentials { has_user, .. } => {
            let user = *has_user || has("username");
            let token = has("token") || has("tokenSecret") && has("tokenId");
            match user && (has("password") || has("token")) || token {
                true => Ok(()),
                false => Err(format!(
                    "has neither token, nor tokenId with tokenSecret, nor username with password; {}",
                    keys()
                )),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(values: &[(&str, &str)]) -> BTreeMap<String, ByteString> {
        let one = |(key, value): &(&str, &str)| {
            ((*key).to_owned(), ByteString(value.as_bytes().to_vec()))
        };
        values.iter().map(one).collect()
    }

    #[test]
    fn a_kubeconfig_must_name_a_server() {
        let named = Named::Kubeconfig {
            namespace: None,
            name: "s".into(),
        };
        let judge = |values: &[(&str, &str)]| judge(&named, &data(values));
        let good = "clusters: [{name: a, cluster: {server: https://a}}]";
        assert_eq!(judge(&[("kubeconfig", good)]), Ok(()));
        let bad = |values: &[(&str, &str)]| judge(values).expect_err("refused");
        assert_eq!(bad(&[]), "has no key kubeconfig; it is empty");
        assert_eq!(
            bad(&[("config", good)]),
            "has no key kubeconfig; it has config"
        );
        assert!(bad(&[("kubeconfig", "clusters: 7")]).contains("is no kubeconfig"));
        assert!(bad(&[("kubeconfig", "clusters: []")]).contains("names no server"));
    }

    #[test]
    fn credentials_come_in_three_forms() {
        let named = |key: Option<&str>| Named::Credentials {
            namespace: None,
            name: "s".into(),
            key: key.map(str::to_owned),
            has_user: false,
        };
        let judge = |key, values: &[(&str, &str)]| judge(&named(key), &data(values));
        assert_eq!(judge(None, &[("token", "t")]), Ok(()));
        assert_eq!(
            judge(None, &[("tokenId", "t"), ("tokenSecret", "s")]),
            Ok(())
        );
        assert_eq!(judge(None, &[("username", "u"), ("password", "p")]), Ok(()));
        assert_eq!(judge(Some("pve"), &[("pve", "t")]), Ok(()));
        let why = judge(None, &[("password", "hidden")]).expect_err("refused");
        assert!(
            why.contains("it has password") && !why.contains("hidden"),
            "{why}"
        );
        assert!(judge(Some("pve"), &[("token", "t")]).is_err());
        assert!(judge(None, &[("token", "")]).is_err());
    }
}
