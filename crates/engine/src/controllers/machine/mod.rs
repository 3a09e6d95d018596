//! The machine controller: one pass gathers, decides, reports and acts, then looks again.

mod act;
mod gather;
mod provider;
mod report;

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::Stream;
use kube::{
    ResourceExt,
    runtime::{
        controller::Action,
        reflector::{ObjectRef, store::Writer},
        watcher,
    },
};
use machinist_api::vitistack::Machine;
use machinist_core::machine::{Outlook, PowerState, Step, Trouble, Want, plan};

pub(crate) use self::gather::trouble;
use self::gather::{Gathered, Told};
use self::report::Reported;
use super::Parts;
use crate::{
    Readiness,
    births::SOON,
    context::Context,
    error::{PassError, chain},
    packed::Packed,
    trace::Pass,
};

/// Enough for bind, create, report and settle in one go; the queue carries what is left.
const MAX_STEPS: usize = 8;
/// While something is under way at the platform.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// The same, where so much is under way that the provider's machines are listed meanwhile.
const LISTED: Duration = Duration::from_secs(30);
/// While a person must help.
const STALLED: Duration = Duration::from_secs(15);
/// How long after its start a guest is watched closely for its first report.
const YOUNG: Duration = Duration::from_secs(300);
/// Until somebody changes the declaration or helps; a missing file may also just appear.
const HOPELESS: Duration = Duration::from_secs(60);

/// Runs the controller until shutdown.
pub(crate) async fn run(
    context: Arc<Context>,
    view: Writer<Packed>,
    due: impl Stream<Item = ObjectRef<Packed>> + Send + 'static,
    shutdown: impl Future<Output = ()> + Send + Sync + 'static,
) {
    let parts = Parts {
        view,
        due,
        declared: Packed::declared,
        saw: |context, event| {
            context.tally.machine_event(event);
            if let watcher::Event::Apply(machine) = event {
                let version = machine.resource_version().unwrap_or_default();
                context.written.shown(machine.short_uid(), &version);
            }
            let now = context.clock.now();
            let entered = context.phases.machine_event(event, now, &context.metrics);
            if let (Some(phase), watcher::Event::Apply(machine)) = (entered, event) {
                context.events.entered(machine, phase);
                // Monitoring watches what runs.
                context.tally.touch(machine.namespace().unwrap_or_default());
            }
            context.wake(context.placing.machine_event(event));
        },
        listed: Readiness::machines_are_listed,
        reconcile,
        on_error,
    };
    super::run(context, parts, shutdown).await;
}

async fn reconcile(machine: Arc<Packed>, context: Arc<Context>) -> Result<Action, PassError> {
    let began = Instant::now();
    // A machine judged before its provider is known would be told that it has none.
    if !context.readiness.knows_providers() {
        return Ok(Action::requeue(LOOK_AGAIN));
    }
    let outcome = steps(&machine, &context).await;
    let ok = outcome.is_ok();
    context.metrics.reconciled("machine", ok, began.elapsed());
    outcome
}

fn on_error(machine: Arc<Packed>, error: &PassError, context: Arc<Context>) -> Action {
    let wait = context.backoff.failed(&machine.uid().unwrap_or_default());
    let trace = machine.unpack().ok();
    let trace = trace.and_then(|machine| context.tracer.origin(&machine));
    tracing::warn!(
        machine = %machine.name_any(),
        namespace = machine.namespace().unwrap_or_default(),
        error = %chain(error),
        trace_id = trace.map(|origin| tracing::field::display(origin.trace)),
        retry_in = ?wait,
        "pass failed"
    );
    Action::requeue(wait)
}

/// Goes on, step by step, while there is something to do at once.
async fn steps(cached: &Packed, context: &Arc<Context>) -> Result<Action, PassError> {
    context.notices.meet(cached);
    let mut view = View::Cached(Box::new(cached.unpack()?));
    let mut taken = None;
    for _ in 0..MAX_STEPS {
        let traced = Pass::begin(&context.tracer, view.machine());
        match Pass::around(traced, pass(view, &mut taken, context)).await? {
            Next::Again(machine, told) => view = View::Fresh(machine, told),
            Next::Later(action) => return Ok(action),
        }
    }
    Ok(Action::requeue(LOOK_AGAIN))
}

/// An object, and whether it may be behind the API server.
enum View {
    Cached(Box<Machine>),
    Fresh(Box<Machine>, Told),
}

impl View {
    fn machine(&self) -> &Machine {
        match self {
            View::Cached(machine) | View::Fresh(machine, _) => machine,
        }
    }
}

enum Next {
    Again(Box<Machine>, Told),
    Later(Action),
}

async fn pass(
    view: View,
    taken: &mut Option<Step>,
    context: &Arc<Context>,
) -> Result<Next, PassError> {
    let (machine, fresh, told) = match view {
        View::Cached(machine) => (machine, false, Told::Nothing),
        View::Fresh(machine, told) => (machine, true, told),
    };
    let version = machine.resource_version().unwrap_or_default();
    let uid = machine.uid().unwrap_or_default();
    if !fresh && context.written.is_ahead_of(&uid, &version) {
        let next = again(&machine, context).await?;
        if matches!(&next, Next::Again(now, _) if now.resource_version() == Some(version)) {
            context.written.forget(&uid);
        }
        return Ok(next);
    }
    let Some(gathered) = gather::gather(&machine, told, context).await? else {
        return Ok(Next::Later(Action::requeue(LOOK_AGAIN)));
    };
    let situation = gathered.situation(&machine);
    let step = plan(situation);
    // Binding is a write on this very version of the object, or none: it needs no other proof.
    if step.is_consequential() && !fresh && step != Step::Bind {
        return again(&machine, context).await;
    }
    let outlook = Outlook {
        situation,
        step: &step,
        trouble: gathered.trouble.as_ref(),
    };
    // A new machine is born with the status that binding it would report; one write is enough.
    let birth = step == Step::Create && gather::known_id(&machine).is_none();
    let crowded = birth && context.births.begin();
    let said = (step == Step::Bind || crowded) && gathered.trouble.is_none();
    let reported = match said {
        true => Reported::Nothing,
        false => report::report(&machine, &outlook, &gathered, context).await?,
    };
    let written = match reported {
        Reported::Nothing => None,
        Reported::Said(written) => Some(written),
        Reported::Overtaken => return again(&machine, context).await,
        Reported::Gone => return Ok(Next::Later(Action::await_change())),
    };
    let now = written.as_deref().unwrap_or(&machine);
    report::announce(&machine, now, &outlook, context).await;
    let machine = written.unwrap_or(machine);
    if !step.is_consequential() {
        return Ok(Next::Later(wait(&machine, &step, &gathered, context)));
    }
    // The platform took it and does not show it yet: asking again at once tells it nothing new.
    if taken.as_ref() == Some(&step) {
        return Ok(Next::Later(Action::requeue(LOOK_AGAIN)));
    }
    let (newer, acted) = match crowded {
        true => create(&machine, &outlook, &gathered, context).await?,
        false => (None, act::act(&machine, &step, &gathered, context).await?),
    };
    let machine = newer.unwrap_or(machine);
    *taken = Some(step.clone());
    if let Some(provider) = &gathered.provider_name {
        context.recount(provider);
    }
    match acted {
        act::Acted::Done(told) => Ok(Next::Again(machine, told)),
        act::Acted::Bound(machine) => Ok(Next::Again(machine, Told::Nothing)),
        act::Acted::Overtaken => again(&machine, context).await,
        act::Acted::Gone => Ok(gone(&machine, context)),
        act::Acted::Failed(trouble) => {
            let outlook = Outlook {
                trouble: Some(&trouble),
                ..outlook
            };
            report::report(&machine, &outlook, &gathered, context).await?;
            let later = after_trouble(&machine, &trouble, context);
            // A machine that was stopped for a change that is refused is not left down.
            let down = outlook.machine().map(|facts| facts.power) == Some(PowerState::Stopped);
            let wanted = gathered.want.as_ref().is_some_and(Want::should_run);
            Ok(Next::Later(match trouble.terminal && down && wanted {
                true => Action::requeue(LOOK_AGAIN),
                false => later,
            }))
        }
    }
}

/// Makes one of many machines. That it is being made is said when it takes a while: a status is a
/// durable write, and most machines are there before it would be read. With it comes the object
/// as that write left it.
async fn create(
    machine: &Machine,
    outlook: &Outlook<'_>,
    gathered: &Gathered,
    context: &Context,
) -> Result<(Option<Box<Machine>>, act::Acted), PassError> {
    let mut acting = pin!(act::act(machine, outlook.step, gathered, context));
    if let Ok(acted) = tokio::time::timeout(SOON, acting.as_mut()).await {
        return Ok((None, acted?));
    }
    let reporting = report::report(machine, outlook, gathered, context);
    let (acted, reported) = futures::join!(acting, reporting);
    // A report that did not come through is made good by the next.
    Ok(match reported {
        Ok(Reported::Said(said)) => (Some(said), acted?),
        _ => (None, acted?),
    })
}

/// Begins anew on the object as the API server has it now.
async fn again(machine: &Machine, context: &Context) -> Result<Next, PassError> {
    Ok(match gather::read_afresh(machine, context).await? {
        Some(machine) => Next::Again(Box::new(machine), Told::Nothing),
        None => gone(machine, context),
    })
}

fn gone(machine: &Machine, context: &Context) -> Next {
    context.forget(&machine.uid().unwrap_or_default());
    Next::Later(Action::await_change())
}

fn after_trouble(machine: &Machine, trouble: &Trouble, context: &Context) -> Action {
    let backoff = context.backoff.failed(&machine.uid().unwrap_or_default());
    Action::requeue(match trouble {
        Trouble { terminal: true, .. } => HOPELESS,
        // The platform knows better than any rule of ours when it has time again.
        Trouble {
            retry_after: Some(wait),
            ..
        } => *wait,
        Trouble { .. } => backoff,
    })
}

/// When to look again, when there is nothing to do now.
fn wait(machine: &Machine, step: &Step, gathered: &Gathered, context: &Context) -> Action {
    if let Some(trouble) = &gathered.trouble {
        if let Some(provider) = &gathered.provider_name {
            context.notices.left(machine, provider);
        }
        return after_trouble(machine, trouble, context);
    }
    context.backoff.forget(&machine.uid().unwrap_or_default());
    let young = gathered.machines().iter().any(|facts| {
        let age = facts
            .started
            .map(|started| context.clock.now().duration_since(started));
        let unreported = facts.guest.is_none() || facts.nics.iter().any(|nic| !nic.confirmed);
        let runs = facts.power == PowerState::Running;
        runs && unreported && age.is_some_and(|age| age.unsigned_abs() < YOUNG)
    });
    let lively = match step {
        Step::Settled => young,
        Step::Stall(_) => false,
        _ => true,
    };
    let listed = gathered.provider_name.as_ref().is_some_and(|provider| {
        let seen = gathered.machines();
        context.notices.put(machine, provider, seen, lively)
    });
    match step {
        // What is as it should be is seen to change by the provider's list.
        Step::Settled if !young => Action::await_change(),
        Step::Stall(_) => Action::requeue(STALLED),
        _ if listed => Action::requeue(LISTED),
        _ => Action::requeue(LOOK_AGAIN),
    }
}
