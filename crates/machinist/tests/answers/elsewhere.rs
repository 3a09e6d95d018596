//! The same verbs on a real Kubernetes, where an operator works.

use crate::{
    ask,
    support::{Finished, Kubectl, Sandbox, kube as real, manifests, operator},
};

/// Asks the real server.
#[track_caller]
fn ask_there(sandbox: &Sandbox, cluster: &real::Cluster, words: &str) -> Finished {
    let kubeconfig = cluster.kubeconfig();
    ask(
        sandbox,
        &format!("{words} --kubeconfig {}", kubeconfig.display()),
    )
}

#[test]
fn a_real_cluster_is_asked_the_same_questions() {
    let sandbox = Sandbox::new();
    let Some(cluster) = real::Cluster::start(&sandbox) else {
        return;
    };
    let Some(kubectl) = Kubectl::current(&sandbox, &cluster.kubeconfig()) else {
        return;
    };
    let _operator = operator::start_whole(&sandbox, &cluster);
    kubectl.feed_ok("apply", &manifests::provider("sim"));
    kubectl.ok("wait machineproviders.vitistack.io/local --for=condition=Ready --timeout=180s");
    let manifest = manifests::machine("web", "sim", "any");
    let file = sandbox.write("web.yaml", &manifest);
    let plan = format!("plan -f {}", file.display());

    let planned = ask_there(&sandbox, &cluster, &plan);
    assert_eq!(planned.code(), Some(2), "{planned:#?}");
    assert!(planned.stdout.contains("create"), "{planned:#?}");
    kubectl.feed_ok("apply", &manifest);
    kubectl.ok("wait machines.vitistack.io/web --for=condition=Ready --timeout=180s");
    let again = ask_there(&sandbox, &cluster, &plan);
    assert_eq!(again.code(), Some(0), "{again:#?}");

    // The server's own tables, but for how long ago something was.
    let without_age = |table: &str| -> Vec<Vec<String>> {
        let cells = |row: &str| row.split_whitespace().map(str::to_owned).collect();
        let rows = table.lines().map(cells);
        rows.map(|mut row: Vec<String>| {
            row.pop();
            row
        })
        .collect()
    };
    let table = ask_there(&sandbox, &cluster, "get machines.vitistack.io");
    let theirs = kubectl.ok("get machines.vitistack.io");
    assert_eq!(without_age(&table.stdout), without_age(&theirs));
    let name = ask_there(&sandbox, &cluster, "get machines.vitistack.io -o name");
    assert_eq!(name.stdout.trim(), "machine.vitistack.io/web");

    for (words, said) in [
        ("describe machines.vitistack.io web", "Running"),
        ("why web", "web"),
        ("why machineprovider/local", "local"),
    ] {
        let answer = ask_there(&sandbox, &cluster, words);
        assert_eq!(answer.code(), Some(0), "{words}: {answer:#?}");
        assert!(answer.stdout.contains(said), "{words}: {answer:#?}");
    }
    let nobody = ask_there(&sandbox, &cluster, "why nobody");
    assert_ne!(nobody.code(), Some(0), "{nobody:#?}");
    assert!(nobody.stderr.contains("nobody"), "{nobody:#?}");
}
