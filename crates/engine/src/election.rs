//! One engine at a time: whoever works holds a Lease, renews it, and gives it back at its end.
//!
//! Exactly-once does not rest on this. An engine that does not know yet that it has lost its lease
//! does no harm (each step is a write on a version, or a call with a token); it only costs calls.
//!
//! Clocks of several hosts are not compared: a lease has run out when its holder has not changed it
//! for its duration, by the clock of whoever watches it.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta},
};
use kube::{Api, Client, ResourceExt, api::PostParams};
use tokio::{sync::watch, task::JoinHandle, time::Instant};

use crate::error::chain;

/// A candidate for the work.
#[derive(Clone)]
pub struct Election {
    /// The API server that keeps the Lease.
    pub client: Client,
    /// The Lease's namespace.
    pub namespace: String,
    /// The Lease's name.
    pub name: String,
    /// Who this candidate is, unlike any other.
    pub identity: String,
    /// How long a lease holds that nobody renews.
    pub duration: Duration,
}

/// What one try led to.
enum Taken {
    /// The lease is ours until its duration is over.
    Ours,
    /// Somebody else holds it.
    Theirs,
    /// Somebody else was faster; the next try tells.
    Overtaken,
}

/// A holder's last sign of life, by our clock.
struct Seen {
    version: Option<String>,
    at: Instant,
}

/// A lease that is held.
pub struct Leadership {
    election: Election,
    lost: watch::Receiver<bool>,
    renewing: JoinHandle<()>,
}

impl Election {
    /// Waits for its turn. Errors of the API server are logged and waited out.
    pub async fn win(self) -> Leadership {
        let mut seen = None;
        let mut told = false;
        loop {
            match self.try_take(&mut seen).await {
                Ok(Taken::Ours) => break,
                Ok(Taken::Theirs) if !told => {
                    told = true;
                    tracing::info!(lease = self.name, "another engine works; waiting");
                }
                Ok(Taken::Theirs | Taken::Overtaken) => {}
                Err(error) => {
                    tracing::warn!(lease = self.name, error = %chain(&error), "lease not taken");
                }
            }
            tokio::time::sleep(self.period()).await;
        }
        tracing::info!(lease = self.name, identity = self.identity, "lease taken");
        let (tell, lost) = watch::channel(false);
        let candidate = self.clone();
        let renewing = tokio::spawn(async move {
            candidate.keep().await;
            tell.send_replace(true);
        });
        Leadership {
            election: self,
            lost,
            renewing,
        }
    }

    /// Between two tries.
    fn period(&self) -> Duration {
        self.duration / 7
    }

    /// Renews until the lease is lost: until another holds it, or it could not be renewed for two
    /// thirds of its duration. The last third is for passes to end; one that takes longer meets
    /// another engine's, which does no harm.
    async fn keep(&self) {
        let mut renewed = Instant::now();
        loop {
            tokio::time::sleep(self.period()).await;
            let deadline = renewed + self.duration * 2 / 3;
            let began = Instant::now();
            match tokio::time::timeout_at(deadline, self.try_take(&mut None)).await {
                Ok(Ok(Taken::Ours)) => renewed = began,
                Ok(Ok(Taken::Theirs)) => {
                    tracing::error!(lease = self.name, "another engine took the lease");
                    return;
                }
                Ok(Ok(Taken::Overtaken)) => {}
                Ok(Err(error)) => {
                    tracing::warn!(lease = self.name, error = %chain(&error), "lease not renewed");
                }
                Err(_) => {}
            }
            if Instant::now() >= deadline && renewed < began {
                tracing::error!(lease = self.name, "the lease could not be renewed in time");
                return;
            }
        }
    }

    fn api(&self) -> Api<Lease> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Takes or renews the lease, on the version that was read or not at all.
    async fn try_take(&self, seen: &mut Option<Seen>) -> Result<Taken, kube::Error> {
        let api = self.api();
        let Some(lease) = api.get_opt(&self.name).await? else {
            let lease = Lease {
                metadata: ObjectMeta {
                    name: Some(self.name.clone()),
                    ..ObjectMeta::default()
                },
                spec: Some(self.held(None)),
            };
            return taken(api.create(&PostParams::default(), &lease).await);
        };
        let holder = holder(&lease);
        if holder.is_some_and(|holder| *holder != self.identity) {
            let version = lease.resource_version();
            let known = seen.take().filter(|seen| seen.version == version);
            let known = known.unwrap_or_else(|| Seen {
                version,
                at: Instant::now(),
            });
            let over = known.at.elapsed() > duration(&lease).unwrap_or(self.duration);
            *seen = Some(known);
            if !over {
                return Ok(Taken::Theirs);
            }
        }
        let next = Lease {
            spec: Some(self.held(Some(&lease))),
            ..lease
        };
        taken(api.replace(&self.name, &PostParams::default(), &next).await)
    }

    /// The lease as this candidate holds it.
    fn held(&self, before: Option<&Lease>) -> LeaseSpec {
        let now = MicroTime(Timestamp::now());
        let spec = before.and_then(|lease| lease.spec.as_ref());
        let ours = before.and_then(holder) == Some(&self.identity);
        let transitions = spec.and_then(|spec| spec.lease_transitions).unwrap_or(0);
        let acquired = spec.and_then(|spec| spec.acquire_time.clone());
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(self.duration.as_secs()).ok(),
            renew_time: Some(now.clone()),
            acquire_time: acquired.filter(|_| ours).or(Some(now)),
            lease_transitions: Some(match (ours, spec) {
                (true, _) | (_, None) => transitions,
                (false, Some(_)) => transitions.saturating_add(1),
            }),
            ..LeaseSpec::default()
        }
    }
}

impl Leadership {
    /// Resolves when the lease is lost.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut lost = self.lost.clone();
        async move {
            // A task that is gone renews no more.
            let _ = lost.wait_for(|lost| *lost).await;
        }
    }

    /// Whether the lease is lost.
    pub fn is_lost(&self) -> bool {
        *self.lost.borrow()
    }

    /// Gives the lease back, so that the next in line need not wait for its end. To be called
    /// when the work has ended.
    pub async fn release(self) {
        self.renewing.abort();
        if self.is_lost() {
            return;
        }
        let api = self.election.api();
        let released = async {
            let lease = api.get(&self.election.name).await?;
            if holder(&lease) != Some(&self.election.identity) {
                return Ok(());
            }
            let spec = LeaseSpec {
                holder_identity: None,
                lease_duration_seconds: Some(1),
                renew_time: Some(MicroTime(Timestamp::now())),
                ..lease.spec.clone().unwrap_or_default()
            };
            let next = Lease {
                spec: Some(spec),
                ..lease
            };
            let params = PostParams::default();
            api.replace(&self.election.name, &params, &next).await?;
            tracing::info!(lease = self.election.name, "lease given back");
            Ok::<(), kube::Error>(())
        };
        if let Err(error) = released.await {
            tracing::warn!(lease = self.election.name, error = %chain(&error), "lease not given back");
        }
    }
}

/// Who holds a lease; an empty name is nobody.
fn holder(lease: &Lease) -> Option<&String> {
    let holder = lease.spec.as_ref()?.holder_identity.as_ref();
    holder.filter(|holder| !holder.is_empty())
}

fn duration(lease: &Lease) -> Option<Duration> {
    let seconds = lease.spec.as_ref()?.lease_duration_seconds?;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

fn taken(written: Result<Lease, kube::Error>) -> Result<Taken, kube::Error> {
    match written {
        Ok(_) => Ok(Taken::Ours),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(Taken::Overtaken),
        Err(error) => Err(error),
    }
}
