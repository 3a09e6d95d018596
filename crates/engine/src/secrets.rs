//! Watches the Secrets that providers refer to, and no others: a provider is looked at again when one
//! of its Secrets is not what its last pass has read.
//!
//! Reading them, and using what they hold, is left to the provider's pass. Only their versions are
//! watched: no value passes through here.

use std::{
    collections::HashMap,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::StreamExt;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client, ResourceExt,
    api::{WatchEvent, WatchParams},
};
use machinist_core::dialect::vitistack::SecretName;

use crate::connections::{ProviderName, Watching};

/// How long to wait before a watch that ended is begun anew.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The same for one that cannot be begun.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The version of a Secret; nothing is a Secret that is not there.
pub(crate) type Version = Option<String>;
/// Asks for a pass over a provider.
type Hint = Arc<dyn Fn(&ProviderName) + Send + Sync>;

/// The Secrets that providers refer to.
pub(crate) struct Secrets {
    client: Client,
    hint: Hint,
    followed: Arc<Mutex<HashMap<SecretName, Followed>>>,
}

struct Followed {
    /// What the watch has shown last, once it has.
    seen: Option<Version>,
    /// What each provider's last pass has read, once there was one.
    read: HashMap<ProviderName, Option<Version>>,
    #[expect(dead_code, reason = "held for its Drop")]
    watching: Watching,
}

impl Secrets {
    pub(crate) fn new(client: Client, hint: Hint) -> Secrets {
        Secrets {
            client,
            hint,
            followed: Arc::default(),
        }
    }

    /// From now on a provider refers to these Secrets alone.
    pub(crate) fn follow(&self, provider: &ProviderName, names: &[SecretName]) {
        let mut followed = lock(&self.followed);
        followed.retain(|name, secret| {
            if !names.contains(name) {
                secret.read.remove(provider);
            }
            !secret.read.is_empty()
        });
        for name in names {
            let secret = followed.entry(name.clone()).or_insert_with(|| Followed {
                seen: None,
                read: HashMap::new(),
                watching: self.watch(name),
            });
            secret.read.entry(provider.clone()).or_default();
        }
    }

    /// A provider's pass has read this version. If another was seen meanwhile, or is seen late, one
    /// more pass makes sure.
    pub(crate) fn read(&self, provider: &ProviderName, name: &SecretName, version: Version) {
        let mut followed = lock(&self.followed);
        let Some(secret) = followed.get_mut(name) else {
            return;
        };
        let behind = secret.seen.as_ref().is_some_and(|seen| *seen != version);
        let before = secret.read.insert(provider.clone(), Some(version.clone()));
        // A pass that reads the same again has made sure.
        let news = before != Some(Some(version));
        drop(followed);
        if behind && news {
            (self.hint)(provider);
        }
    }

    /// Watches one Secret. There is no list: the right to watch is all that it takes, and without it
    /// a Secret is read with each pass of its providers anyway.
    fn watch(&self, (namespace, name): &SecretName) -> Watching {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let params = WatchParams::default().fields(&format!("metadata.name={name}"));
        let secret = (namespace.clone(), name.clone());
        let (followed, hint) = (Arc::downgrade(&self.followed), self.hint.clone());
        let task = tokio::spawn(async move {
            let mut wait = FIRST_WAIT;
            loop {
                // From any version: what is there is shown first.
                let events = api.watch_metadata(&params, "0").await;
                match events {
                    Ok(events) => {
                        let mut events = pin!(events);
                        while let Some(Ok(event)) = events.next().await {
                            let now = match event {
                                WatchEvent::Added(found) | WatchEvent::Modified(found) => {
                                    found.resource_version()
                                }
                                WatchEvent::Deleted(_) => None,
                                WatchEvent::Bookmark(_) => continue,
                                WatchEvent::Error(_) => break,
                            };
                            wait = FIRST_WAIT;
                            let Some(followed) = followed.upgrade() else {
                                return;
                            };
                            seen(&followed, &secret, now).iter().for_each(&*hint);
                        }
                    }
                    Err(error) => {
                        tracing::debug!(secret = %secret.1, %error, "a Secret is watched later");
                    }
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
        });
        Watching::new(task.abort_handle())
    }
}

/// The watch shows this version: the providers whose last pass has read another.
fn seen(
    followed: &Mutex<HashMap<SecretName, Followed>>,
    name: &SecretName,
    version: Version,
) -> Vec<ProviderName> {
    let mut followed = lock(followed);
    let Some(secret) = followed.get_mut(name) else {
        return Vec::new();
    };
    secret.seen = Some(version.clone());
    let behind = |read: &Option<Version>| read.as_ref().is_some_and(|read| *read != version);
    let providers = secret.read.iter().filter(|(_, read)| behind(read));
    providers.map(|(provider, _)| provider.clone()).collect()
}

fn lock(
    followed: &Mutex<HashMap<SecretName, Followed>>,
) -> MutexGuard<'_, HashMap<SecretName, Followed>> {
    followed.lock().unwrap_or_else(PoisonError::into_inner)
}
