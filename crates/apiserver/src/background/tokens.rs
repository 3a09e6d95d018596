//! Secrets of the type `kubernetes.io/service-account-token` are filled with a token of the account
//! that they name, and go with it.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use machinist_store::{Event, EventKind, WatchError};
use serde_json::Value;

use super::collect::find;
use crate::auth::token::{ACCOUNT_NAME, ACCOUNT_UID, Named, SECRET_TYPE};
use crate::core::Core;
use crate::resource::{DeleteOptions, Part, WriteOptions};
use crate::status::ApiError;
use crate::{codec, meta};

/// Who is recorded for what is written here.
const MANAGER: &str = "machinist-tokens";
/// How long to wait before what failed is tried again.
const RETRY: Duration = Duration::from_secs(1);
const SECRETS: &str = "/core/secrets/";
const ACCOUNTS: &str = "/core/serviceaccounts/";

/// Runs until the store is closed.
pub(super) async fn run(core: &Core) {
    loop {
        match round(core).await {
            WatchError::Closed => return,
            error => tracing::debug!(%error, "the tokens in secrets start over"),
        }
    }
}

async fn round(core: &Core) -> WatchError {
    let mut authority = core.authority.subscribe();
    let page = core.store.list(SECRETS, None, None);
    let mut watch = match core.store.watch("/core/", page.revision) {
        Ok(watch) => watch,
        Err(error) => return error,
    };
    drop(page);
    let mut dirty = token_secrets(core, SECRETS);
    loop {
        dirty = provide(core, dirty).await;
        let retry = !dirty.is_empty();
        tokio::select! {
            event = watch.next() => match event {
                Ok(event) => dirty.extend(concerned(core, &event)),
                Err(error) => return error,
            },
            Ok(()) = authority.changed() => dirty = token_secrets(core, SECRETS),
            () = tokio::time::sleep(RETRY), if retry => {}
        }
        loop {
            match watch.try_next() {
                Ok(Some(event)) => dirty.extend(concerned(core, &event)),
                Ok(None) => break,
                Err(error) => return error,
            }
        }
    }
}

/// The keys of the secrets below a prefix that are for tokens.
fn token_secrets(core: &Core, prefix: &str) -> BTreeSet<String> {
    let entries = core.store.list(prefix, None, None).entries;
    let for_tokens = entries
        .into_iter()
        .filter(|entry| is_for_token(&entry.value));
    for_tokens.map(|entry| entry.key.to_string()).collect()
}

fn is_for_token(secret: &[u8]) -> bool {
    codec::decode_value(secret)["type"] == SECRET_TYPE
}

/// The secrets to look at after a write: one that was written, or those of an account that went.
fn concerned(core: &Core, event: &Event) -> BTreeSet<String> {
    let key = &*event.entry.key;
    match event.kind {
        EventKind::Put if key.starts_with(SECRETS) && is_for_token(&event.entry.value) => {
            BTreeSet::from([key.to_owned()])
        }
        EventKind::Delete => {
            let namespace = key
                .strip_prefix(ACCOUNTS)
                .and_then(|rest| rest.split_once('/'));
            namespace.map_or_else(BTreeSet::new, |(namespace, _)| {
                token_secrets(core, &format!("{SECRETS}{namespace}/"))
            })
        }
        EventKind::Put => BTreeSet::new(),
    }
}

/// Sees to these secrets; gives those that are not as they should be yet.
async fn provide(core: &Core, keys: BTreeSet<String>) -> BTreeSet<String> {
    let mut failed = BTreeSet::new();
    for key in keys {
        if let Err(error) = secret_is_filled(core, &key).await {
            tracing::debug!(key, %error, "a secret has no token yet");
            failed.insert(key);
        }
    }
    failed
}

async fn secret_is_filled(core: &Core, key: &str) -> Result<(), ApiError> {
    let Some((at, secret)) = find(core, key) else {
        return Ok(());
    };
    if meta::is_deleting(&secret) {
        return Ok(());
    }
    let annotation = |name: &str| {
        let annotations = secret.pointer("/metadata/annotations");
        annotations
            .and_then(|a| a[name].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let name = annotation(ACCOUNT_NAME);
    let account = core
        .store
        .get(&format!("{ACCOUNTS}{}/{name}", at.namespace));
    let account = account.map(|entry| Named::of(&codec::decode_value(&entry.value)));
    let uid = annotation(ACCOUNT_UID);
    let account = account.filter(|account| uid.is_empty() || account.uid == uid);
    let Some(account) = account else {
        // A token without its account is good for nothing, and must not fit a later one.
        let options = DeleteOptions {
            uid: Some(meta::uid(&secret).to_owned()),
            ..DeleteOptions::internal()
        };
        return settled(core.delete(&at, &options).await.map(|_| ()));
    };
    let authority = core.authority.borrow().clone();
    let options = WriteOptions::internal(MANAGER);
    let written = core.edit(&at, Part::Main, &options, |live| {
        let mut object = live.clone();
        let annotations = meta::metadata_mut(&mut object)
            .entry("annotations")
            .or_insert(Value::Null);
        meta::as_map(annotations).insert(ACCOUNT_UID.into(), account.uid.clone().into());
        let data = meta::child_mut(&mut object, "data");
        if data
            .get("token")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .is_empty()
        {
            let token = core.issue_for_secret(&at.namespace, &account, &at.name);
            let token = token.ok_or_else(|| ApiError::internal("failed to generate token"))?;
            data.insert("token".into(), STANDARD.encode(token).into());
        }
        data.insert("namespace".into(), STANDARD.encode(&at.namespace).into());
        if let Some(pem) = &authority {
            data.insert("ca.crt".into(), STANDARD.encode(pem).into());
        }
        Ok(object)
    });
    settled(written.await.map(|_| ()))
}

/// What is gone, or what somebody else made so that it cannot be changed, needs nothing more.
fn settled(result: Result<(), ApiError>) -> Result<(), ApiError> {
    match result {
        Err(error) if error.reason == "NotFound" || error.reason == "Invalid" => Ok(()),
        other => other,
    }
}
