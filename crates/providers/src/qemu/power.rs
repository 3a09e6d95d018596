//! Stopping, starting again and removing: what takes time is written down first.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use machinist_core::{
    machine::{MachineId, MachineKey},
    provider::{Change, ProviderError, ProviderResult},
};
use serde_json::json;

use super::{
    error::io_fault,
    host::{Host, guard},
    process,
    qmp::{self, Qmp},
    record::{Goal, Pending, Record},
};

/// How long QEMU may take to end after it was told to.
const QUIT: Duration = Duration::from_secs(5);
/// How long the kernel may take to end it.
const KILL: Duration = Duration::from_secs(20);

impl Host {
    pub(super) async fn update(
        self: &Arc<Host>,
        key: &MachineKey,
        id: &MachineId,
        change: &Change,
    ) -> ProviderResult<()> {
        let (lock, mut record) = self.take(key, id).await?;
        if record
            .pending
            .is_some_and(|pending| pending.goal == Goal::Delete)
        {
            return Err(being_removed(&record));
        }
        let lives = self.lives(&record)?;
        if let Change::Restart { token, .. } = change {
            if record.restart.as_ref() == Some(token) {
                return Ok(());
            }
            // It is written down with what follows from it, in one file.
            record.restart = Some(token.clone());
        }
        match (change, lives) {
            (Change::Stop { grace }, true) => self.wind_down(record, Goal::Stop, *grace).await,
            (Change::Restart { grace, .. }, true) => {
                self.wind_down(record, Goal::Restart, *grace).await
            }
            (Change::Start, true) => match &mut record.pending {
                // It is on its way down, and cannot be held: it comes up again after that.
                Some(pending) => {
                    pending.goal = Goal::Restart;
                    self.save(&record)
                }
                None => self.resume(&record).await,
            },
            (Change::Stop { .. }, false) => {
                record.pending = None;
                self.save(&record)
            }
            (Change::Start | Change::Restart { .. }, false) => {
                record.pending = None;
                self.plug(&lock, &mut record).await?;
                self.start(&mut record).await?;
                self.hint(&record);
                Ok(())
            }
            (change, lives) => self.alter(&lock, record, change, lives).await,
        }
    }

    pub(super) async fn delete(
        self: &Arc<Host>,
        key: &MachineKey,
        id: &MachineId,
        grace: Option<Duration>,
    ) -> ProviderResult<()> {
        let (_lock, mut record) = self.take(key, id).await?;
        // Asking again does not give the guest more time.
        if record
            .pending
            .is_none_or(|pending| pending.goal != Goal::Delete)
        {
            record.pending = Some(self.pending(Goal::Delete, grace));
            self.save(&record)?;
        }
        self.settle(record).await.map(drop)
    }

    /// The right to change a machine that carries the key, and its record.
    async fn take(
        &self,
        key: &MachineKey,
        id: &MachineId,
    ) -> ProviderResult<(super::layout::DirLock, Record)> {
        self.owned(key, id)?;
        let Some(lock) = self.layout.lock(id.as_str()).await? else {
            return Err(ProviderError::NotFound {
                what: format!("machine {id}"),
            });
        };
        // It may have changed while the lock was waited for.
        Ok((lock, self.owned(key, id)?))
    }

    async fn wind_down(
        self: &Arc<Host>,
        mut record: Record,
        goal: Goal,
        grace: Option<Duration>,
    ) -> ProviderResult<()> {
        let pending = match record.pending {
            // Asking again does not give the guest more time.
            Some(pending) => Pending { goal, ..pending },
            None => self.pending(goal, grace),
        };
        record.pending = Some(pending);
        self.save(&record)?;
        self.settle(record).await.map(drop)
    }

    fn pending(&self, goal: Goal, grace: Option<Duration>) -> Pending {
        let own = match goal {
            Goal::Stop | Goal::Restart => self.config.stop_grace,
            Goal::Delete => self.config.delete_grace,
        };
        let grace = grace.unwrap_or(own);
        let grace = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
        Pending {
            goal,
            deadline: now().saturating_add(grace),
        }
    }

    /// Brings what is pending to its end when the guest is down or its time is up; else
    /// sees to it that this happens. The machine's lock must be held. `None` when the
    /// machine is removed.
    pub(super) async fn settle(
        self: &Arc<Host>,
        mut record: Record,
    ) -> ProviderResult<Option<Record>> {
        let Some(pending) = record.pending else {
            return Ok(Some(record));
        };
        if self.lives(&record)? {
            if now() < pending.deadline {
                self.enforce(&record);
                return Ok(Some(record));
            }
            self.end(&record).await?;
        }
        match pending.goal {
            Goal::Stop => {
                record.pending = None;
                self.save(&record)?;
            }
            Goal::Restart => {
                // Cleared first: were it left, a crash would have the new guest ended as well.
                record.pending = None;
                self.start(&mut record).await?;
            }
            Goal::Delete => {
                self.discard(&record).await?;
                return Ok(None);
            }
        }
        self.hint(&record);
        Ok(Some(record))
    }

    /// Asks the guest to shut down and settles when it did, or when its time is up.
    fn enforce(self: &Arc<Host>, record: &Record) {
        let uid = record.machine.clone();
        if !guard(&self.enforced).insert(uid.clone()) {
            return;
        }
        let host = Arc::clone(self);
        tokio::spawn(async move {
            let dir = host.layout.dir(&uid);
            // A guest that cannot be asked is ended when its time is up.
            if let Ok(mut qmp) = Qmp::connect(&dir, qmp::COMMANDS).await {
                let _ = qmp.execute("system_powerdown", json!({})).await;
            }
            while let Ok(Some(Record {
                pending: Some(pending),
                ..
            })) = host.layout.record(&uid)
            {
                let left = u64::try_from(pending.deadline - now()).unwrap_or(0);
                let _ = process::wait_gone(&dir, Duration::from_millis(left)).await;
                if host.settle_now(&uid).await {
                    break;
                }
            }
            guard(&host.enforced).remove(&uid);
        });
    }

    /// Takes the lock and settles; true when nothing is pending any more, or when that
    /// failed and is left to the next look.
    async fn settle_now(self: &Arc<Host>, uid: &str) -> bool {
        let settled = async {
            let Some(_lock) = self.layout.lock(uid).await? else {
                return Ok(None);
            };
            match self.layout.record(uid)? {
                Some(record) => self.settle(record).await,
                None => Ok(None),
            }
        };
        match settled.await {
            Ok(Some(record)) => record.pending.is_none(),
            Ok(None) => true,
            Err(error) => {
                let error: ProviderError = error;
                tracing::warn!(machine = uid, %error, "could not bring a pending change to its end");
                true
            }
        }
    }

    /// Ends QEMU, by its own command where it answers, else by a signal.
    async fn end(&self, record: &Record) -> ProviderResult<()> {
        let dir = self.layout.dir(&record.machine);
        let fault = |source| io_fault("end QEMU in", &dir, source);
        let told = async {
            let mut qmp = Qmp::connect(&dir, qmp::COMMANDS).await?;
            qmp.execute("quit", json!({})).await
        };
        // The answer may be lost in QEMU's own end; whether it is gone is looked at below.
        let _ = tokio::time::timeout(QUIT, told).await;
        if process::wait_gone(&dir, QUIT).await.map_err(fault)? {
            return Ok(());
        }
        process::kill(&dir, &record.uuid).map_err(fault)?;
        if process::wait_gone(&dir, KILL).await.map_err(fault)? {
            return Ok(());
        }
        Err(ProviderError::Busy {
            reason: format!("the QEMU process in {} does not end", dir.display()),
            retry_after: None,
        })
    }

    /// Lets a guest go on that somebody paused.
    async fn resume(&self, record: &Record) -> ProviderResult<()> {
        let dir = self.layout.dir(&record.machine);
        let resumed = async {
            let mut qmp = Qmp::connect(&dir, qmp::COMMANDS).await?;
            let status = qmp.execute("query-status", json!({})).await?;
            if status["status"] == "paused" {
                qmp.execute("cont", json!({})).await?;
            }
            Ok(())
        };
        resumed.await.map_err(|source: qmp::QmpError| {
            ProviderError::transport(format!("resuming machine {}", record.name), source)
        })
    }
}

pub(super) fn being_removed(record: &Record) -> ProviderError {
    ProviderError::Busy {
        reason: format!("machine {} is being removed", record.name),
        retry_after: None,
    }
}

fn now() -> i64 {
    Timestamp::now().as_millisecond()
}
