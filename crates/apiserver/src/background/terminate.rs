//! Namespaces and definitions end when what they hold has ended.

use machinist_store::Expect;

use super::collect::{address, find, release};
use crate::codec;
use crate::core::Core;
use crate::meta;
use crate::registry::{Hook, Kind};
use crate::resource::{Address, DEFINITION_FINALIZER, DeleteOptions};
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
                finish(core, &at).await;
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
        Hook::None | Hook::Account | Hook::Event | Hook::Immutable | Hook::Role | Hook::Binding => {
            Ok(())
        }
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

/// Removes a namespace whose own finalizer was all that was left. When it changed meanwhile, the
/// event of that change brings us back here.
async fn finish(core: &Core, at: &Address) {
    let key = at.key();
    if let Some(entry) = core.store.get(&key) {
        let expect = Expect::Revision(entry.modified);
        if let Err(error) = core.store.delete(&key, expect).await {
            tracing::debug!(%error, "a namespace is not removed yet");
        }
    }
}
