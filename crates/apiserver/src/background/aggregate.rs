//! ClusterRoles that are made of others follow them.

use std::time::Duration;

use machinist_store::WatchError;
use serde_json::{Value, json};

use crate::auth::rbac::{PREFIX, aggregated_rules};
use crate::codec;
use crate::core::Core;
use crate::meta;
use crate::resource::{Address, Part, PatchKind, WriteOptions};
use crate::status::ApiError;

/// Who is recorded as the owner of the rules.
const MANAGER: &str = "clusterrole-aggregation-controller";
const GROUP: &str = "rbac.authorization.k8s.io";

/// How long to wait before what failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Runs until the store is closed.
pub(super) async fn run(core: &Core) {
    loop {
        match round(core).await {
            WatchError::Closed => return,
            error => tracing::debug!(%error, "the aggregation of roles starts over"),
        }
    }
}

async fn round(core: &Core) -> WatchError {
    let mut watch = match core
        .store
        .watch(&format!("{PREFIX}clusterroles/"), core.store.revision())
    {
        Ok(watch) => watch,
        Err(error) => return error,
    };
    loop {
        let failed = roles(core).await.is_err_and(|error| {
            tracing::debug!(%error, "roles are not aggregated yet");
            true
        });
        tokio::select! {
            event = watch.next() => if let Err(error) = event { return error },
            () = tokio::time::sleep(RETRY), if failed => {}
        }
        loop {
            match watch.try_next() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => return error,
            }
        }
    }
}

/// Gives every ClusterRole that is made of others their rules. A role that is itself gathered by
/// another is seen again when its write comes by.
async fn roles(core: &Core) -> Result<(), ApiError> {
    let kind = core.registry.snapshot().find(GROUP, "v1", "clusterroles");
    let kind = kind.ok_or_else(ApiError::no_such_path)?;
    let entries = core.store.list(&kind.prefix, None, None).entries;
    let roles: Vec<Value> = entries
        .iter()
        .map(|e| codec::decode_value(&e.value))
        .collect();
    let all: Vec<&Value> = roles.iter().collect();
    for role in &roles {
        let Some(rules) = aggregated_rules(role, &all) else {
            continue;
        };
        let current = role["rules"].as_array().map_or(&[][..], Vec::as_slice);
        if current == rules || meta::is_deleting(role) {
            continue;
        }
        let at = Address {
            kind: kind.clone(),
            namespace: String::new(),
            name: meta::name(role).to_owned(),
        };
        let applied = json!({
            "apiVersion": kind.api_version(),
            "kind": kind.kind,
            // With the UID, so that a role that was deleted meanwhile is not made anew.
            "metadata": {"name": at.name, "uid": meta::uid(role)},
            "rules": rules,
        });
        let options = WriteOptions::internal(MANAGER);
        match core
            .patch(&at, Part::Main, PatchKind::Apply, applied, &options)
            .await
        {
            Ok(_) => {}
            Err(error) if error.reason == "Conflict" => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
