//! What is read: tables, documents, descriptions, explanations, watches.

use std::{io::Read, process::Stdio};

use super::{assert_has, machine, web, with_each};

#[test]
fn reading() {
    with_each(|kubectl, _| {
        kubectl.feed_ok("apply", &web());
        kubectl.ok("wait machine/web --for=condition=Ready --timeout=180s");
        for (command, expected) in [
            (
                "get machines",
                &[
                    "NAME", "PHASE", "READY", "IP", "PROVIDER", "AGE", "web", "Running",
                ][..],
            ),
            (
                "get machine web -o wide",
                &["INSTANCE-TYPE", "PROVIDER-ID", "MESSAGE", "sim://", "small"],
            ),
            (
                "get machine web -o yaml",
                &["kind: Machine", "phase: Running", "instanceType: small"],
            ),
            (
                "get machine web -o json",
                &["\"kind\": \"Machine\"", "\"phase\": \"Running\""],
            ),
            ("get machine web -o name", &["machine.vitistack.io/web"]),
            (
                "get m,mp -o name",
                &[
                    "machine.vitistack.io/web",
                    "machineprovider.vitistack.io/local",
                ],
            ),
            (
                "get machinist",
                &[
                    "machine.vitistack.io/web",
                    "machineprovider.vitistack.io/local",
                ],
            ),
            ("get machines -A", &["NAMESPACE", "default"]),
            (
                "get machineproviders",
                &["NAME", "TYPE", "REGION", "READY", "local", "sim", "True"],
            ),
            ("get mp local -o wide", &["PHASE", "MACHINES", "Ready"]),
            (
                "get mp local -o yaml",
                &["kind: MachineProvider", "type: sim"],
            ),
            (
                "get machines --show-labels -l tier=test",
                &["LABELS", "tier=test", "web"],
            ),
            ("get machines --field-selector metadata.name=web", &["web"]),
            ("get machines --sort-by=.metadata.name", &["web"]),
            (
                "get --raw /apis/vitistack.io/v1alpha1",
                &["\"machines/status\""],
            ),
            (
                "describe machine web",
                &[
                    "Name:         web",
                    "Events:",
                    "Bound to MachineProvider default/local",
                    "Created",
                ],
            ),
            (
                "describe machineprovider local",
                &["Name:         local", "Type:    sim", "Conditions:"],
            ),
            ("events --for machine/web", &["Bound", "Created"]),
            (
                "explain machine",
                &["GROUP:      vitistack.io", "VERSION:    v1alpha1", "spec"],
            ),
            (
                "explain machine.spec.disks.sizeGB",
                &["FIELD: sizeGB <integer>", "Size in GB"],
            ),
            (
                "explain machine --recursive",
                &["sizeGB", "providerConfig", "conditions"],
            ),
            (
                "explain machineprovider.spec.type",
                &["FIELD: type <string>", "qemu", "sim"],
            ),
            (
                "api-resources --api-group=vitistack.io",
                &[
                    "machines",
                    "machineproviders",
                    "mp",
                    "vitistack.io/v1alpha1",
                    "Machine",
                ],
            ),
            ("api-versions", &["vitistack.io/v1alpha1", "v1"]),
            ("version", &["Client Version: v1.", "Server Version: v1."]),
        ] {
            assert_has(&kubectl.ok(command), expected);
        }
        for command in [
            "get machines -l tier=other",
            "get machines --field-selector metadata.name=other",
            "get machines -n kube-system",
        ] {
            assert_eq!(kubectl.ok(command), "", "{command}");
        }
        assert_has(
            &kubectl.refused("get machine nobody"),
            &["NotFound", "\"nobody\" not found"],
        );
    });
}

#[test]
fn waiting_watching_and_deleting() {
    with_each(|kubectl, _| {
        // The first machine shows that the watch has begun; what happens to `web` is all seen.
        kubectl.feed_ok("apply", &machine("first", "sim", "debian-12"));
        let mut watch = kubectl.command("get machines -w --output-watch-events --no-headers", &[]);
        let mut watch = watch.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = watch.stdout.take().unwrap();
        read_until(&mut output, |seen| seen.contains("first"));
        kubectl.feed_ok("apply", &web());
        kubectl.ok("wait machine/web --for=condition=Ready --timeout=180s");
        kubectl.ok("wait machine/web --for=jsonpath={.status.phase}=Running --timeout=180s");
        assert_has(
            &kubectl.refused("wait machine/web --for=delete --timeout=1s"),
            &["timed out"],
        );
        let web = kubectl.clone();
        let waiting =
            std::thread::spawn(move || web.ok("wait machine/web --for=delete --timeout=180s"));
        assert_has(
            &kubectl.ok("delete machine web"),
            &["machine.vitistack.io \"web\" deleted"],
        );
        waiting.join().unwrap();
        assert_has(&kubectl.refused("get machine web"), &["NotFound"]);
        assert_has(&kubectl.refused("delete machine web"), &["NotFound"]);
        let seen = read_until(&mut output, |seen| of(seen, "web").contains("DELETED"));
        watch.kill().unwrap();
        watch.wait().unwrap();
        kubectl.ok("delete machine first");
        kubectl.ok("delete mp local");
        assert_eq!(kubectl.ok("get machinist"), "");
        assert_has(
            &of(&seen, "web"),
            &[
                "ADDED",
                "MODIFIED",
                "Pending",
                "Creating",
                "Running",
                "Terminating",
            ],
        );
    });
}

/// Reads on until what came so far satisfies `enough`, and returns it.
fn read_until(output: &mut impl Read, enough: impl Fn(&str) -> bool) -> String {
    let mut seen = String::new();
    while !enough(&seen) {
        let mut buffer = [0; 4096];
        let length = output.read(&mut buffer).unwrap();
        assert!(length > 0, "the watch ended after {seen}");
        seen.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    seen
}

/// The lines of a watch that speak of one machine.
fn of(seen: &str, name: &str) -> String {
    let lines = seen
        .lines()
        .filter(|line| line.split_whitespace().any(|word| word == name));
    lines.collect::<Vec<_>>().join("\n")
}

/// The tables that the design document of VirtualMachine prints; only the age is another one.
#[test]
fn the_tables_of_a_virtual_machine_are_the_documented_ones() {
    with_each(|kubectl, _| {
        kubectl.feed_ok(
            "apply",
            r#"
apiVersion: kupenstack.io/v1alpha1
kind: VirtualMachine
metadata: {name: sample-vm, namespace: default}
spec: {vcpu: 3, memory: 500Mi, swap: 1Gi, diskAttachments: [{name: myvol}]}
"#,
        );
        let born = kubectl.get("vm sample-vm");
        assert_eq!(born["spec"]["running"], true);
        assert_eq!(born["status"]["phase"], "Pending");
        let ip = "net-db(10.10.120.21), net-backend(10.10.150.12), net-front-link(10.10.90.100)";
        let status = format!(
            r#"{{"status":{{"phase":"Running","restartCount":0,"node":"node1","ip":"{ip}"}}}}"#
        );
        kubectl.ok_with(
            "patch virtualmachine sample-vm --subresource=status --type=merge -p",
            &[&status],
        );
        // The documented machine is 47 minutes old, which this one need not become.
        let table = |words: &str| {
            let printed = kubectl.ok(words);
            let (header, row) = printed.split_once('\n').unwrap();
            let (before, age) = row.split_at(header.find("AGE").unwrap());
            let rest = age.trim_start_matches(|c: char| !c.is_whitespace()).trim();
            let row = format!("{before}47m   {rest}");
            format!("{header}\n{}\n", row.trim_end())
        };
        for words in ["get virtualmachines", "get vm"] {
            assert_eq!(
                table(words),
                "NAME        STATUS    RESTARTS   AGE\n\
                 sample-vm   Running   0          47m\n"
            );
        }
        assert_eq!(
            table("get vm -o wide"),
            format!(
                "NAME        STATUS    RESTARTS   AGE   NODE    NETWORKS(IP)\n\
                 sample-vm   Running   0          47m   node1   {ip}\n"
            )
        );
        kubectl.ok("delete vm sample-vm");
    });
}
