//! From an admission request to what it would take.

use machinist_api::vitistack::Machine;
use machinist_core::{
    dialect::vitistack::counted,
    quota::{Claim, Thing},
};
use serde_json::Value;

use super::GateError;

/// What a request would take; nothing when it takes nothing.
pub(super) fn read(
    request: &Value,
    resolve: impl Fn(&str) -> String,
) -> Result<Option<Claim>, GateError> {
    let new = match request["operation"].as_str() {
        Some("CREATE") => true,
        Some("UPDATE") => false,
        _ => return Ok(None),
    };
    let name = request["name"].as_str().filter(|name| !name.is_empty());
    let name = name.or(request["object"]["metadata"]["name"].as_str());
    let name = name.ok_or(GateError::Incomplete("name"))?.to_owned();
    let uid = request["object"]["metadata"]["uid"].as_str();
    let uid = uid.filter(|uid| !uid.is_empty()).map(str::to_owned);
    match request["kind"]["kind"].as_str() {
        Some("Machine") => {
            let read = |object: &Value| {
                let machine: Machine =
                    serde::Deserialize::deserialize(object).map_err(GateError::Unreadable)?;
                Ok(counted(&machine, &resolve))
            };
            let now = read(&request["object"])?;
            let before = match new {
                true => 0,
                false => read(&request["oldObject"])?.storage,
            };
            // Most changes of a machine take nothing: its status, its finalizers, its power.
            if !new && now.storage <= before {
                return Ok(None);
            }
            Ok(Some(Claim {
                thing: Thing::Machine,
                name,
                uid,
                new,
                storage: now.storage,
                before,
                provider: now.provider,
            }))
        }
        Some("NetworkConfiguration") if new => Ok(Some(Claim {
            thing: Thing::Network,
            name,
            uid,
            new,
            storage: 0,
            before: 0,
            provider: None,
        })),
        _ => Ok(None),
    }
}
