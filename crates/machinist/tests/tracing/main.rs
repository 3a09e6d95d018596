//! Traces and logs, as a collector that others wrote receives them: from a client's request over admission and
//! the engine's pass to the provider's call, on both servers; and nothing at all unless asked for.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod collector;
mod logs;
#[path = "../support/mod.rs"]
mod support;

use std::{io::ErrorKind, net::TcpListener, process::Command};

use collector::{Collector, Span};
use kube::Client;
use serde_json::Value;
use support::{
    Kubectl, Sandbox, Up,
    kube::{self as real, Cluster, free_ports},
    manifests, operator,
    wait::wait_until,
    wait_for,
};

/// What a client may send with a request.
const OF_CLIENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const PLACE: &str = "machinist.vitistack.io/traceparent";
const MACHINES: &str = "/apis/vitistack.io/v1alpha1/namespaces/default/machines";
/// Where it is, nobody may read it.
const SECRET: &str = "hunter2";

fn machine(name: &str, more: &str) -> String {
    let machine = manifests::machine(name, "sim", "debian-12");
    format!("{machine}  userData: \"#cloud-config\\npassword: {SECRET}\\n\"\n{more}")
}

/// Asks for traces, as soon as they are there and with a header that is nobody else's business.
fn traced<'a>(command: &'a mut Command, collector: &Collector) -> &'a mut Command {
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url())
        .env("OTEL_BSP_SCHEDULE_DELAY", "20")
        .env("OTEL_EXPORTER_OTLP_HEADERS", format!("api-key={SECRET}"))
        .env("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
        .args(["--log", "info", "--log-format", "json"])
}

fn place(machine: &Value) -> String {
    let place = &machine["metadata"]["annotations"][PLACE];
    place.as_str().unwrap_or_default().to_owned()
}

/// Parts of a `traceparent`: the trace's and the span's ids.
fn ids(traceparent: &str) -> (&str, &str) {
    let parts: Vec<&str> = traceparent.split('-').collect();
    assert_eq!(parts.len(), 4, "{traceparent:?}");
    (parts[1], parts[2])
}

/// The span of this place, the pass that took this step because of it, and its call to the provider.
fn chain(collector: &Collector, place: &str, step: &str, call: &str) -> [Span; 3] {
    let (trace, span) = ids(place);
    let admission = collector.find("the span of admission", |one| {
        one.text("traceId") == trace && one.text("spanId") == span
    });
    assert_eq!(admission.text("name"), "admission");
    let pass = collector.find("the pass", |one| {
        one.text("name") == "machine pass"
            && one.is_part_of(&admission)
            && one.told("machinist.step") == step
    });
    let called = collector.find("the provider's call", |one| {
        one.text("name") == "provider call"
            && one.is_part_of(&pass)
            && one.told("machinist.call") == call
    });
    [admission, pass, called]
}

/// The whole life of one machine, on a server that asks our webhooks. `log` is where the engine
/// writes what it does.
fn holds(kubectl: &Kubectl, collector: &Collector, name: &str, log: &dyn Fn() -> String) {
    let made = kubectl.get(&format!("machines.vitistack.io {name}"));
    let born = place(&made);
    kubectl.ok(&format!(
        "wait machines.vitistack.io/{name} --for=condition=Ready --timeout=60s"
    ));
    let [admission, pass, call] = chain(collector, &born, "create", "create");
    assert_eq!(admission.told("machinist.operation"), "CREATE");
    assert_eq!(admission.told("machinist.machine"), name);
    assert_eq!(pass.told("machinist.machine"), name);
    assert_eq!(pass.told("k8s.namespace.name"), "default");
    assert_eq!(pass.told("machinist.provider"), "default/local");
    assert_eq!(pass.told("machinist.attempt"), "1");
    assert_eq!(call.told("machinist.provider"), "default/local");
    assert_eq!(call.told("machinist.outcome"), "ok");
    for span in [&admission, &pass, &call] {
        let [start, end] = ["startTimeUnixNano", "endTimeUnixNano"].map(|at| span.text(at));
        let [start, end]: [u64; 2] = [start.parse().unwrap(), end.parse().unwrap()];
        assert!(start > 0 && start <= end, "{span:?}");
    }

    // Who describes the machine, and who reads the log, finds the trace.
    let (trace, _) = ids(&born);
    let told = format!("(trace {trace})");
    wait_for("the event", || {
        let shown = kubectl.ok(&format!("describe machines.vitistack.io {name}"));
        shown.contains(&told).then_some(()).ok_or(shown)
    });
    let of_machine = format!("get events --field-selector involvedObject.name={name} -o json");
    let events: Value = serde_json::from_str(&kubectl.ok(&of_machine)).unwrap();
    let is_annotated = |event: &Value| {
        let annotations = &event["metadata"]["annotations"];
        annotations["machinist.vitistack.io/trace-id"] == trace
    };
    let events = events["items"].as_array().unwrap();
    assert!(events.iter().any(is_annotated), "{events:#?}");
    let log = log();
    let lines = log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let is_traced =
        |line: Value| line["span"]["trace_id"] == trace && line["fields"]["step"] == "create";
    assert!({ lines }.any(is_traced), "{log}");

    // To ask for the same again is nothing new; to ask for something else is a trace of its own.
    let version = |machine: &Value| machine["metadata"]["generation"].clone();
    let same = machine(name, "");
    kubectl.feed_ok("apply", &same);
    let again = kubectl.feed_ok("apply", &same);
    assert!(again.contains("unchanged"), "{again}");
    assert_eq!(kubectl.feed_ok("diff", &same), "");
    for words in ["apply", "apply --server-side --force-conflicts"] {
        kubectl.feed_ok(words, &same);
        let now = kubectl.get(&format!("machines.vitistack.io {name}"));
        assert_eq!((place(&now), version(&now)), (born.clone(), version(&made)));
    }
    let other = machine(name, "  tags: {a: b}\n");
    let difference = kubectl.feed("diff", &other);
    assert_eq!(difference.code(), Some(1), "{difference:?}");
    assert!(!difference.stdout.contains(PLACE), "{difference:?}");
    kubectl.feed_ok("apply", &other);
    let changed = place(&kubectl.get(&format!("machines.vitistack.io {name}")));
    assert_ne!(ids(&changed).0, trace);
    let [admission, ..] = chain(collector, &changed, "tag", "update");
    assert_eq!(admission.told("machinist.operation"), "UPDATE");
    assert_eq!(admission.text("parentSpanId"), "");

    let text = collector.text();
    assert!(!text.contains(SECRET), "{text}");
    assert!(text.contains("deployment.environment"), "{text}");
}

/// Makes a machine by a request that is part of a client's trace.
async fn create(client: &Client, manifest: &str) {
    let body: Value = serde_saphyr::from_str(manifest).unwrap();
    let request = http::Request::post(MACHINES)
        .header("traceparent", OF_CLIENT)
        .header("content-type", "application/json")
        .body(body.to_string().into_bytes())
        .unwrap();
    client.request::<Value>(request).await.unwrap();
}

fn metrics(kubectl: &Kubectl) -> String {
    kubectl.ok("get --raw /metrics")
}

fn provide(kubectl: &Kubectl) {
    kubectl.feed_ok("apply", &manifests::provider("sim"));
}

#[test]
fn the_embedded_server_goes_on_with_the_clients_trace() {
    let sandbox = Sandbox::new();
    let Some(collector) = Collector::start(&sandbox) else {
        return;
    };
    let up = sandbox.serve(traced(&mut sandbox.machinist("up"), &collector));
    let Some(kubectl) = Kubectl::current(&sandbox, &up.kubeconfig()) else {
        return;
    };
    provide(&kubectl);
    real::runtime().block_on(async {
        let client = real::client(&up.kubeconfig()).await.unwrap();
        create(&client, &machine("web", "")).await;
    });
    let born = place(&kubectl.get("machines.vitistack.io web"));
    let (trace, span) = ids(OF_CLIENT);
    assert_eq!(ids(&born).0, trace);
    let admission = collector.find("the span of admission", |one| {
        one.text("name") == "admission" && one.text("traceId") == trace
    });
    assert_eq!(admission.text("parentSpanId"), span);
    holds(&kubectl, &collector, "web", &|| up.stderr());
    wait_until("the spans to be counted", || {
        metrics(&kubectl).contains(r#"machinist_trace_spans_total{result="sent"}"#)
    });
}

/// With the other encoding, and compressed.
#[test]
fn a_real_server_with_the_operator_has_traces() {
    let sandbox = Sandbox::new();
    let Some(collector) = Collector::start(&sandbox) else {
        return;
    };
    let Some(cluster) = Cluster::start(&sandbox) else {
        return;
    };
    let Some(kubectl) = Kubectl::current(&sandbox, &cluster.kubeconfig()) else {
        return;
    };
    let operator = operator::start_as(&sandbox, &cluster, &["--install-crds"], |command| {
        traced(command, &collector)
            .env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
            .env("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip");
    });
    provide(&kubectl);
    kubectl.feed_ok("apply", &machine("web", ""));
    holds(&kubectl, &collector, "web", &|| operator.stderr());
}

#[test]
fn without_being_asked_nothing_is_traced() {
    let sandbox = Sandbox::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let mut command = sandbox.machinist("up");
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", url);
    command.env("OTEL_SDK_DISABLED", "true");
    let up = sandbox.serve(&mut command);
    let Some(kubectl) = Kubectl::current(&sandbox, &up.kubeconfig()) else {
        return;
    };
    leaves_no_trace(&kubectl);
    let nobody = listener.accept().unwrap_err();
    assert_eq!(nobody.kind(), ErrorKind::WouldBlock);
    drop(up);
    let sandbox = Sandbox::new();
    let up = sandbox.up(&[]);
    let kubectl = Kubectl::current(&sandbox, &up.kubeconfig()).unwrap();
    leaves_no_trace(&kubectl);
}

fn leaves_no_trace(kubectl: &Kubectl) {
    provide(kubectl);
    kubectl.feed_ok("apply", &machine("web", ""));
    kubectl.ok("wait machines.vitistack.io/web --for=condition=Ready --timeout=60s");
    let machine = kubectl.ok("get machines.vitistack.io web -o yaml");
    assert!(!machine.contains("traceparent"), "{machine}");
    let events = kubectl.ok("get events -o yaml");
    assert!(!events.contains("trace"), "{events}");
    let webhooks = kubectl.ok("get mutatingwebhookconfigurations -o yaml");
    assert!(!webhooks.contains("/trace"), "{webhooks}");
    let metrics = metrics(kubectl);
    assert!(!metrics.contains("machinist_trace"), "{metrics}");
}

/// Nobody listens, and the queue is as short as can be.
#[test]
fn a_collector_that_is_away_holds_up_nobody() {
    let sandbox = Sandbox::new();
    let [port] = free_ports();
    let mut command = sandbox.machinist("up");
    command.args(["--otlp-endpoint", &format!("http://127.0.0.1:{port}")]);
    command.env("OTEL_BSP_MAX_QUEUE_SIZE", "1");
    command.env("OTEL_BSP_SCHEDULE_DELAY", "1");
    let up: Up = sandbox.serve(&mut command);
    let Some(kubectl) = Kubectl::current(&sandbox, &up.kubeconfig()) else {
        return;
    };
    provide(&kubectl);
    for name in ["a", "b", "c"] {
        kubectl.feed_ok("apply", &machine(name, ""));
    }
    kubectl.ok("wait machines.vitistack.io --all --for=condition=Ready --timeout=60s");
    wait_for("what was dropped to be counted", || {
        let metrics = metrics(&kubectl);
        let dropped = r#"machinist_trace_spans_total{result="queue_full"}"#;
        metrics.contains(dropped).then_some(()).ok_or(metrics)
    });
}

#[test]
fn what_cannot_be_done_is_said_before_anything_starts() {
    let sandbox = Sandbox::new();
    for verb in ["up", "operator"] {
        let mut command = sandbox.machinist(verb);
        command.args(["--otlp-endpoint", "http://127.0.0.1:4318"]);
        command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
        let ended = support::process::run(&mut command);
        assert_eq!(ended.code(), Some(3), "{ended:?}");
        let said = "machinist: traces cannot be sent: OTEL_EXPORTER_OTLP_PROTOCOL: \"grpc\" is not \
             allowed; allowed is http/protobuf or http/json\n";
        assert_eq!(ended.stderr, said);
        assert!(!sandbox.data().exists(), "{verb} began");
    }
}
