//! Reads everything that a bundle holds. What cannot be read is said, and the rest goes on.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use machinist_api::names;
use machinist_core::redact::Secrets;
use serde_json::{Value, json};

use super::Part;
use crate::{
    cli,
    commands::why,
    connection::Connection,
    data_dir::DataDir,
    failure::Outcome,
    kinds::{Kind, Kinds},
};

/// The families whose kinds are ours.
const FAMILIES: &[&str] = &["vitistack.io", "ironcore.dev", "kupenstack.io"];
/// How many lines of a log are taken.
const LINES: usize = 2_000;
/// How many objects are explained.
const EXPLAINED: usize = 200;

/// What was read.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) parts: Vec<Part>,
    pub(super) secrets: Secrets,
    /// What could not be read, and why.
    pub(super) missing: Vec<String>,
}

/// Reads it, of one namespace or of all.
pub(super) async fn gather(
    connection: &Connection,
    only: Option<&str>,
    data_dir: Option<&Path>,
) -> Outcome<Gathered> {
    let kinds = Kinds::discover(connection).await?;
    let mut gathered = Gathered::default();
    let mut namespaces = BTreeSet::from([names::SYSTEM_NAMESPACE.to_owned()]);
    let mut unready = Vec::new();
    for kind in kinds.of_groups(ours) {
        let items = gathered.list(connection, kind, only).await;
        for item in &items {
            let text = |key: &str| item["metadata"][key].as_str().map(str::to_owned);
            namespaces.extend(text("namespace"));
            if let (false, Some(name)) = (is_ready(item), text("name")) {
                let namespace = text("namespace").unwrap_or_default();
                unready.push((format!("{}.{}", kind.plural, kind.group), namespace, name));
            }
        }
    }
    for namespace in &namespaces {
        let wanted = only.is_none_or(|only| only == namespace);
        for word in ["secrets", "leases"].into_iter().filter(|_| wanted) {
            if let Ok(kind) = kinds.one(word) {
                gathered.list(connection, kind, Some(namespace)).await;
            }
        }
    }
    gathered.events(connection, &kinds, only).await;
    gathered.server(connection).await;
    gathered.answers(connection, unready).await;
    gathered.pods(connection, &kinds).await;
    gathered.hypervisor_logs(data_dir);
    Ok(gathered)
}

fn ours(group: &str) -> bool {
    FAMILIES
        .iter()
        .any(|family| group == *family || group.ends_with(&format!(".{family}")))
}

/// Whether an object says that it is ready, or nothing at all.
fn is_ready(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    let ready = conditions.and_then(|all| all.iter().find(|c| c["type"] == "Ready"));
    ready.is_none_or(|ready| ready["status"] == "True")
}

impl Gathered {
    /// Reads the objects of a kind, and keeps them when there are any.
    async fn list(
        &mut self,
        connection: &Connection,
        kind: &Kind,
        namespace: Option<&str>,
    ) -> Vec<Value> {
        let path = kind.path(namespace);
        let list = match connection.json(&path).await {
            Ok(list) => list,
            Err(error) => {
                self.missing.push(format!("{path}: {error}"));
                return Vec::new();
            }
        };
        let mut items = list["items"].as_array().cloned().unwrap_or_default();
        for item in &mut items {
            item["kind"] = kind.kind.clone().into();
            if let Some(metadata) = item["metadata"].as_object_mut() {
                metadata.remove("managedFields");
            }
            self.secrets.learn(item);
        }
        if !items.is_empty() {
            let place = namespace
                .map(|namespace| format!("{namespace}/"))
                .unwrap_or_default();
            let group = match kind.group.as_str() {
                "" => String::new(),
                group => format!(".{group}"),
            };
            let name = format!("objects/{place}{}{group}.yaml", kind.plural);
            self.parts
                .push(Part::Objects(name, Value::Array(items.clone())));
        }
        items
    }

    /// Events about objects of ours.
    async fn events(&mut self, connection: &Connection, kinds: &Kinds, only: Option<&str>) {
        let Some(kind) = kinds.exact("", "Event") else {
            return;
        };
        match connection.json(&kind.path(only)).await {
            Err(error) => self.missing.push(format!("events: {error}")),
            Ok(list) => {
                let mut items = list["items"].as_array().cloned().unwrap_or_default();
                items.retain(|event| {
                    let version = event["involvedObject"]["apiVersion"].as_str();
                    version
                        .is_some_and(|version| ours(version.split('/').next().unwrap_or(version)))
                });
                items
                    .iter_mut()
                    .filter_map(|item| item["metadata"].as_object_mut())
                    .for_each(|metadata| {
                        metadata.remove("managedFields");
                    });
                self.parts
                    .push(Part::Objects("events.yaml".into(), Value::Array(items)));
            }
        }
    }

    async fn server(&mut self, connection: &Connection) {
        let program = json!({"machinist": env!("CARGO_PKG_VERSION"), "os": std::env::consts::OS,
            "architecture": std::env::consts::ARCH});
        let server = connection.json("/version").await.unwrap_or_default();
        let versions = json!({"program": program, "server": server});
        self.parts
            .push(Part::Objects("server/version.yaml".into(), versions));
        for (path, name) in [
            ("/readyz?verbose", "server/readyz.txt"),
            ("/metrics", "server/metrics.txt"),
        ] {
            self.fetch(connection, path, name).await;
        }
    }

    async fn fetch(&mut self, connection: &Connection, path: &str, name: &str) {
        match connection.text(path).await {
            Ok(text) => self.parts.push(Part::Text(name.into(), text)),
            Err(error) => self.missing.push(format!("{path}: {error}")),
        }
    }

    /// Why those that are not ready are not.
    async fn answers(&mut self, connection: &Connection, unready: Vec<(String, String, String)>) {
        for (kind, namespace, name) in unready.into_iter().take(EXPLAINED) {
            let there = Connection {
                client: connection.client.clone(),
                namespace: namespace.clone(),
            };
            match why::explained(&there, &[kind.clone(), name.clone()]).await {
                Ok(text) => {
                    let file = format!("why/{kind}_{namespace}_{name}.txt");
                    self.parts.push(Part::Text(file, text));
                }
                Err(failure) => self.missing.push(format!("why {kind}/{name}: {failure}")),
            }
        }
    }

    /// The logs of operators that run as pods.
    async fn pods(&mut self, connection: &Connection, kinds: &Kinds) {
        let Some(kind) = kinds.exact("", "Pod") else {
            return;
        };
        let path = kind.path(Some(names::SYSTEM_NAMESPACE));
        let Ok(list) = connection.json(&path).await else {
            self.missing
                .push(format!("{path}: the pods could not be listed"));
            return;
        };
        for pod in list["items"].as_array().into_iter().flatten() {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            let log = kind.object_path(names::SYSTEM_NAMESPACE, name);
            let file = format!("logs/{name}.log");
            self.fetch(connection, &format!("{log}/log?tailLines={LINES}"), &file)
                .await;
        }
    }

    /// What local hypervisors complained about; not what guests print.
    fn hypervisor_logs(&mut self, data_dir: Option<&Path>) {
        let Some(data_dir) = data_dir else { return };
        let flags = cli::DataDir {
            data_dir: Some(data_dir.to_owned()),
            images: None,
        };
        let Ok(dir) = DataDir::resolve(&flags) else {
            return;
        };
        let mut left = vec![dir.qemu()];
        while let Some(directory) = left.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let path: PathBuf = entry.path();
                if path.is_dir() {
                    left.push(path);
                } else if path.file_name().is_some_and(|name| name == "qemu.log") {
                    self.log(&path);
                }
            }
        }
    }

    fn log(&mut self, path: &Path) {
        let machine = path.parent().and_then(Path::file_name).unwrap_or_default();
        let name = format!("logs/qemu-{}.log", machine.to_string_lossy());
        match fs::read(path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let lines: Vec<&str> = text.lines().collect();
                let from = lines.len().saturating_sub(LINES);
                self.parts.push(Part::Text(name, lines[from..].join("\n")));
            }
            Err(error) => self.missing.push(format!("{}: {error}", path.display())),
        }
    }
}
