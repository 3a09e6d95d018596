//! `machinist plan`: its verdict is what the engine then does.

use std::fs;

use serde_json::Value;

use crate::{
    ask, command, scene,
    support::{Kubectl, Sandbox, manifests, process, scene::Scene, wait_for},
};

/// The plan for a manifest, and its exit code.
#[track_caller]
fn plan(sandbox: &Sandbox, manifest: &str) -> (Value, Option<i32>) {
    let file = sandbox.write("plan.yaml", manifest);
    let answer = ask(sandbox, &format!("plan -o json -f {}", file.display()));
    let document = serde_json::from_str(&answer.stdout).unwrap_or_else(|_| panic!("{answer:#?}"));
    (document, answer.code())
}

/// The fields of the only object, with their verdicts.
fn fields(plan: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let fields = plan["objects"][0]["fields"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    fields
        .iter()
        .map(|field| (text(&field["path"]), text(&field["verdict"])))
        .collect()
}

/// How often the machine was stopped or restarted, by its events.
fn stops(kubectl: &Kubectl) -> usize {
    let events = kubectl.ok("get events -o jsonpath={.items[*].reason}");
    events
        .split_whitespace()
        .filter(|reason| ["Stopped", "Restarted"].contains(reason))
        .count()
}

/// Waits until the machine is what the last declaration says.
fn settle(scene: &Scene, kubectl: &Kubectl) -> Value {
    wait_for("the machine to settle", || {
        let machine = kubectl.get("machine web");
        let generation = machine["metadata"]["generation"].as_i64();
        let observed = machine["status"]["observedGeneration"].as_i64();
        let ready = scene.status("Machine", "web")["conditions"]
            .as_array()
            .is_some_and(|all| {
                all.iter()
                    .any(|c| c["type"] == "Reconciling" && c["status"] == "False")
            });
        match observed >= generation && ready {
            true => Ok(machine),
            false => Err(machine),
        }
    })
}

#[test]
fn a_plan_says_what_the_engine_then_does() {
    let sandbox = Sandbox::new();
    let scene = scene(&sandbox, &[]);
    scene.expect("MachineProvider", "local", ("Ready", "True"), &[]);
    let Some(kubectl) = Kubectl::current(&sandbox, &scene.up.kubeconfig()) else {
        return;
    };
    let first = manifests::machine("web", "sim", "any");
    let (planned, code) = plan(&sandbox, &first);
    assert_eq!(
        (&planned["verdict"], code),
        (&"create".into(), Some(2)),
        "{planned}"
    );
    kubectl.feed_ok("apply", &first);
    scene.expect("Machine", "web", ("Ready", "True"), &[]);
    let (planned, code) = plan(&sandbox, &first);
    assert_eq!(
        (&planned["verdict"], code),
        (&"no-change".into(), Some(0)),
        "{planned}"
    );

    let steps = [
        // What is declared, the field, the verdict, and whether the machine goes down for it.
        (
            first.replace("tier: test", "tier: prod"),
            "metadata.labels.tier",
            "in-place",
            0,
        ),
        (
            first.replace("  cpu: {cores: 1}", "  tags: {a: b}\n  cpu: {cores: 1}"),
            "spec.tags",
            "in-place",
            0,
        ),
        (
            first.replace("cores: 1", "cores: 2"),
            "spec.cpu.cores",
            "restart",
            1,
        ),
        (
            first.replace("sizeGB: 1", "sizeGB: 2"),
            "spec.disks[root].sizeGB",
            "in-place",
            0,
        ),
    ];
    let mut now = first;
    for (wanted, path, verdict, downs) in steps {
        let before = stops(&kubectl);
        let id = settle(&scene, &kubectl)["status"]["machineID"].clone();
        let (planned, code) = plan(&sandbox, &wanted);
        let told = fields(&planned);
        assert!(
            told.contains(&(path.into(), verdict.into())),
            "{path}: {planned:#}"
        );
        assert_eq!(code, Some(2), "{planned}");
        kubectl.feed_ok("apply", &wanted);
        let after = settle(&scene, &kubectl);
        assert_eq!(
            after["status"]["machineID"], id,
            "the machine is the same one"
        );
        wait_for("the events", || {
            let seen = stops(&kubectl) - before;
            (seen == downs).then_some(()).ok_or(seen)
        });
        let (planned, code) = plan(&sandbox, &wanted);
        assert_eq!(code, Some(0), "nothing is left to do: {planned:#}");
        now = wanted;
    }

    // What the machine cannot become: the engine stalls, and the machine stays as it is.
    let smaller = now.replace("sizeGB: 2", "sizeGB: 1");
    let (planned, code) = plan(&sandbox, &smaller);
    assert_eq!(
        fields(&planned),
        [("spec.disks[root].sizeGB".into(), "refused".into())],
        "{planned}"
    );
    assert_eq!(code, Some(1));
    kubectl.feed_ok("apply", &smaller);
    scene.expect(
        "Machine",
        "web",
        ("Stalled", "True"),
        &["cannot get smaller"],
    );
}

#[test]
fn manifests_are_judged_before_they_are_applied() {
    let sandbox = Sandbox::new();
    let scene = scene(&sandbox, &[]);
    scene.expect("MachineProvider", "local", ("Ready", "True"), &[]);
    // A schema's fault, a rule's fault and a kind that is not there, beside something good.
    let good = manifests::machine("good", "sim", "any");
    let bad = manifests::machine("bad", "sim", "any").replace("cores: 1", "cores: -1");
    let odd = good.replace("kind: Machine\n", "kind: Unicorn\n");
    let (planned, code) = plan(&sandbox, &[good.as_str(), &bad, &odd].join("---\n"));
    let verdicts: Vec<&Value> = planned["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|object| &object["verdict"])
        .collect();
    assert_eq!(verdicts, ["create", "refused", "refused"], "{planned:#}");
    assert_eq!(code, Some(1));
    let note = planned["objects"][1]["note"].as_str().unwrap();
    assert!(note.contains("cores"), "{note}");
    // Nothing was applied.
    assert_eq!(ask(&sandbox, "get machines -o name").stdout, "");

    // A directory, standard input, and a namespace that the manifests bring along.
    let directory = sandbox.path("manifests");
    fs::create_dir(&directory).unwrap();
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    fs::write(directory.join("a.yaml"), namespace).unwrap();
    let inside = good.replace("namespace: default", "namespace: shop");
    fs::write(directory.join("b.yml"), inside).unwrap();
    fs::write(directory.join("notes.txt"), "not a manifest").unwrap();
    let answer = ask(&sandbox, &format!("plan -f {}", directory.display()));
    assert_eq!(answer.code(), Some(2), "{answer:#?}");
    assert!(
        answer.stdout.contains("+ Machine shop/good: create"),
        "{answer:#?}"
    );
    assert!(answer.stdout.contains("2 create"), "{answer:#?}");
    let mut piped = command(&sandbox, "plan -f -");
    piped.stdin(fs::File::open(directory.join("a.yaml")).unwrap());
    assert_eq!(process::run(&mut piped).code(), Some(2));

    // Every failure has one code, since the others mean something.
    for words in [
        "plan",
        "plan -f /nowhere.yaml",
        "plan -f - --kubeconfig /nowhere",
    ] {
        assert_eq!(ask(&sandbox, words).code(), Some(1), "{words}");
    }
}
