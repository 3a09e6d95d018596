//! What every namespace is given: the ServiceAccount `default`, and the certificate of the
//! server's authority in the ConfigMap `kube-root-ca.crt`. Both come back when they are deleted.

use std::collections::BTreeSet;
use std::time::Duration;

use machinist_store::{Event, EventKind, WatchError};
use serde_json::{Value, json};

use crate::core::Core;
use crate::registry::NAMESPACES;
use crate::resource::{Address, Part, WriteOptions};
use crate::status::ApiError;
use crate::{codec, meta};

/// Who is recorded for what is written here.
const MANAGER: &str = "machinist-provision";
/// How long to wait before what failed is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// How many namespaces are worked on at once, so that their writes share a commit.
const AT_ONCE: usize = 64;

const ACCOUNTS: &str = "/core/serviceaccounts/";
const CONFIG_MAPS: &str = "/core/configmaps/";
const ACCOUNT: &str = "default";
const AUTHORITY: &str = "kube-root-ca.crt";
const AUTHORITY_KEY: &str = "ca.crt";
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/// Runs until the store is closed.
pub(super) async fn run(core: &Core) {
    loop {
        // Each round starts from a full look at the store; it ends when the watch fell behind.
        match round(core).await {
            WatchError::Closed => return,
            error => tracing::debug!(%error, "the provision of namespaces starts over"),
        }
    }
}

async fn round(core: &Core) -> WatchError {
    let mut authority = core.authority.subscribe();
    let (mut dirty, revision) = all_namespaces(core);
    let mut watch = match core.store.watch("/core/", revision) {
        Ok(watch) => watch,
        Err(error) => return error,
    };
    loop {
        let failed = provide(core, std::mem::take(&mut dirty)).await;
        let retry = !failed.is_empty();
        dirty = failed;
        tokio::select! {
            event = watch.next() => match event {
                Ok(event) => dirty.extend(concerned(&event)),
                Err(error) => return error,
            },
            Ok(()) = authority.changed() => dirty = all_namespaces(core).0,
            () = tokio::time::sleep(RETRY), if retry => {}
        }
        loop {
            match watch.try_next() {
                Ok(Some(event)) => dirty.extend(concerned(&event)),
                Ok(None) => break,
                Err(error) => return error,
            }
        }
    }
}

fn all_namespaces(core: &Core) -> (BTreeSet<String>, machinist_store::Revision) {
    let page = core.store.list(NAMESPACES, None, None);
    let names = page.entries.iter();
    let names = names.map(|e| e.key[NAMESPACES.len()..].to_owned());
    (names.collect(), page.revision)
}

/// The namespace to look at after a write: a new one, or one that lost what it was given.
fn concerned(event: &Event) -> Option<String> {
    let key = &*event.entry.key;
    let created = event.kind == EventKind::Put && event.previous.is_none();
    if let Some(namespace) = key.strip_prefix(NAMESPACES) {
        return created.then(|| namespace.to_owned());
    }
    if let Some(rest) = key.strip_prefix(ACCOUNTS) {
        let (namespace, name) = rest.split_once('/')?;
        return (name == ACCOUNT && event.kind == EventKind::Delete).then(|| namespace.to_owned());
    }
    let (namespace, name) = key.strip_prefix(CONFIG_MAPS)?.split_once('/')?;
    (name == AUTHORITY && !created).then(|| namespace.to_owned())
}

/// Sees to these namespaces; gives those that are not as they should be yet.
async fn provide(core: &Core, namespaces: BTreeSet<String>) -> BTreeSet<String> {
    let mut failed = BTreeSet::new();
    let namespaces: Vec<String> = namespaces.into_iter().collect();
    for some in namespaces.chunks(AT_ONCE) {
        let done = some
            .iter()
            .map(|namespace| namespace_is_furnished(core, namespace));
        let done = futures::future::join_all(done).await;
        for (namespace, result) in some.iter().zip(done) {
            if let Err(error) = result {
                tracing::debug!(namespace, %error, "a namespace is not provided for yet");
                failed.insert(namespace.clone());
            }
        }
    }
    failed
}

async fn namespace_is_furnished(core: &Core, namespace: &str) -> Result<(), ApiError> {
    let Some(entry) = core.store.get(&format!("{NAMESPACES}{namespace}")) else {
        return Ok(());
    };
    if meta::is_deleting(&codec::decode_value(&entry.value)) {
        return Ok(());
    }
    let authority = core.authority.borrow().clone();
    let (account, certificate) = futures::join!(account(core, namespace), async {
        match authority {
            Some(pem) => certificate(core, namespace, &pem).await,
            None => Ok(()),
        }
    });
    account.and(certificate)
}

async fn account(core: &Core, namespace: &str) -> Result<(), ApiError> {
    if core
        .store
        .get(&format!("{ACCOUNTS}{namespace}/{ACCOUNT}"))
        .is_some()
    {
        return Ok(());
    }
    let wanted = json!({"metadata": {"name": ACCOUNT}});
    create(core, "serviceaccounts", namespace, wanted).await
}

async fn certificate(core: &Core, namespace: &str, pem: &str) -> Result<(), ApiError> {
    let wanted = json!({AUTHORITY_KEY: pem});
    match core
        .store
        .get(&format!("{CONFIG_MAPS}{namespace}/{AUTHORITY}"))
    {
        None => {
            let annotations = json!({"kubernetes.io/description": DESCRIPTION});
            let metadata = json!({"name": AUTHORITY, "annotations": annotations});
            create(
                core,
                "configmaps",
                namespace,
                json!({"metadata": metadata, "data": wanted}),
            )
            .await
        }
        Some(entry) if codec::decode_value(&entry.value)["data"] == wanted => Ok(()),
        Some(_) => restore(core, namespace, &wanted).await,
    }
}

async fn create(core: &Core, plural: &str, namespace: &str, object: Value) -> Result<(), ApiError> {
    let kind = core.registry.snapshot().find("", "v1", plural);
    let kind = kind.ok_or_else(ApiError::no_such_path)?;
    let options = WriteOptions::internal(MANAGER);
    match core.create(&kind, namespace, object, &options).await {
        Ok(_) => Ok(()),
        // Somebody was faster, or the namespace went meanwhile: nothing is missing.
        Err(error) if error.reason == "AlreadyExists" => Ok(()),
        Err(error) if error.reason == "NotFound" || error.reason == "Forbidden" => Ok(()),
        Err(error) => Err(error),
    }
}

async fn restore(core: &Core, namespace: &str, data: &Value) -> Result<(), ApiError> {
    let kind = core.registry.snapshot().find("", "v1", "configmaps");
    let at = Address {
        kind: kind.ok_or_else(ApiError::no_such_path)?,
        namespace: namespace.to_owned(),
        name: AUTHORITY.to_owned(),
    };
    let options = WriteOptions::internal(MANAGER);
    let written = core.edit(&at, Part::Main, &options, |live| {
        let mut object = live.clone();
        meta::as_map(&mut object).insert("data".into(), data.clone());
        Ok(object)
    });
    match written.await {
        Ok(_) => Ok(()),
        Err(error) if error.reason == "NotFound" => Ok(()),
        // Somebody made it immutable with another content: it is theirs to delete.
        Err(error) if error.reason == "Invalid" => Ok(()),
        Err(error) => Err(error),
    }
}
