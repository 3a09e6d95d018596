//! Logs that a Vitistack has collected, as the collector receives them.

use serde_json::Value;

use crate::{
    SECRET,
    collector::{Collector, Span},
    machine, metrics, provide,
    support::{Kubectl, Sandbox, kube::Cluster, operator, wait_for},
};

fn stack(endpoint: &str) -> String {
    format!(
        "apiVersion: vitistack.io/v1alpha1\nkind: Vitistack\n\
         metadata: {{name: prod, namespace: default}}\n\
         spec: {{settings: {{logging: {{enabled: true, endpoint: '{endpoint}'}}}}}}\n"
    )
}

/// Waits for a condition of the Vitistack.
fn until(kubectl: &Kubectl, status: &str, reason: &str) -> Value {
    wait_for("the condition LogsCollected", || {
        let stack = kubectl.get("vitistacks.vitistack.io prod");
        let all = stack["status"]["conditions"].as_array().cloned();
        let all = all.unwrap_or_default();
        let found = all.iter().find(|one| one["type"] == "LogsCollected");
        let meant = |one: &&Value| one["status"] == status && one["reason"] == reason;
        found.filter(meant).cloned().ok_or(stack)
    })
}

/// The life of a machine, told to the collector of its namespace and not of another.
fn holds(kubectl: &Kubectl, collector: &Collector) {
    provide(kubectl);
    kubectl.feed_ok("apply", &stack(&collector.url()));
    until(kubectl, "Unknown", "NothingSent");
    kubectl.ok("create namespace other");
    let quiet = machine("quiet", "").replace("namespace: default", "namespace: other");
    kubectl.feed_ok("apply -n other", &quiet);
    kubectl.feed_ok("apply", &machine("web", ""));
    let is = |reason: &'static str| {
        move |one: &Span| {
            one.told("k8s.object.name") == "web" && one.told("k8s.event.reason") == reason
        }
    };
    for reason in ["Bound", "Created", "Running"] {
        let record = wait_for(reason, || {
            let records = collector.records();
            let found = records.iter().find(|one| is(reason)(one)).cloned();
            found.ok_or(records)
        });
        assert_eq!(record.told("k8s.namespace.name"), "default");
        assert_eq!(record.told("k8s.object.kind"), "Machine");
        assert_eq!(record.text("severityText"), "INFO");
        assert!(record.text("timeUnixNano").parse::<u64>().unwrap() > 0);
        let words = record.0["body"]["stringValue"].as_str().unwrap();
        assert!(!words.is_empty(), "{record:?}");
    }
    until(kubectl, "True", "Collected");
    let of_quiet = |one: &Span| one.told("k8s.namespace.name") == "other";
    assert!(!collector.records().iter().any(of_quiet));
    assert!(!collector.text().contains(SECRET));

    // Who does not take logs is told of, and holds up nothing.
    kubectl.feed_ok(
        "apply",
        &stack(&format!("{}/nothing/here", collector.url())),
    );
    kubectl.feed_ok("apply", &machine("more", ""));
    kubectl.ok("wait machines.vitistack.io/more --for=condition=Ready --timeout=60s");
    let told = until(kubectl, "False", "NotTaken");
    let words = told["message"].as_str().unwrap();
    assert!(
        words.contains("404") && words.contains("spec.settings.logging.endpoint"),
        "{words}"
    );
    kubectl.feed_ok("apply", &stack("http://169.254.169.254"));
    kubectl.ok("delete machines.vitistack.io/more --timeout=60s");
    let told = wait_for("the address to be refused", || {
        let told = until(kubectl, "False", "NotTaken");
        let words = told["message"].as_str().unwrap_or_default().to_owned();
        words.contains("169.254").then_some(words).ok_or(told)
    });
    assert!(told.contains("link-local"), "{told}");
}

#[test]
fn what_happens_is_told_to_the_collector_of_the_namespace() {
    let sandbox = Sandbox::new();
    let Some(collector) = Collector::start(&sandbox) else {
        return;
    };
    let up = sandbox.up(&[]);
    let Some(kubectl) = Kubectl::current(&sandbox, &up.kubeconfig()) else {
        return;
    };
    holds(&kubectl, &collector);
    let metrics = metrics(&kubectl);
    for result in ["sent", "refused"] {
        let line = format!("machinist_log_entries_total{{result=\"{result}\"}}");
        assert!(metrics.contains(&line), "{metrics}");
    }
}

#[test]
fn the_operator_tells_it_too() {
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
    let _operator = operator::start_as(&sandbox, &cluster, &["--install-crds"], |_| {});
    holds(&kubectl, &collector);
}
