//! The OpenTelemetry Collector, which others wrote: it takes spans and log records over HTTP and writes
//! them down.

use std::{
    fs,
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::support::{Sandbox, kube::free_ports, peers, wait::wait_until, wait_for};

/// A collector; it ends when this is dropped.
pub(crate) struct Collector {
    child: Child,
    port: u16,
    file: PathBuf,
}

/// A span as the collector understood it.
#[derive(Debug, Clone)]
pub(crate) struct Span(pub(crate) Value);

impl Collector {
    /// Starts one, once it listens; `None` when it is not here.
    pub(crate) fn start(sandbox: &Sandbox) -> Option<Collector> {
        let program = peers::peer("MACHINIST_OTELCOL")?;
        let [port] = free_ports();
        let file = sandbox.path("spans.json");
        let config = format!(
            "yaml:{{receivers: {{otlp: {{protocols: {{http: {{endpoint: '127.0.0.1:{port}'}}}}}}}}, \
             exporters: {{file: {{path: '{}', flush_interval: 100ms}}}}, \
             service: {{telemetry: {{metrics: {{level: none}}}}, \
             pipelines: {{traces: {{receivers: [otlp], exporters: [file]}}, \
             logs: {{receivers: [otlp], exporters: [file]}}}}}}}}",
            file.display()
        );
        let log = fs::File::create(sandbox.path("otelcol.log")).unwrap();
        let child = Command::new(program)
            .args(["--config", &config])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut collector = Collector { child, port, file };
        wait_until("the collector to listen", || {
            let ended = collector.child.try_wait().unwrap();
            let log = sandbox.path("otelcol.log");
            assert!(
                ended.is_none(),
                "it ended: {}",
                fs::read_to_string(log).unwrap()
            );
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Some(collector)
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Everything that it wrote down.
    pub(crate) fn text(&self) -> String {
        fs::read_to_string(&self.file).unwrap_or_default()
    }

    /// The spans that it took so far.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let all = self.taken(["resourceSpans", "scopeSpans", "spans"]);
        all.into_iter().map(Span).collect()
    }

    /// The log records that it took so far; what is told of them is told as of spans.
    pub(crate) fn records(&self) -> Vec<Span> {
        let all = self.taken(["resourceLogs", "scopeLogs", "logRecords"]);
        all.into_iter().map(Span).collect()
    }

    fn taken(&self, [resources, scopes, what]: [&str; 3]) -> Vec<Value> {
        let text = self.text();
        // A line that is still being written is read the next time.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let mut taken = Vec::new();
        for line in whole.lines() {
            let request: Value = serde_json::from_str(line).unwrap();
            for one in list(&request[resources]) {
                for scope in list(&one[scopes]) {
                    taken.extend(list(&scope[what]).iter().cloned());
                }
            }
        }
        taken
    }

    /// Waits for a span that is meant.
    #[track_caller]
    pub(crate) fn find(&self, what: &str, is_meant: impl Fn(&Span) -> bool) -> Span {
        wait_for(what, || {
            let spans = self.spans();
            let found = spans.iter().find(|span| is_meant(span)).cloned();
            found.ok_or(spans)
        })
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

impl Span {
    pub(crate) fn text(&self, field: &str) -> &str {
        self.0[field].as_str().unwrap_or_default()
    }

    /// What is told of it under a name.
    pub(crate) fn told(&self, name: &str) -> String {
        let found = list(&self.0["attributes"])
            .iter()
            .find(|attribute| attribute["key"] == name);
        let value = found.map(|attribute| &attribute["value"]);
        let text = value.and_then(|value| {
            let number = value["intValue"].as_str().map(str::to_owned);
            value["stringValue"].as_str().map(str::to_owned).or(number)
        });
        text.unwrap_or_default()
    }

    /// Whether it is part of another.
    pub(crate) fn is_part_of(&self, other: &Span) -> bool {
        self.text("traceId") == other.text("traceId")
            && self.text("parentSpanId") == other.text("spanId")
    }
}
