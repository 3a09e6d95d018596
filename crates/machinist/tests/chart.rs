//! The operator as its chart installs it: what Helm renders, and what its account may do on a real
//! Kubernetes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::{fs, path::PathBuf, process::Command};

use support::{Kubectl, Sandbox, Up, kube::Cluster, manifests, peers, replica::Service, wait_for};

const NAMESPACE: &str = "vitistack-system";
const ACCOUNT: &str = "system:serviceaccount:vitistack-system:machinist";

fn chart() -> PathBuf {
    peers::tree().join("deploy/charts/machinist")
}

/// What Helm makes of the chart; the error is what it says.
fn render(helm: &str, namespace: &str, settings: &[&str]) -> Option<Result<String, String>> {
    let helm = peers::peer(helm)?;
    let mut command = Command::new(helm);
    command.args(["template", "machinist", "--namespace", namespace]);
    command.arg(chart());
    for setting in settings {
        command.args(["--set", setting]);
    }
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Some(match output.status.success() {
        true => Ok(text(output.stdout)),
        false => Err(text(output.stderr)),
    })
}

#[test]
fn both_helms_render_the_plain_manifest() {
    // The two differ in empty lines.
    let lines = |text: &str| -> Vec<String> {
        let kept = text.lines().filter(|line| !line.trim().is_empty());
        kept.map(str::to_owned).collect()
    };
    let plain = fs::read_to_string(peers::tree().join("deploy/machinist.yaml")).unwrap();
    for helm in ["MACHINIST_HELM", "MACHINIST_HELM_OLD"] {
        let Some(rendered) = render(helm, NAMESPACE, &[]) else {
            return;
        };
        assert_eq!(
            lines(&plain)[1..],
            lines(&rendered.unwrap()),
            "deploy/machinist.yaml is not what {helm} renders; run `make deploy-manifest`"
        );
    }
}

#[test]
fn values_that_cannot_be_are_refused_by_name() {
    let refused = |namespace, setting: &[&str], word: &str| {
        let Some(rendered) = render("MACHINIST_HELM", namespace, setting) else {
            return;
        };
        let said = rendered.unwrap_err();
        assert!(said.contains(word), "{said}");
    };
    refused("default", &[], "must be vitistack-system");
    refused(NAMESPACE, &["replicas=0"], "replicas");
    refused(NAMESPACE, &["relicas=2"], "relicas");
    refused(NAMESPACE, &["tracing.endpoint=collector:4318"], "endpoint");
    refused(NAMESPACE, &["tracing.env.OTHER=x"], "OTHER");
    refused(NAMESPACE, &["image.pullPolicy=Sometimes"], "pullPolicy");
}

#[test]
fn what_is_optional_can_be_had() {
    let settings = [
        "serviceMonitor.enabled=true",
        "prometheusRule.enabled=true",
        "dashboard.enabled=true",
        "networkPolicy.enabled=true",
        "rbac.secretNamespaces={clouds,more}",
        "tracing.endpoint=http://collector:4318",
        "tracing.env.OTEL_TRACES_SAMPLER=always_off",
        "tracing.secret=collector",
    ];
    let Some(rendered) = render("MACHINIST_HELM", NAMESPACE, &settings) else {
        return;
    };
    let rendered = rendered.unwrap();
    for kind in [
        "ServiceMonitor",
        "PrometheusRule",
        "ConfigMap",
        "NetworkPolicy",
        "PodDisruptionBudget",
    ] {
        assert!(rendered.contains(&format!("kind: {kind}\n")), "{kind}");
    }
    for line in [
        "- --otlp-endpoint=http://collector:4318\n",
        "- { name: OTEL_TRACES_SAMPLER, value: \"always_off\" }\n",
        "- secretRef: { name: collector }\n",
    ] {
        assert!(rendered.contains(line), "{line}");
    }
    let dashboard = chart().join("files/dashboard.json");
    let dashboard: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dashboard).unwrap()).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().len() > 3);
    assert_eq!(rendered.matches("name: machinist-secrets").count(), 6);
}

#[test]
fn the_account_may_patch_our_definitions_and_no_others() {
    let named = fs::read_to_string(chart().join("files/definitions.txt")).unwrap();
    let mut ours: Vec<String> = machinist_api::crds()
        .into_iter()
        .filter_map(|crd| crd.metadata.name)
        .collect();
    ours.sort();
    assert_eq!(named.lines().collect::<Vec<_>>(), ours);
}

/// A replica of the operator under the account of the chart.
struct Replica {
    up: Up,
    _sandbox: Sandbox,
}

fn replica(service: &Service, cluster: &Cluster, token: &str) -> Replica {
    let sandbox = Sandbox::new();
    let kubeconfig = format!(
        r#"
apiVersion: v1
kind: Config
current-context: chart
contexts: [{{ name: chart, context: {{ cluster: chart, user: chart }} }}]
clusters: [{{ name: chart, cluster: {{ server: "{}", insecure-skip-tls-verify: true }} }}]
users: [{{ name: chart, user: {{ token: "{token}" }} }}]
"#,
        cluster.url()
    );
    let kubeconfig = sandbox.write("account.yaml", &kubeconfig);
    Replica {
        up: service.replica(&sandbox, &kubeconfig, &["--webhooks-owned-by", "machinist"]),
        _sandbox: sandbox,
    }
}

fn until_runs(kubectl: &Kubectl, name: &str, replicas: &[&Replica]) {
    wait_for("the machine to run", || {
        let machine = kubectl.get(&format!("machines.vitistack.io {name}"));
        match machine["status"]["phase"].as_str() {
            Some("Running") => Ok(()),
            _ => Err((
                machine,
                replicas.iter().map(|r| r.up.stderr()).collect::<Vec<_>>(),
            )),
        }
    });
}

#[test]
fn two_replicas_under_their_own_account_share_lease_and_authority() {
    let sandbox = Sandbox::new();
    let Some(cluster) = Cluster::start(&sandbox) else {
        return;
    };
    let Some(kubectl) = Kubectl::current(&sandbox, &cluster.kubeconfig()) else {
        return;
    };
    kubectl.ok(&format!("create namespace {NAMESPACE}"));
    let manifest = peers::tree().join("deploy/machinist.yaml");
    kubectl.ok(&format!("apply -f {}", manifest.display()));
    for forbidden in [
        "list pods",
        "get nodes",
        "list secrets",
        "delete machines.vitistack.io",
        "patch crd/others.example.org",
        "create clusterroles",
    ] {
        let said = kubectl.run(&format!("auth can-i {forbidden} --as {ACCOUNT} -A"), &[]);
        assert_eq!(said.stdout.trim(), "no", "{forbidden}: {said:#?}");
    }
    let token = kubectl.ok(&format!("create token machinist -n {NAMESPACE}"));
    let token = token.trim();
    let service = Service::open();
    let first = replica(&service, &cluster, token);
    let holder = || {
        let lease = kubectl.run(
            &format!("get lease machinist -n {NAMESPACE} -o jsonpath={{.spec.holderIdentity}}"),
            &[],
        );
        lease.stdout.trim().to_owned()
    };
    wait_for("the first replica to work", || match holder() {
        nobody if nobody.is_empty() => Err(first.up.stderr()),
        _ => Ok(()),
    });
    let worked = holder();
    let second = replica(&service, &cluster, token);
    kubectl.feed_ok("apply", &manifests::provider("sim"));
    kubectl.feed_ok("apply", &manifests::machine("one", "sim", "any"));
    until_runs(&kubectl, "one", &[&first, &second]);
    assert_eq!(holder(), worked, "the second waits");

    // Machines are listed where monitoring is, which is anywhere.
    kubectl.ok("create namespace watching");
    let settings = "settings: {monitoring: {enabled: true, namespace: watching}}";
    let stack = format!(
        "apiVersion: vitistack.io/v1alpha1\nkind: Vitistack\n\
         metadata: {{name: prod, namespace: default}}\nspec: {{{settings}}}\n"
    );
    kubectl.feed_ok("apply", &stack);
    wait_for("the machine to be listed", || {
        let listed = kubectl.run("get configmap machinist-targets -n watching -o yaml", &[]);
        match listed.stdout.contains("\"machine\":\"one\"") {
            true => Ok(()),
            false => Err((listed, first.up.stderr())),
        }
    });
    kubectl.ok("delete vitistacks.vitistack.io prod --timeout=180s");

    // Both sign with the authority that the Secret keeps.
    let secret = kubectl.get(&format!("secret machinist-webhook -n {NAMESPACE}"));
    let definition = kubectl.get("crd machines.vitistack.io");
    let trusted = definition.pointer("/spec/conversion/webhook/clientConfig/caBundle");
    assert_eq!(trusted, Some(&secret["data"]["ca.crt"]));

    // One that is told to end gives the lease back; the other goes on.
    assert!(first.up.interrupt().success());
    wait_for("the second replica to work", || match holder() {
        other if other.is_empty() || other == worked => Err(second.up.stderr()),
        _ => Ok(()),
    });
    kubectl.feed_ok("apply", &manifests::machine("two", "sim", "any"));
    until_runs(&kubectl, "two", &[&second]);
    kubectl.ok("get machines.v1beta1.vitistack.io two");
    for name in ["one", "two"] {
        kubectl.ok(&format!(
            "delete machines.vitistack.io {name} --timeout=180s"
        ));
    }

    // One that is killed gives nothing back; its lease runs out.
    let killed = holder();
    let third = replica(&service, &cluster, token);
    second.up.kill();
    wait_for("the third replica to work", || match holder() {
        still if still == killed => Err(third.up.stderr()),
        _ => Ok(()),
    });
    kubectl.feed_ok("apply", &manifests::machine("three", "sim", "any"));
    until_runs(&kubectl, "three", &[&third]);
    let said = third.up.stderr();
    assert!(!said.contains("forbidden"), "{said}");
}

/// One Helm at one server.
struct Helm {
    program: PathBuf,
    kubeconfig: PathBuf,
    home: Sandbox,
}

impl Helm {
    fn ok(&self, words: &str) -> String {
        let mut command = Command::new(&self.program);
        command.arg("--kubeconfig").arg(&self.kubeconfig);
        command.args(["--namespace", NAMESPACE]);
        command.args(words.split_whitespace());
        command.env("HOME", self.home.path("home"));
        let output = support::process::run(&mut command);
        assert_eq!(output.code(), Some(0), "helm {words}: {output:#?}");
        output.stdout
    }
}

/// From the first install to the last trace of it.
fn comes_and_goes(helm: &Helm, kubectl: &Kubectl, runs_pods: bool) {
    let chart = chart().display().to_string();
    let installed = helm.ok(&format!("install machinist {chart} --create-namespace"));
    assert_eq!(
        installed.contains("runs no pods"),
        !runs_pods,
        "{installed}"
    );
    let until_told = |word: &str| {
        let ask = format!("auth can-i get namespace/kube-system --as {ACCOUNT}");
        wait_for("the server to know the account's rights", || {
            let said = kubectl.run(&ask, &[]);
            match said.stdout.trim() == word {
                true => Ok(()),
                false => Err(said),
            }
        });
    };
    until_told("yes");
    helm.ok(&format!("upgrade machinist {chart} --set replicas=3"));
    if runs_pods {
        let deployment = kubectl.get(&format!("deployment machinist -n {NAMESPACE}"));
        assert_eq!(deployment["spec"]["replicas"], 3);
        kubectl.ok(&format!("get pdb machinist -n {NAMESPACE}"));
    }
    let history = helm.ok("history machinist");
    assert!(history.contains("superseded"), "{history}");
    helm.ok("rollback machinist 1");
    helm.ok("uninstall machinist --wait");
    kubectl.refused("get clusterrole machinist");
    until_told("no");
}

#[test]
fn both_helms_install_on_both_servers() {
    let sandbox = Sandbox::new();
    let Some(cluster) = Cluster::with_controllers(&sandbox) else {
        return;
    };
    let up = sandbox.up(&[]);
    for (kubeconfig, runs_pods) in [(cluster.kubeconfig(), true), (up.kubeconfig(), false)] {
        let Some(kubectl) = Kubectl::current(&sandbox, &kubeconfig) else {
            return;
        };
        for program in ["MACHINIST_HELM", "MACHINIST_HELM_OLD"] {
            let Some(program) = peers::peer(program) else {
                return;
            };
            let helm = Helm {
                program,
                kubeconfig: kubeconfig.clone(),
                home: Sandbox::new(),
            };
            comes_and_goes(&helm, &kubectl, runs_pods);
        }
    }
}

#[test]
fn webhook_configurations_go_with_the_chart() {
    let sandbox = Sandbox::new();
    let Some(cluster) = Cluster::with_controllers(&sandbox) else {
        return;
    };
    let (Some(kubectl), Some(program)) = (
        Kubectl::current(&sandbox, &cluster.kubeconfig()),
        peers::peer("MACHINIST_HELM"),
    ) else {
        return;
    };
    let helm = Helm {
        program,
        kubeconfig: cluster.kubeconfig(),
        home: Sandbox::new(),
    };
    let chart = chart().display().to_string();
    helm.ok(&format!("install machinist {chart} --create-namespace"));
    let token = kubectl.ok(&format!("create token machinist -n {NAMESPACE}"));
    let service = Service::open();
    let replica = replica(&service, &cluster, token.trim());
    let configurations =
        "get validatingwebhookconfigurations,mutatingwebhookconfigurations -o name";
    wait_for("the webhooks to be configured", || {
        let there = kubectl.ok(configurations);
        match there.lines().count() {
            3 => Ok(()),
            _ => Err((there, replica.up.stderr())),
        }
    });
    helm.ok("uninstall machinist");
    wait_for("the configurations to go", || {
        let there = kubectl.ok(configurations);
        match there.trim().is_empty() {
            true => Ok(()),
            false => Err(there),
        }
    });
    kubectl.ok("get crd machines.vitistack.io");
}
