//! Tells monitoring which machines a Vitistack has: in a ConfigMap of the namespace that monitoring runs
//! in, as a file that Prometheus discovers its targets from.
//!
//! Where that is, is durable on the Vitistack before anything is written there, so that it is taken back
//! when monitoring moves, is not wanted any more, or the Vitistack goes.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use machinist_api::{names, vitistack::Vitistack};
use machinist_core::dialect::vitistack::{Published, Target, monitoring_namespace, target_file};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{context::Context, error::PassError};

/// An object of an API server has a megabyte at most, and this is not all of it.
const MOST_BYTES: usize = 960 << 10;
/// How long what was written is taken to be there still.
const TRUSTED: Duration = Duration::from_secs(60);

/// What was last written for each Vitistack, by UID.
#[derive(Default)]
pub(crate) struct Written(Mutex<HashMap<String, (u64, Instant)>>);

impl Written {
    fn is_recent(&self, uid: &str, print: u64) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get(uid);
        known.is_some_and(|(before, at)| *before == print && at.elapsed() < TRUSTED)
    }

    fn put(&self, uid: String, print: u64) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(uid, (print, Instant::now()));
    }

    fn forget(&self, uid: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(uid);
    }
}

/// Has the machines listed where they should be, and nowhere else. A Vitistack that does not have its
/// namespace, or is going, should have none listed.
pub(super) async fn keep(
    stack: &Vitistack,
    counts: bool,
    context: &Context,
) -> Result<Option<Published>, PassError> {
    let wanted = monitoring_namespace(stack).filter(|_| counts);
    let held = held(stack);
    if let Some(held) = held.filter(|held| Some(*held) != wanted) {
        withdraw(stack, held, context).await?;
    }
    if held != wanted {
        hold(stack, wanted, context).await?;
    }
    match wanted {
        Some(wanted) => publish(stack, wanted, context).await.map(Some),
        None => Ok(None),
    }
}

/// Where the machines are listed, as far as is durable.
fn held(stack: &Vitistack) -> Option<&str> {
    let mut finalizers = stack.finalizers().iter();
    finalizers.find(|finalizer| *finalizer == names::TARGETS_FINALIZER)?;
    let place = stack.annotations().get(names::TARGETS_ANNOTATION);
    place.map(String::as_str)
}

/// Makes durable where the machines are listed, or that they are nowhere.
async fn hold(stack: &Vitistack, place: Option<&str>, context: &Context) -> Result<(), PassError> {
    let mut metadata = json!({ "uid": stack.uid() });
    if let Some(place) = place {
        metadata["finalizers"] = json!([names::TARGETS_FINALIZER]);
        metadata["annotations"] = json!({ names::TARGETS_ANNOTATION: place });
    }
    let patch = json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Vitistack", "metadata": metadata,
    });
    let namespace = stack.namespace().unwrap_or_default();
    let api: Api<Vitistack> = Api::namespaced(context.client.clone(), &namespace);
    let params = PatchParams::apply(names::STACK_FIELD_MANAGER).force();
    let applied = api
        .patch(&stack.name_any(), &params, &Patch::Apply(&patch))
        .await;
    match applied {
        Ok(_) => Ok(()),
        // It is no more, or another has its name.
        Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => Ok(()),
        Err(error) => Err(PassError::api(
            "could not write where its machines are listed",
        )(error)),
    }
}

/// The key of the ConfigMap that is the Vitistack's.
fn key(stack: &Vitistack) -> String {
    format!("{}.json", stack.namespace().unwrap_or_default())
}

fn api(place: &str, context: &Context) -> Api<ConfigMap> {
    Api::namespaced(context.client.clone(), place)
}

fn params() -> PatchParams {
    PatchParams {
        field_manager: Some(names::STACK_FIELD_MANAGER.into()),
        ..PatchParams::default()
    }
}

async fn withdraw(stack: &Vitistack, place: &str, context: &Context) -> Result<(), PassError> {
    context.targets.forget(&stack.uid().unwrap_or_default());
    let patch = json!({ "data": { key(stack): Value::Null } });
    let patched = api(place, context)
        .patch(names::TARGETS_CONFIG_MAP, &params(), &Patch::Merge(&patch))
        .await;
    match patched {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        // Who took the right away takes care of what is left; the Vitistack does not wait for that.
        Err(kube::Error::Api(status)) if status.code == 403 => {
            let note = format!(
                "The key {} of ConfigMap {place}/{} stays, and is to be removed by hand: {}",
                key(stack),
                names::TARGETS_CONFIG_MAP,
                status.message
            );
            let events = &context.events;
            events.warning(stack, "TargetsStay", "withdraw", note).await;
            Ok(())
        }
        Err(error) => Err(PassError::api(
            "could not take back the list of its machines",
        )(error)),
    }
}

async fn publish(
    stack: &Vitistack,
    place: &str,
    context: &Context,
) -> Result<Published, PassError> {
    let namespace = stack.namespace().unwrap_or_default();
    let mut machines = context.machines.state();
    machines.retain(|machine| machine.namespace().as_deref() == Some(&*namespace));
    let targets = machines.iter().filter_map(|machine| {
        Some(Target {
            name: kube::Resource::meta(machine.as_ref()).name.as_deref()?,
            address: machine.target()?,
            provider: machine.provider(),
        })
    });
    let targets: Vec<Target<'_>> = targets.collect();
    let of = targets.len();
    let (file, machines) = target_file(&namespace, targets, MOST_BYTES);
    let shown = format!(
        "ConfigMap {place}/{}, key {}",
        names::TARGETS_CONFIG_MAP,
        key(stack)
    );
    let uid = stack.uid().unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    (place, &file).hash(&mut hasher);
    let print = hasher.finish();
    if !context.targets.is_recent(&uid, print) {
        if let Err((reason, message)) = write(&api(place, context), &key(stack), &file).await? {
            return Ok(Published::None {
                reason,
                message: format!("Machines cannot be listed in {shown}: {message}"),
            });
        }
        context.targets.put(uid, print);
    }
    Ok(match machines == of {
        true => Published::All {
            machines,
            place: shown,
        },
        false => Published::Some {
            machines,
            of,
            place: shown,
        },
    })
}

/// Writes one key of the ConfigMap, which is made if it is not there; or the reason why a person must
/// help.
async fn write(
    api: &Api<ConfigMap>,
    key: &str,
    file: &str,
) -> Result<Result<(), (&'static str, String)>, PassError> {
    let patch = json!({ "data": { key: file } });
    let patched = api
        .patch(names::TARGETS_CONFIG_MAP, &params(), &Patch::Merge(&patch))
        .await;
    let written = match patched {
        Err(kube::Error::Api(status)) if status.code == 404 => {
            let mut made = ConfigMap::default();
            made.metadata.name = Some(names::TARGETS_CONFIG_MAP.to_owned());
            made.data = Some([(key.to_owned(), file.to_owned())].into());
            let params = PostParams {
                field_manager: Some(names::STACK_FIELD_MANAGER.to_owned()),
                ..PostParams::default()
            };
            api.create(&params, &made).await
        }
        other => other,
    };
    match written {
        Ok(_) => Ok(Ok(())),
        Err(kube::Error::Api(status)) => match status.code {
            404 => Ok(Err((
                "NamespaceNotFound",
                format!(
                    "{}; create the namespace, or change spec.settings.monitoring.namespace.",
                    status.message
                ),
            ))),
            403 => Ok(Err((
                "Forbidden",
                format!(
                    "{}; allow it, or change spec.settings.monitoring.namespace.",
                    status.message
                ),
            ))),
            413 | 422 => Ok(Err(("Refused", format!("{}.", status.message)))),
            _ => Err(
                PassError::api("could not list its machines for monitoring")(kube::Error::Api(
                    status,
                )),
            ),
        },
        Err(error) => Err(PassError::api("could not list its machines for monitoring")(error)),
    }
}
