//! A small client of the guest agent: what the guest says about itself, when it has an
//! agent. A guest without one is ordinary, so absence is an answer and never an error.

use std::{collections::HashMap, net::IpAddr, path::Path, time::Duration};

use machinist_core::machine::GuestFacts;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::UnixStream,
    time::timeout,
};

use super::socket;

/// The agent's socket.
pub(super) const SOCKET: &str = "agent.sock";
/// Facts are looked up often: a guest that does not answer within this is not waited for.
const LIMIT: Duration = Duration::from_secs(2);

/// What the guest says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Report {
    pub guest: GuestFacts,
    /// Addresses by MAC address in lower case; loopback and link-local ones are left out.
    pub addresses: HashMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Answer<T> {
    #[serde(rename = "return")]
    value: Option<T>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case", default)]
struct OsInfo {
    pretty_name: Option<String>,
    name: Option<String>,
    version_id: Option<String>,
    kernel_release: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct HostName {
    host_name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Interface {
    hardware_address: Option<String>,
    #[serde(default)]
    ip_addresses: Vec<Address>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Address {
    ip_address: String,
}

/// Asks the guest; `None` when it does not answer in time.
pub(super) async fn ask(dir: &Path) -> Option<Report> {
    timeout(LIMIT, converse(dir)).await.ok().flatten()
}

async fn converse(dir: &Path) -> Option<Report> {
    let stream = socket::connect(dir, SOCKET, LIMIT).await.ok()?;
    let mut agent = Agent {
        stream: BufReader::new(stream),
    };
    agent.synchronise().await?;
    let interfaces: Vec<Interface> = agent.execute("guest-network-get-interfaces").await.unwrap_or_default();
    let name: Option<HostName> = agent.execute("guest-get-host-name").await;
    let os: OsInfo = agent.execute("guest-get-osinfo").await.unwrap_or_default();
    Some(Report {
        guest: GuestFacts {
            hostname: name.map(|name| name.host_name),
            os: os.name.or(os.pretty_name),
            os_version: os.version_id,
            kernel: os.kernel_release,
        },
        addresses: interfaces.into_iter().filter_map(usable).collect(),
    })
}

fn usable(interface: Interface) -> Option<(String, Vec<String>)> {
    let mac = interface.hardware_address?.to_ascii_lowercase();
    let addresses: Vec<String> = interface
        .ip_addresses
        .into_iter()
        .filter(|address| address.ip_address.parse().is_ok_and(|ip| is_reachable(&ip)))
        .map(|address| address.ip_address)
        .collect();
    (!addresses.is_empty()).then_some((mac, addresses))
}

fn is_reachable(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_loopback() && !v4.is_link_local() && !v4.is_unspecified(),
        IpAddr::V6(v6) => !v6.is_loopback() && !v6.is_unicast_link_local() && !v6.is_unspecified(),
    }
}

struct Agent {
    stream: BufReader<UnixStream>,
}

impl Agent {
    /// Skips answers to questions that an earlier client did not wait for.
    async fn synchronise(&mut self) -> Option<()> {
        let id = u64::from(std::process::id()) << 16 | u64::from(rand_bits());
        let request = json!({"execute": "guest-sync-delimited", "arguments": {"id": id}});
        // The leading 0xff ends whatever an earlier client left half written.
        let mut bytes = vec![0xff];
        bytes.extend_from_slice(format!("{request}\n").as_bytes());
        self.stream.get_mut().write_all(&bytes).await.ok()?;
        loop {
            let mut skipped = Vec::new();
            self.stream.read_until(0xff, &mut skipped).await.ok()?;
            let answer: Option<Answer<u64>> = self.answer().await;
            match answer {
                Some(Answer { value: Some(seen) }) if seen == id => return Some(()),
                Some(_) => {}
                // At the end of the stream there is nothing more to skip.
                None if skipped.is_empty() => return None,
                None => {}
            }
        }
    }

    async fn execute<T: DeserializeOwned>(&mut self, command: &str) -> Option<T> {
        let request: Value = json!({"execute": command});
        let line = format!("{request}\n");
        self.stream.get_mut().write_all(line.as_bytes()).await.ok()?;
        self.answer::<T>().await?.value
    }

    async fn answer<T: DeserializeOwned>(&mut self) -> Option<Answer<T>> {
        let mut line = Vec::new();
        // The guest is not trusted: an answer without end must not fill the memory.
        (&mut self.stream)
            .take(1 << 20)
            .read_until(b'\n', &mut line)
            .await
            .ok()?;
        serde_json::from_slice(&line).ok()
    }
}

fn rand_bits() -> u16 {
    let [high, low, ..] = *uuid::Uuid::new_v4().as_bytes();
    u16::from_be_bytes([high, low])
}
