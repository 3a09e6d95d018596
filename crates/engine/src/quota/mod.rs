//! The gate before writes that quotas limit: it promises places, and never the same one twice.
//!
//! Requests of one namespace are judged in batches by one worker, against the namespace's
//! [`Ledger`](machinist_core::quota::Ledger). Where the server is in this process the ledger is in
//! memory; where several processes may serve the webhook it is an object that is written by compare
//! and swap. What exists is counted only when the ledger would refuse something, or has many open
//! promises: a request that is admitted costs the same however many machines there are.

mod book;
mod claims;
mod landed;
mod offers;
mod stacks;
mod worker;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use futures::future;
use kube::Client;
use machinist_core::quota::{Claim, Excess};
use serde_json::Value;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot, watch};

use crate::Clock;

pub use book::Book;

/// Why a request is not let through.
#[derive(Debug, Error)]
pub enum GateError {
    /// It would exceed a quota.
    #[error("exceeds the quota of Vitistack {stack}: {excess} ({}); remove some, or have the quota raised", excess.field())]
    Exceeded {
        /// The Vitistack that sets it.
        stack: String,
        /// Which limit.
        excess: Excess,
    },
    /// The provider that a machine names does not offer what it asks for.
    #[error("{0}")]
    Unsuited(String),
    /// The request does not say what it must.
    #[error("the review has no {0}")]
    Incomplete(&'static str),
    /// The object of the request cannot be read.
    #[error("the object cannot be read")]
    Unreadable(#[source] serde_json::Error),
    /// The ledger could not be read or written, or what exists could not be listed.
    #[error("the quota cannot be checked: {0}; try again")]
    Unknown(String),
}

/// The namespaces that have quotas; nothing while they are not known.
pub type Namespaces = Option<BTreeSet<String>>;

/// Judges writes by the quotas of their namespaces, and machines by what their provider offers. Clones are the same gate.
#[derive(Clone)]
pub struct Gate(Arc<Inner>);

pub(crate) struct Inner {
    client: Client,
    clock: Arc<dyn Clock>,
    book: Book,
    stacks: stacks::Stacks,
    offers: offers::Offers,
    workers: Mutex<HashMap<String, mpsc::UnboundedSender<Asked>>>,
}

/// One request that waits for its verdict.
struct Asked {
    claim: Claim,
    dry_run: bool,
    verdict: oneshot::Sender<Result<(), GateError>>,
}

impl Gate {
    /// A gate that keeps its ledgers in this book.
    pub fn new(client: Client, clock: Arc<dyn Clock>, book: Book) -> Gate {
        Gate(Arc::new(Inner {
            client,
            clock,
            book,
            stacks: stacks::Stacks::default(),
            offers: offers::Offers::default(),
            workers: Mutex::default(),
        }))
    }

    /// Follows Vitistacks and providers for as long as it is polled.
    pub async fn run(&self) {
        let inner = &self.0;
        let stacks = inner.stacks.follow(&inner.client);
        future::join(stacks, inner.offers.follow(&inner.client)).await;
    }

    /// Whether there are providers that do not offer everything, as that changes; nothing while it
    /// is not known.
    pub fn choosy(&self) -> watch::Receiver<Option<bool>> {
        self.0.offers.choosy()
    }

    /// Judges the machine of an AdmissionReview by what its provider declares.
    ///
    /// # Errors
    /// When the provider does not offer what the machine asks for.
    pub fn suits(&self, request: &Value) -> Result<(), GateError> {
        self.0.offers.judge(request)
    }

    /// The namespaces that have quotas, as they change; nothing while they are not known.
    pub fn namespaces(&self) -> watch::Receiver<Namespaces> {
        self.0.stacks.namespaces()
    }

    /// Judges the request of an AdmissionReview; a write that is let through has its place.
    ///
    /// # Errors
    /// When it exceeds a quota, or when that cannot be found out.
    pub async fn admit(&self, request: &Value) -> Result<(), GateError> {
        let namespace = request["namespace"].as_str().unwrap_or_default();
        if self.0.stacks.limits(namespace).is_none() {
            return Ok(());
        }
        let resolve = |name: &str| self.0.stacks.resolve(namespace, name);
        let Some(claim) = claims::read(request, resolve)? else {
            return Ok(());
        };
        let (verdict, answer) = oneshot::channel();
        let asked = Asked {
            claim,
            dry_run: request["dryRun"].as_bool().unwrap_or_default(),
            verdict,
        };
        let gone = || GateError::Unknown("the gate is closing".into());
        self.queue(namespace).send(asked).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// The queue of a namespace; its worker is there from the first request on.
    fn queue(&self, namespace: &str) -> mpsc::UnboundedSender<Asked> {
        let mut workers = self
            .0
            .workers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let queue = workers.entry(namespace.to_owned()).or_insert_with(|| {
            let (queue, asked) = mpsc::unbounded_channel();
            let inner = Arc::downgrade(&self.0);
            tokio::spawn(worker::work(inner, namespace.to_owned(), asked));
            queue
        });
        queue.clone()
    }
}
