//! Garbage collection: objects whose owners are gone, and owners that wait for their dependents.

use serde_json::Value;

use super::MANAGER;
use super::index::Index;
use crate::codec;
use crate::core::Core;
use crate::meta;
use crate::registry::Kind;
use crate::resource::{
    Address, DeleteOptions, FOREGROUND, ORPHAN, Part, Propagation, WriteOptions,
};
use crate::status::ApiError;

/// Looks at one object and does the one thing that is due, if any.
pub(super) async fn object(core: &Core, index: &Index, key: &str) -> Result<(), ApiError> {
    let Some((at, object)) = find(core, key) else {
        return Ok(());
    };
    if meta::is_deleting(&object) {
        return owner(core, index, &at, &object).await;
    }
    let owners = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    let Some(owners) = owners.filter(|o| !o.is_empty()) else {
        return Ok(());
    };
    let gone: Vec<&str> = owners
        .iter()
        .filter(|owner| is_gone(core, owner, &at.namespace))
        .filter_map(|owner| owner["uid"].as_str())
        .collect();
    if gone.is_empty() {
        return Ok(());
    }
    if gone.len() == owners.len() {
        return delete(core, &at, &object, Propagation::Background).await;
    }
    disown(core, &at, &gone).await
}

/// An object that is being deleted and waits for what it owns.
async fn owner(core: &Core, index: &Index, at: &Address, object: &Value) -> Result<(), ApiError> {
    let finalizers = meta::finalizers(object);
    let uid = meta::uid(object);
    if finalizers.contains(&ORPHAN) {
        for key in index.dependents_of(uid) {
            if let Some((dependent, _)) = find(core, &key) {
                disown(core, &dependent, &[uid]).await?;
            }
        }
        return release(core, at, ORPHAN).await;
    }
    if finalizers.contains(&FOREGROUND) {
        let mut left = false;
        for key in index.dependents_of(uid) {
            let Some((dependent, object)) = find(core, &key) else {
                continue;
            };
            left |= blocks(&object, uid);
            if !meta::is_deleting(&object) {
                delete(core, &dependent, &object, Propagation::Foreground).await?;
            }
        }
        if !left {
            return release(core, at, FOREGROUND).await;
        }
    }
    Ok(())
}

/// Whether a dependent holds back its owner's deletion.
fn blocks(dependent: &Value, owner: &str) -> bool {
    let owners = dependent
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    owners
        .into_iter()
        .flatten()
        .any(|o| o["uid"] == owner && o["blockOwnerDeletion"] == true)
}

/// Whether an owner is certainly not there. A kind that is not served says nothing about its
/// objects, so such an owner counts as there.
fn is_gone(core: &Core, owner: &Value, namespace: &str) -> bool {
    let text = |field: &str| owner[field].as_str().unwrap_or_default();
    let Some(kind) = core
        .registry
        .snapshot()
        .find_kind(text("apiVersion"), text("kind"))
    else {
        return false;
    };
    if kind.namespaced && namespace.is_empty() {
        return false;
    }
    let Some(entry) = core.store.get(&kind.key(namespace, text("name"))) else {
        return true;
    };
    meta::uid(&codec::decode_value(&entry.value)) != text("uid")
}

/// The object under a key, with its address.
pub(super) fn find(core: &Core, key: &str) -> Option<(Address, Value)> {
    let kind = core.registry.snapshot().owner_of_key(key)?;
    let object = codec::decode(&core.store.get(key)?);
    Some((address(kind, &object), object))
}

/// Where an object lives.
pub(super) fn address(kind: std::sync::Arc<Kind>, object: &Value) -> Address {
    Address {
        namespace: meta::namespace(object).to_owned(),
        name: meta::name(object).to_owned(),
        kind,
    }
}

async fn delete(
    core: &Core,
    at: &Address,
    object: &Value,
    propagation: Propagation,
) -> Result<(), ApiError> {
    let options = DeleteOptions {
        uid: Some(meta::uid(object).to_owned()),
        propagation: Some(propagation),
        ..DeleteOptions::internal()
    };
    settled(core.delete(at, &options).await.map(|_| ()))
}

/// Takes owners out of an object's references.
async fn disown(core: &Core, at: &Address, owners: &[&str]) -> Result<(), ApiError> {
    change(core, at, |object| {
        let metadata = meta::metadata_mut(object);
        if let Some(Value::Array(list)) = metadata.get_mut("ownerReferences") {
            list.retain(|o| !o["uid"].as_str().is_some_and(|uid| owners.contains(&uid)));
            if list.is_empty() {
                metadata.remove("ownerReferences");
            }
        }
    })
    .await
}

/// Takes a finalizer from an object.
pub(super) async fn release(core: &Core, at: &Address, finalizer: &str) -> Result<(), ApiError> {
    change(core, at, |object| meta::remove_finalizer(object, finalizer)).await
}

async fn change(core: &Core, at: &Address, edit: impl Fn(&mut Value)) -> Result<(), ApiError> {
    let options = WriteOptions::internal(MANAGER);
    let written = core
        .edit(at, Part::Main, &options, |live| {
            let mut object = live.clone();
            edit(&mut object);
            Ok(object)
        })
        .await;
    settled(written.map(|_| ()))
}

/// What is gone already needs nothing more.
pub(super) fn settled(result: Result<(), ApiError>) -> Result<(), ApiError> {
    match result {
        Err(error) if error.reason == "NotFound" => Ok(()),
        other => other,
    }
}
