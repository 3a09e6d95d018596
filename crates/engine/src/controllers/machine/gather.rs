//! Collects what a decision needs. It does I/O and has no opinions.

use std::sync::Arc;

use kube::{Api, ResourceExt};
use machinist_api::{conditions, vitistack::Machine};
use machinist_core::{
    dialect::vitistack::{fill_from_stack, governing, lower},
    machine::{Absence, Facts, MachineId, MachineKey, Seen, Situation, Trouble, Want},
    provider::{Capabilities, Lookup, Provider, ProviderError, ProviderResult, RetryPolicy},
};

use super::provider::{Binding, Found, find_provider};
use crate::{
    connections::ProviderName,
    context::Context,
    error::{PassError, chain},
    packed::Bare,
};

/// What was collected for one pass.
pub(super) struct Gathered {
    pub(super) key: MachineKey,
    pub(super) provider_name: Option<ProviderName>,
    pub(super) provider: Option<Arc<dyn Provider>>,
    pub(super) want: Option<Want>,
    seen: Option<Vec<Facts>>,
    absence: Absence,
    can: Capabilities,
    bound: bool,
    pub(super) trouble: Option<Trouble>,
    refused: Option<String>,
    /// Which provider was chosen and why the others were not, for a machine that names none.
    pub(super) placement: Option<String>,
}

/// What the step before told about the platform, so that it need not be asked again.
pub(super) enum Told {
    /// Nothing.
    Nothing,
    /// The machine that was asked for.
    Machine(Box<Facts>),
    /// That no machine carries the key.
    Absent,
}

impl Gathered {
    pub(super) fn situation<'a>(&'a self, machine: &Machine) -> Situation<'a> {
        Situation {
            deleting: machine.metadata.deletion_timestamp.is_some(),
            bound: self.bound,
            want: self.want.as_ref(),
            seen: match &self.seen {
                Some(machines) => Seen::Machines(machines),
                None => Seen::Unknown,
            },
            absence: self.absence,
            can: self.can,
            refused: self.refused.as_deref(),
        }
    }

    pub(super) fn machines(&self) -> &[Facts] {
        self.seen.as_deref().unwrap_or_default()
    }
}

/// Collects what is declared and what the platform shows; nothing when the provider has not
/// been tried yet, so that a start of the engine does not read as a failure of the provider.
pub(super) async fn gather(
    machine: &Machine,
    told: Told,
    context: &Context,
) -> Result<Option<Gathered>, PassError> {
    let uid = machine.uid().ok_or(PassError::Incomplete("uid"))?;
    let binding = Binding::of(machine);
    let cluster = match &binding {
        Some(binding) if *binding.cluster != *context.cluster => binding.cluster.as_str().into(),
        _ => context.cluster.clone(),
    };
    let key = MachineKey::new(cluster, uid).map_err(|_| PassError::Incomplete("usable uid"))?;
    let mut gathered = Gathered {
        key,
        provider_name: None,
        provider: None,
        want: None,
        seen: None,
        absence: Absence::Apparent,
        can: Capabilities::default(),
        bound: binding.is_some(),
        trouble: None,
        refused: refused(machine),
        placement: None,
    };
    // Nothing was asked of a platform for it, and nothing will be.
    if binding.is_none() && machine.metadata.deletion_timestamp.is_some() {
        return Ok(Some(gathered));
    }
    let declared = match find_provider(machine, binding.as_ref(), context) {
        Found::Provider(declared) => declared,
        Found::Placed(declared, note) => {
            gathered.placement = Some(note);
            declared
        }
        Found::Early => return Ok(None),
        Found::None(trouble) => {
            gathered.trouble = Some(trouble);
            return Ok(Some(gathered));
        }
    };
    let name = (
        declared.namespace().unwrap_or_default(),
        declared.name_any(),
    );
    gathered.provider_name = Some(name.clone());
    match lower(machine, &declared) {
        Ok(mut want) => {
            settings(&mut want, machine, context);
            gathered.want = Some(want);
        }
        Err(error) => gathered.trouble = Some(invalid(error.to_string())),
    }
    let connection = match context.connections.get(&name) {
        Some(Ok(connection)) => connection,
        Some(Err(trouble)) => {
            gathered.want = None;
            gathered.trouble = gathered.trouble.or(Some(not_connected(&name, &trouble)));
            return Ok(Some(gathered));
        }
        None => return Ok(None),
    };
    gathered.provider = Some(connection.provider.clone());
    gathered.can = connection.provider.capabilities();
    if gathered.bound {
        let known = known_id(machine);
        match look(connection.provider.as_ref(), &gathered, known, told).await {
            Ok((machines, absence)) => {
                gathered.seen = Some(machines);
                gathered.absence = absence;
            }
            Err(error) => gathered.trouble = Some(trouble(&error)),
        }
    }
    Ok(Some(gathered))
}

/// What carries the machine's key, and what it is worth when that is nothing.
async fn look(
    provider: &dyn Provider,
    gathered: &Gathered,
    known: Option<MachineId>,
    told: Told,
) -> ProviderResult<(Vec<Facts>, Absence)> {
    match told {
        Told::Machine(facts) => return Ok((vec![*facts], Absence::Apparent)),
        Told::Absent => return Ok((Vec::new(), Absence::Proven)),
        Told::Nothing => {}
    }
    let key = &gathered.key;
    let found = provider.find(key).await?;
    if !found.is_empty() {
        return Ok((found, Absence::Apparent));
    }
    match (gathered.can.lookup, known) {
        (Lookup::Consistent, _) => Ok((found, Absence::Proven)),
        // The machine was there once. A search that does not find it may be behind the times; a
        // read by its id is not.
        (Lookup::Eventual, Some(id)) => Ok(match provider.get(key, &id).await? {
            Some(facts) => (vec![facts], Absence::Apparent),
            None => (Vec::new(), Absence::Proven),
        }),
        (Lookup::Eventual, None) => Ok((found, Absence::Apparent)),
    }
}

/// The id that the machine was last seen under. It only adds a look; nothing is concluded from
/// its absence.
pub(super) fn known_id(machine: &Machine) -> Option<MachineId> {
    let status = machine.status.as_ref()?;
    status.machine_id.as_ref().map(MachineId::new)
}

/// In which words the platform refused a change of a machine that exists, for this very
/// declaration. Should the words be lost, the change is only tried once more.
fn refused(machine: &Machine) -> Option<String> {
    known_id(machine)?;
    let stalled = conditions::find(&machine.status.as_ref()?.conditions, conditions::STALLED)?;
    let current = stalled.observed_generation == machine.metadata.generation;
    let by_platform = ["Rejected", "Unsupported"].contains(&stalled.reason.as_str());
    (stalled.status == "True" && current && by_platform).then(|| stalled.message.clone())
}

/// The object as the API server has it now; `None` when it is gone or another one has its name.
pub(super) async fn read_afresh(
    machine: &Machine,
    context: &Context,
) -> Result<Option<Machine>, PassError> {
    let api = api(machine, context);
    let fresh = api
        .get_opt(&machine.name_any())
        .await
        .map_err(PassError::api("could not read the machine"))?;
    let fresh = fresh.map(|Bare(fresh)| fresh);
    Ok(fresh.filter(|fresh| fresh.uid() == machine.uid()))
}

/// Machines as the API server has them, but for who wrote what.
pub(super) fn api(machine: &Machine, context: &Context) -> Api<Bare> {
    Api::namespaced(
        context.client.clone(),
        &machine.namespace().unwrap_or_default(),
    )
}

fn not_connected((namespace, name): &ProviderName, trouble: &Trouble) -> Trouble {
    Trouble {
        reason: "ProviderNotReady".into(),
        message: format!(
            "MachineProvider {namespace}/{name} is not ready: {}",
            trouble.message
        ),
        terminal: false,
        retry_after: None,
    }
}

pub(super) fn invalid(message: String) -> Trouble {
    Trouble {
        reason: "Invalid".into(),
        message,
        terminal: true,
        retry_after: None,
    }
}

/// Folds a provider's error into what a status can say.
pub(crate) fn trouble(error: &ProviderError) -> Trouble {
    Trouble {
        reason: error.reason().into(),
        message: chain(error),
        terminal: match error.retry() {
            RetryPolicy::After(_) => false,
            RetryPolicy::OnChange | RetryPolicy::OnHelp => true,
        },
        retry_after: match error.retry() {
            RetryPolicy::After(wait) => wait,
            RetryPolicy::OnChange | RetryPolicy::OnHelp => None,
        },
    }
}

/// What the Vitistack of the machine's namespace gives.
fn settings(want: &mut Want, machine: &Machine, context: &Context) {
    let mut here = context.stacks.state();
    here.retain(|stack| stack.metadata.namespace == machine.metadata.namespace);
    if let Some(stack) = governing(here.iter().map(AsRef::as_ref)) {
        fill_from_stack(want, stack);
    }
}
