//! Following the machines' events, so that a change is seen when it happens.

use std::sync::Arc;

use super::{
    host::{Host, guard},
    qmp::Qmp,
    record::Record,
};

/// Events that change what a machine's facts say.
const TELLING: [&str; 9] = [
    "SHUTDOWN",
    "POWERDOWN",
    "RESET",
    "STOP",
    "RESUME",
    "GUEST_PANICKED",
    "BLOCK_IO_ERROR",
    "VSERPORT_CHANGE",
    "NIC_RX_FILTER_CHANGED",
];

impl Host {
    /// Follows every machine that lives.
    pub(super) fn follow_all(self: &Arc<Host>) {
        let Ok((uids, _)) = self.layout.uids() else {
            return;
        };
        for uid in uids {
            if let Ok(Some(record)) = self.layout.record(&uid)
                && self.lives(&record).unwrap_or(false)
            {
                self.follow(&record);
            }
        }
    }

    /// Hints at every telling event of the machine, and at its end, until either ends.
    pub(super) fn follow(self: &Arc<Host>, record: &Record) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let uid = record.machine.clone();
        if !guard(&self.followed).insert(uid.clone()) {
            return;
        }
        let (host, record) = (Arc::clone(self), record.clone());
        let mut closing = self.closing.clone();
        runtime.spawn(async move {
            tokio::select! {
                () = host.listen(&record) => {}
                // The driver was dropped: nobody is left to be told.
                _ = closing.changed() => {}
            }
            guard(&host.followed).remove(&uid);
            host.hint(&record);
        });
    }

    async fn listen(&self, record: &Record) {
        let dir = self.layout.dir(&record.machine);
        let Ok(mut events) = Qmp::listen(&dir).await else {
            return;
        };
        // Something may have happened before anybody listened.
        self.hint(record);
        // The connection ends when QEMU does, however it ends.
        while let Ok(event) = events.event().await {
            if TELLING.contains(&event.as_str()) {
                self.hint(record);
            }
        }
    }
}
