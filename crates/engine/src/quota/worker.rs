//! Judges the requests of one namespace, as many at a time as there are.

use std::sync::{Arc, Weak};

use kube::{Api, ResourceExt, api::ListParams};
use machinist_api::vitistack::{Machine, NetworkConfiguration};
use machinist_core::{
    dialect::vitistack::counted,
    quota::{Census, Existing, Ledger, Limits, Thing},
};
use tokio::{sync::mpsc, task::JoinHandle};

use super::{
    Asked, GateError, Inner,
    landed::{Arrival, Landed},
};
use crate::error::chain;

/// How many requests are judged at once.
const BATCH: usize = 256;
/// How many objects are read at a time.
const PAGE: u32 = 500;
/// How often a ledger that others write too is tried.
const TRIES: usize = 50;
/// How many promises may be open before what exists is counted, beside an eighth of it.
const OPEN: u64 = 512;

/// Judges requests until there is no gate any more.
pub(super) async fn work(
    gate: Weak<Inner>,
    namespace: String,
    queue: mpsc::UnboundedReceiver<Asked>,
) {
    let Some(inner) = gate.upgrade() else { return };
    let landed = Arc::new(Landed::new(inner.clock.clone()));
    let following = landed.follow(
        inner.client.clone(),
        namespace.clone(),
        inner.stacks.namespaces(),
    );
    drop(inner);
    tokio::select! {
        () = judge_all(gate, &namespace, queue, &landed) => {}
        () = following => {}
    }
}

async fn judge_all(
    gate: Weak<Inner>,
    namespace: &str,
    mut queue: mpsc::UnboundedReceiver<Asked>,
    landed: &Landed,
) {
    let mut batch = Vec::new();
    let mut counting: Option<JoinHandle<Option<Census>>> = None;
    while queue.recv_many(&mut batch, BATCH).await > 0 {
        let Some(gate) = gate.upgrade() else { return };
        let counted = match counting.take_if(|task| task.is_finished()) {
            Some(task) => task.await.ok().flatten(),
            None => None,
        };
        // A count that is under way may lack what came since, and needs its promise. Others that
        // write the ledger too may be counting at any time.
        let alone = gate.book.is_ours() && counting.is_none() && counted.is_none();
        let arrivals = match alone {
            true => landed.take_arrivals(),
            false => Vec::new(),
        };
        let judging = gate.judge(namespace, &batch, counted, &arrivals, landed);
        let outcome = judging.await;
        match outcome {
            Ok((verdicts, due)) => {
                for (asked, verdict) in batch.drain(..).zip(verdicts) {
                    let _ = asked.verdict.send(verdict);
                }
                if let Some(due) = due
                    && counting.is_none()
                {
                    counting = Some(tokio::spawn(count_later(gate, namespace.to_owned(), due)));
                }
            }
            Err(error) => {
                let why = chain(&error);
                tracing::warn!(namespace, error = why, "a quota cannot be checked");
                for asked in batch.drain(..) {
                    let _ = asked.verdict.send(Err(GateError::Unknown(why.clone())));
                }
            }
        }
    }
}

/// Counts beside the requests, which need not wait for it.
async fn count_later(gate: Arc<Inner>, namespace: String, mut census: Census) -> Option<Census> {
    census.existing = gate.existing(&namespace).await.ok()?;
    Some(census)
}

type Verdicts = Vec<Result<(), GateError>>;

impl Inner {
    /// Judges a batch, and makes the promises durable before anybody is told; with the count that
    /// is due, if one is. `later` is a count that was begun some time ago, and `arrivals` are
    /// objects that are there by now.
    async fn judge(
        &self,
        namespace: &str,
        batch: &[Asked],
        later: Option<Census>,
        arrivals: &[Arrival],
        landed: &Landed,
    ) -> Result<(Verdicts, Option<Census>), kube::Error> {
        let mut exact: Option<Census> = None;
        for _ in 0..TRIES {
            let Some((stack, limits)) = self.stacks.limits(namespace) else {
                return Ok((batch.iter().map(|_| Ok(())).collect(), None));
            };
            let now = self.clock.now().as_second();
            let (kept, version) = self.book.load(namespace).await?.into_parts();
            let is_new = kept.is_none();
            let mut ledger = kept.unwrap_or_default();
            for (thing, name, uid) in arrivals {
                ledger.settle(*thing, name, uid);
            }
            let fresh = exact.as_ref().is_some_and(|exact| ledger.count(exact, now));
            if let Some(later) = later.as_ref().filter(|_| !fresh) {
                ledger.count(later, now);
            }
            let verdicts = promise(&mut ledger, batch, &stack, &limits, now);
            // Nothing is refused by an old count, nor admitted without any.
            if !fresh && (is_new || verdicts.iter().any(Result::is_err)) {
                let kept = self.book.load(namespace).await?.into_parts().0;
                let mut census = kept.unwrap_or_default().begin(|uid| landed.was_seen(uid));
                census.existing = self.existing(namespace).await?;
                exact = Some(census);
                continue;
            }
            // What nobody promised anything in may stay as it is.
            if batch.iter().all(|asked| asked.dry_run) {
                return Ok((verdicts, None));
            }
            if !self.book.store(namespace, &ledger, version).await? {
                continue;
            }
            let many = u64::try_from(ledger.open()).unwrap_or(u64::MAX);
            let due = many > OPEN.max(ledger.machines() / 8);
            let due = due.then(|| ledger.begin(|uid| landed.was_seen(uid)));
            return Ok((verdicts, due));
        }
        let busy = || GateError::Unknown("too many write the ledger".into());
        Ok((batch.iter().map(|_| Err(busy())).collect(), None))
    }

    /// What there is, as the API server has it now.
    async fn existing(&self, namespace: &str) -> Result<Vec<Existing>, kube::Error> {
        let mut existing = Vec::new();
        let machines: Api<Machine> = Api::namespaced(self.client.clone(), namespace);
        let mut params = ListParams::default().limit(PAGE);
        loop {
            let page = machines.list(&params).await?;
            let one =
                |machine: &Machine| counted(machine, |name| self.stacks.resolve(namespace, name));
            existing.extend(page.items.iter().map(one));
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => break,
            }
        }
        let networks: Api<NetworkConfiguration> = Api::namespaced(self.client.clone(), namespace);
        let networks = networks.list_metadata(&ListParams::default()).await?;
        existing.extend(networks.items.iter().map(|network| Existing {
            thing: Thing::Network,
            name: network.name_any(),
            uid: network.uid(),
            storage: 0,
            provider: None,
        }));
        Ok(existing)
    }
}

/// Promises, or refuses, one after the other. A dry run takes no place.
fn promise(
    ledger: &mut Ledger,
    batch: &[Asked],
    stack: &str,
    limits: &Limits,
    now: i64,
) -> Verdicts {
    let one = |asked: &Asked| {
        let verdict = match asked.dry_run {
            true => ledger.judge(&asked.claim, limits),
            false => ledger.promise(&asked.claim, limits, now),
        };
        verdict.map_err(|excess| GateError::Exceeded {
            stack: stack.to_owned(),
            excess,
        })
    };
    batch.iter().map(one).collect()
}
