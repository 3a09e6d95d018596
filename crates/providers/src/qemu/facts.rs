//! What a machine is now: read from its record, its process and its guest.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use machinist_core::{
    machine::{Architecture, Facts, MachineId, NicFacts, PowerState},
    provider::{ProviderError, ProviderResult},
};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::{
    agent::{self, Report},
    command,
    config::Accelerator,
    disk,
    host::{Host, guard},
    layout::Taken,
    network, process,
    qmp::{self, Qmp, QmpError},
    record::{Goal, Record},
};

/// How long QEMU may take to be gone after it stopped answering.
const ENDING: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// What QEMU says.
struct Status {
    /// Its run state, such as `running`.
    state: String,
    /// Whether the guest has opened the agent's channel.
    agent: bool,
}

impl Status {
    fn bare(state: &str) -> Status {
        Status {
            state: state.to_owned(),
            agent: false,
        }
    }
}

impl Host {
    pub(super) async fn facts(self: &Arc<Host>, record: &Record) -> ProviderResult<Facts> {
        let dir = self.layout.dir(&record.machine);
        let status = self.status(record, &dir).await?;
        let (power, state) = power(record, status.as_ref().map(|status| status.state.as_str()));
        let report = match &status {
            Some(status) if status.agent => self.report(record, &dir).await,
            _ => None,
        };
        if status.is_some() {
            self.follow(record);
        }
        let key = record
            .key()
            .map_err(|source| ProviderError::transport("reading a machine's key", source))?;
        let interfaces = network::interfaces(record, self.config.network)?;
        let nics = interfaces
            .into_iter()
            .map(|interface| nic(interface, report.as_ref()));
        Ok(Facts {
            id: MachineId::new(record.machine.clone()),
            key,
            provider_id: format!("qemu://{}/{}", self.config.node, record.machine),
            power,
            problem: (power == PowerState::Failed).then(|| problem(&state)),
            state,
            node: Some(self.config.node.clone()),
            instance_type: None,
            cpus: Some(record.asked.sockets * record.asked.cores * record.asked.threads),
            memory: Some(record.asked.memory),
            architecture: Some(Architecture::Amd64),
            disks: disk::facts(&dir, record),
            nics: nics.collect(),
            tags: record.asked.tags.clone(),
            restart: record.restart.clone(),
            guest: report.map(|report| report.guest),
            created: record.created.parse().ok(),
            started: record.started.as_deref().and_then(|text| text.parse().ok()),
            details: details(record, &dir, power),
        })
    }

    /// What QEMU says; `None` when there is none. Of a process that lives and does not
    /// answer that much is known: it can be ended, and one such guest must not hide the
    /// others from whoever lists them.
    async fn status(&self, record: &Record, dir: &Path) -> ProviderResult<Option<Status>> {
        if !record.made || !self.lives(record)? {
            return Ok(None);
        }
        let deadline = Instant::now() + ENDING;
        loop {
            match timeout(ENDING, ask(dir)).await {
                Ok(Ok(status)) => return Ok(Some(status)),
                Ok(Err(_)) => {}
                Err(_) => break,
            }
            if matches!(self.layout.try_lock(&record.machine)?, Taken::Busy) {
                return Ok(Some(Status::bare("starting")));
            }
            // A QEMU that ends takes its sockets away first, and lives on for a moment.
            if process::wait_gone(dir, PAUSE).await.unwrap_or(false) {
                return Ok(None);
            }
            if Instant::now() >= deadline {
                break;
            }
        }
        Ok(Some(Status::bare("unresponsive")))
    }

    /// What the guest says; a guest too busy to answer is believed to be as it was when it
    /// last did, as long as it was not started again.
    async fn report(&self, record: &Record, dir: &Path) -> Option<Report> {
        let started = record.started.clone().unwrap_or_default();
        let fresh = agent::ask(dir).await;
        let mut reports = guard(&self.reports);
        if let Some(report) = fresh {
            reports.insert(record.machine.clone(), (started, report.clone()));
            return Some(report);
        }
        let (of, report) = reports.get(&record.machine)?;
        (*of == started).then(|| report.clone())
    }
}

async fn ask(dir: &Path) -> Result<Status, QmpError> {
    let mut qmp = Qmp::connect(dir, qmp::COMMANDS).await?;
    let status = qmp.execute("query-status", json!({})).await?;
    let channels = qmp.execute("query-chardev", json!({})).await?;
    let is_open = |channel: &Value| channel["label"] == "agent" && channel["frontend-open"] == true;
    Ok(Status {
        state: status["status"].as_str().unwrap_or("unknown").to_owned(),
        agent: channels
            .as_array()
            .is_some_and(|all| all.iter().any(is_open)),
    })
}

/// The state in the contract's words and in the platform's.
fn power(record: &Record, status: Option<&str>) -> (PowerState, String) {
    let goal = record.pending.map(|pending| pending.goal);
    let (power, state) = match (status, goal) {
        _ if !record.made => (PowerState::Creating, "creating"),
        (_, Some(Goal::Delete)) => (PowerState::Deleting, status.unwrap_or("off")),
        (None, _) => (PowerState::Stopped, "off"),
        (Some("starting" | "prelaunch" | "inmigrate"), _) => (PowerState::Starting, "starting"),
        (Some(state @ ("internal-error" | "io-error" | "guest-panicked" | "watchdog")), _) => {
            (PowerState::Failed, state)
        }
        (Some(state), Some(Goal::Stop | Goal::Restart)) => (PowerState::Stopping, state),
        (Some("shutdown"), None) => (PowerState::Stopping, "shutdown"),
        (Some(state), None) => (PowerState::Running, state),
    };
    (power, state.to_owned())
}

fn problem(state: &str) -> String {
    match state {
        "io-error" => {
            "QEMU paused the guest because its disk could not be written; is the host's disk full?"
                .to_owned()
        }
        "internal-error" => "QEMU stopped the guest after an internal error".to_owned(),
        "guest-panicked" => "the guest's kernel panicked".to_owned(),
        other => format!("QEMU says {other}"),
    }
}

fn nic(interface: network::Interface, report: Option<&Report>) -> NicFacts {
    let seen = report.and_then(|report| report.addresses.get(&interface.mac));
    NicFacts {
        name: interface.name,
        network: Some("user".to_owned()),
        private: seen
            .cloned()
            .unwrap_or_else(|| vec![interface.address.to_string()]),
        public: Vec::new(),
        confirmed: seen.is_some(),
        mac: Some(interface.mac),
    }
}

fn details(record: &Record, dir: &Path, power: PowerState) -> BTreeMap<String, String> {
    let mut details = BTreeMap::from([
        ("directory".to_owned(), dir.display().to_string()),
        (
            "consoleLog".to_owned(),
            dir.join(command::SERIAL_LOG).display().to_string(),
        ),
    ]);
    for (name, value) in &record.asked.tags {
        details.insert(format!("tag/{name}"), value.clone());
    }
    if let Some(accelerator) = record.accelerator {
        let name = match accelerator {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg | Accelerator::Auto => "tcg",
        };
        details.insert("accelerator".to_owned(), name.to_owned());
    }
    if let Some(port) = record.ssh_port {
        details.insert("sshPort".to_owned(), port.to_string());
        details.insert("ssh".to_owned(), format!("127.0.0.1:{port}"));
    }
    if let Some(pid) = process::identify(dir, &record.uuid) {
        details.insert("pid".to_owned(), pid.as_raw_nonzero().to_string());
    }
    if power == PowerState::Stopped {
        let words = process::last_words(dir);
        if !words.is_empty() {
            details.insert("lastWords".to_owned(), words);
        }
    }
    details
}

#[cfg(test)]
mod tests {
    use machinist_core::machine::MachineKey;

    use super::*;
    use crate::{conformance::smallest_want, qemu::record::Pending};

    #[test]
    fn states_are_told_in_the_contracts_words() {
        let key = MachineKey::new("cluster", "machine").unwrap();
        let mut record = Record::new(&key, &smallest_want("one"), None);
        let mut says = |made, goal: Option<Goal>, status| {
            record.made = made;
            record.pending = goal.map(|goal| Pending { goal, deadline: 0 });
            power(&record, status).0
        };
        assert_eq!(says(false, None, None), PowerState::Creating);
        assert_eq!(says(true, None, None), PowerState::Stopped);
        assert_eq!(says(true, None, Some("starting")), PowerState::Starting);
        assert_eq!(says(true, None, Some("running")), PowerState::Running);
        assert_eq!(says(true, None, Some("paused")), PowerState::Running);
        assert_eq!(says(true, None, Some("io-error")), PowerState::Failed);
        assert_eq!(
            says(true, Some(Goal::Stop), Some("running")),
            PowerState::Stopping
        );
        assert_eq!(says(true, Some(Goal::Stop), None), PowerState::Stopped);
        assert_eq!(
            says(true, Some(Goal::Restart), Some("running")),
            PowerState::Stopping
        );
        assert_eq!(
            says(true, Some(Goal::Delete), Some("running")),
            PowerState::Deleting
        );
        assert_eq!(says(true, Some(Goal::Delete), None), PowerState::Deleting);
    }
}
