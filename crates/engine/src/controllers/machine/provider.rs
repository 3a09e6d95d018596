//! Which provider a machine is on: the one that it is bound to, the one that it names, or the one
//! that is chosen for it.

use std::sync::Arc;

use kube::{ResourceExt, runtime::reflector::ObjectRef};
use machinist_api::{
    names,
    vitistack::{Machine, MachineProvider},
};
use machinist_core::{
    dialect::vitistack::{ProviderQuery, lower, provider_query},
    machine::Trouble,
};

use super::gather::invalid;
use crate::{connections::ProviderName, context::Context};

/// The longest note about a choice that a machine carries.
const LONGEST_NOTE: usize = 900;
/// The longest message about a choice that could not be made.
const LONGEST_MESSAGE: usize = 8 << 10;

/// What was made durable before the first call to a platform.
pub(super) struct Binding {
    provider: ProviderName,
    pub(super) cluster: String,
}

impl Binding {
    /// Both annotations and the finalizer, or nothing: a half binding binds nothing.
    pub(super) fn of(machine: &Machine) -> Option<Binding> {
        let annotations = machine.annotations();
        let (namespace, name) = annotations
            .get(names::PROVIDER_ANNOTATION)?
            .split_once('/')?;
        let held = machine
            .finalizers()
            .iter()
            .any(|finalizer| finalizer == names::MACHINE_FINALIZER);
        held.then_some(Binding {
            provider: (namespace.to_owned(), name.to_owned()),
            cluster: annotations.get(names::CLUSTER_ANNOTATION)?.clone(),
        })
    }
}

/// What was found.
pub(super) enum Found {
    /// The provider that the machine is bound to, or names.
    Provider(Arc<MachineProvider>),
    /// The provider that was chosen, and why.
    Placed(Arc<MachineProvider>, String),
    /// Providers that might be chosen have not been asked yet.
    Early,
    /// None.
    None(Trouble),
}

/// The provider that a machine is bound to, or else the one that it means.
pub(super) fn find_provider(
    machine: &Machine,
    binding: Option<&Binding>,
    context: &Context,
) -> Found {
    if let Some(Binding { provider, .. }) = binding {
        let (namespace, name) = provider;
        return found(get(provider, context), || {
            format!(
                "The machine is bound to MachineProvider {namespace}/{name}, which does not exist; create it again."
            )
        });
    }
    let query = match provider_query(machine) {
        Ok(query) => query,
        Err(error) => return Found::None(invalid(error.to_string())),
    };
    let own = machine.namespace().unwrap_or_default();
    let places = query.namespaces(&own);
    let name = match &query {
        ProviderQuery::Named { name, .. } => Some(name),
        ProviderQuery::Called { word, .. } => Some(word),
        ProviderQuery::Matching { .. } => None,
    };
    let named = name.and_then(|name| {
        let by_name = |place: &&str| get(&((*place).to_owned(), name.clone()), context);
        let provider = places.iter().find_map(by_name)?;
        query.matches(&provider).then_some(provider)
    });
    let is_named = matches!(query, ProviderQuery::Named { .. });
    if is_named || named.is_some() {
        return found(named, || nowhere(&query, &places));
    }
    choose(machine, &query, &places, context)
}

fn get((namespace, name): &ProviderName, context: &Context) -> Option<Arc<MachineProvider>> {
    context
        .providers
        .get(&ObjectRef::new(name).within(namespace))
}

fn found(provider: Option<Arc<MachineProvider>>, otherwise: impl FnOnce() -> String) -> Found {
    match provider {
        Some(provider) => Found::Provider(provider),
        None => Found::None(waiting("ProviderNotFound", otherwise())),
    }
}

fn nowhere(query: &ProviderQuery, places: &[&str]) -> String {
    let what = query.describe();
    format!("There is no {what} in namespace {}.", places.join(" or "))
}

fn waiting(reason: &str, message: String) -> Trouble {
    Trouble {
        reason: reason.into(),
        message,
        terminal: false,
        retry_after: None,
    }
}

/// Has the scheduler choose.
fn choose(machine: &Machine, query: &ProviderQuery, places: &[&str], context: &Context) -> Found {
    let mut chosen = None;
    let closer = |name: &ProviderName| {
        let provider = get(name, context).ok_or("it is no more")?;
        lower(machine, &provider).map_err(|error| error.to_string())?;
        chosen = Some(provider);
        Ok(())
    };
    let (demand, placement) = context.placing.choose(machine, query, closer);
    if let Some(provider) = chosen {
        // One that is all there is of what the machine asks for is as good as named.
        let only = demand.platform.is_some() && placement.rejected.is_empty();
        return match only {
            true => Found::Provider(provider),
            false => Found::Placed(provider, placement.explain(&demand, LONGEST_NOTE)),
        };
    }
    if placement.is_early() {
        return Found::Early;
    }
    let word = placement.word();
    let told = placement.explain(&demand, LONGEST_MESSAGE);
    let message = match (word, placement.rejected.as_slice()) {
        ("ProviderNotFound", []) => nowhere(query, places),
        ("ProviderNotFound", _) => format!("{} {told}", nowhere(query, places)),
        _ => told,
    };
    Found::None(Trouble {
        // Only another declaration, of the machine or of a provider, helps.
        terminal: word == "Invalid",
        ..waiting(word, message)
    })
}
