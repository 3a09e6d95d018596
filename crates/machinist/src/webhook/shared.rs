//! The authority of the webhooks' certificates in a Secret, so that every replica signs with it and
//! an API server that trusts one of them trusts all.

use std::{collections::BTreeMap, path::Path};

use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};
use machinist_apiserver::Pki;

use crate::failure::{self, Outcome};

/// The files of an authority, which are the keys of the Secret too.
const FILES: [&str; 2] = ["ca.crt", "ca.key"];

/// Makes the authority in this directory the one that the Secret keeps; whoever comes first makes
/// both.
pub(crate) async fn share_authority(
    client: &Client,
    namespace: &str,
    name: &str,
    dir: &Path,
) -> Outcome {
    let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let refused = |error| {
        let what = format!("could not share the webhooks' authority in Secret {namespace}/{name}");
        failure::refused(what, error)
    };
    if let Some(secret) = api.get_opt(name).await.map_err(refused)? {
        return keep(&secret, namespace, name, dir);
    }
    Pki::load_or_create_authority(dir)
        .map_err(|e| failure::configuration("could not prepare the webhooks' authority", e))?;
    let mut data = BTreeMap::new();
    for file in FILES {
        let bytes = std::fs::read(dir.join(file))
            .map_err(|e| failure::internal(format!("could not read {file}"), e))?;
        data.insert(file.to_owned(), ByteString(bytes));
    }
    let secret = Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(data),
        ..Secret::default()
    };
    match api.create(&PostParams::default(), &secret).await {
        Ok(_) => Ok(()),
        // Another replica was faster, and its authority counts.
        Err(kube::Error::Api(status)) if status.code == 409 => {
            let secret = api.get(name).await.map_err(refused)?;
            keep(&secret, namespace, name, dir)
        }
        Err(error) => Err(refused(error)),
    }
}

/// Writes what the Secret keeps to the directory.
fn keep(secret: &Secret, namespace: &str, name: &str, dir: &Path) -> Outcome {
    let data = secret.data.as_ref();
    let text = |file: &str| {
        let bytes = data.and_then(|data| data.get(file))?;
        std::str::from_utf8(&bytes.0).ok()
    };
    let [Some(certificate), Some(key)] = FILES.map(text) else {
        let missing: Vec<&str> = FILES.into_iter().filter(|f| text(f).is_none()).collect();
        return Err(failure::configuration_plain(format!(
            "Secret {namespace}/{name} has no text under {}",
            missing.join(" and ")
        ))
        .hint("Delete it to have it made anew."));
    };
    Pki::keep_authority(dir, certificate, key)
        .map_err(|e| failure::configuration("could not keep the webhooks' authority", e))
}
