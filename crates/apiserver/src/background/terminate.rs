//! Namespaces and definitions end when what they hold has ended.

use serde_json::Value;

use super::MANAGER;
use super::collect::{address, find, release, settled};
use crate::codec;
use crate::core::Core;
use crate::meta;
use crate::registry::{Hook, Kind};
use crate::resource::{Address, DEFINITION_FINALIZER, DeleteOptions, Part, WriteOptions};
use crate::status::ApiError;

/// Empties a namespace or definition that is being deleted, and lets it go when it is empty.
pub(super) async fn container(core: &Core, key: &str) -> Result<(), ApiError> {
    let Some((at, object)) = find(core, key) else {
        return Ok(());
    };
    if !meta::is_deleting(&object) {
        return Ok(());
    }
    let kinds = core.registry.snapshot().stored_kinds();
    match at.kind.hook {
        Hook::Namespace => {
            let mut left = 0;
            for kind in kinds.iter().filter(|k| k.namespaced) {
                left += empty(core, kind, Some(&at.name)).await?;
            }
            if left == 0 && meta::finalizers(&object).is_empty() {
                return finish(core, &at).await;
            }
            Ok(())
        }
        Hook::Definition => {
            let mut left = 0;
            for kind in kinds
                .iter()
                .filter(|k| !k.builtin && k.qualified() == at.name)
            {
                left += empty(core, kind, None).await?;
            }
            if left == 0 && meta::finalizers(&object).contains(&DEFINITION_FINALIZER) {
                return release(core, &at, DEFINITION_FINALIZER).await;
            }
            Ok(())
        }
        Hook::None
        | Hook::Account
        | Hook::Event
        | Hook::Immutable
        | Hook::Role
        | Hook::Binding
        | Hook::Webhooks => Ok(()),
    }
}

/// Deletes all objects of a kind; gives how many wait for their finalizers.
async fn empty(
    core: &Core,
    kind: &std::sync::Arc<Kind>,
    namespace: Option<&str>,
) -> Result<usize, ApiError> {
    let mut waiting = 0;
    for entry in core
        .store
        .list(&kind.keys_in(namespace), None, None)
        .entries
    {
        let object = codec::decode(&entry);
        if meta::is_deleting(&object) {
            waiting += 1;
            continue;
        }
        let at = address(kind.clone(), &object);
        match core.delete(&at, &DeleteOptions::internal()).await {
            Ok(crate::resource::Deleted::Gone(_)) => {}
            Ok(crate::resource::Deleted::Pending(_)) => waiting += 1,
            Err(error) if error.reason == "NotFound" => {}
            Err(error) => return Err(error),
        }
    }
    Ok(waiting)
}

/// Takes the server's own finalizer from an empty namespace, which then goes unless others hold
/// it.
async fn finish(core: &Core, at: &Address) -> Result<(), ApiError> {
    let options = WriteOptions::internal(MANAGER);
    let written = core
        .edit(at, Part::Finalize, &options, |live| {
            let mut object = live.clone();
            let finalizers = meta::child_mut(&mut object, "spec").get_mut("finalizers");
            if let Some(Value::Array(finalizers)) = finalizers {
                finalizers.retain(|f| f != "kubernetes");
            }
            Ok(object)
        })
        .await;
    settled(written.map(|_| ()))
}
