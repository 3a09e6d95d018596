//! Every verdict, on machines that providers of different powers run.

use serde_json::{Value, json};

use super::*;
use crate::provider::Changes;

fn provider() -> MachineProvider {
    let provider = json!({"apiVersion": "vitistack.io/v1alpha1", "kind": "MachineProvider",
        "metadata": {"name": "p", "namespace": "default"}, "spec": {"type": "sim", "region": "r"}});
    serde_json::from_value(provider).expect("a provider")
}

fn machine() -> Value {
    json!({
        "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine",
        "metadata": {"name": "web", "namespace": "default", "uid": "u", "labels": {"tier": "test"},
            "annotations": {names::CLUSTER_ANNOTATION: "c", names::PROVIDER_ANNOTATION: "default/p"}},
        "spec": {"name": "web", "instanceType": "small", "cpu": {"cores": 1}, "memory": 1073741824,
            "os": {"family": "linux", "distribution": "debian", "version": "12", "imageID": "i"},
            "disks": [{"name": "root", "sizeGB": 10, "boot": true}, {"name": "data", "sizeGB": 5}],
            "tags": {"a": "1"},
            "providerConfig": {"name": "sim", "region": "r"}},
        "status": {"phase": "Running", "machineID": "m-1", "cpus": 1, "memory": 1073741824,
            "disks": [{"name": "root", "sizeGB": 10}, {"name": "data", "sizeGB": 5}]},
    })
}

fn able() -> Capabilities {
    Capabilities {
        power: true,
        tags: true,
        changes: Changes {
            resize: When::Stopped,
            attach_disk: When::Always,
            detach_disk: When::Always,
            grow_disk: When::Always,
            nics: When::Stopped,
        },
        ..Capabilities::default()
    }
}

#[track_caller]
fn check(before: Value, patch: Value, can: Option<Capabilities>, expected: &[(&str, Verdict)]) {
    let mut after = before.clone();
    merge(&mut after, &patch);
    let provider = provider();
    let found = machine_changes(MachineChange {
        before: &before,
        after: &after,
        provider: &provider,
        can,
    });
    let verdicts: Vec<(&str, Verdict)> = found
        .iter()
        .map(|change| (change.path.as_str(), change.verdict))
        .collect();
    assert_eq!(verdicts, expected, "{found:#?}");
}

fn merge(object: &mut Value, patch: &Value) {
    let (Some(fields), Some(patch)) = (object.as_object_mut(), patch.as_object()) else {
        *object = patch.clone();
        return;
    };
    for (key, value) in patch {
        match value {
            Value::Null => drop(fields.remove(key)),
            value => merge(fields.entry(key.clone()).or_insert(Value::Null), value),
        }
    }
}

#[test]
fn each_field_has_its_verdict() {
    let disks = |root: u32, more: &[Value]| {
        let mut all = vec![json!({"name": "root", "sizeGB": root, "boot": true})];
        all.extend_from_slice(more);
        json!({"spec": {"disks": all}})
    };
    let data = json!({"name": "data", "sizeGB": 5});
    let rows: &[(Value, &str, Verdict)] = &[
        (
            json!({"metadata": {"labels": {"tier": "prod"}}}),
            "metadata.labels.tier",
            Verdict::InPlace,
        ),
        (
            json!({"spec": {"tags": {"a": "2"}}}),
            "spec.tags.a",
            Verdict::InPlace,
        ),
        (
            json!({"spec": {"cpu": {"cores": 2}}}),
            "spec.cpu.cores",
            Verdict::Restart,
        ),
        (
            json!({"spec": {"memory": 2147483648_u64}}),
            "spec.memory",
            Verdict::Restart,
        ),
        (
            disks(20, std::slice::from_ref(&data)),
            "spec.disks[root].sizeGB",
            Verdict::InPlace,
        ),
        (
            disks(5, std::slice::from_ref(&data)),
            "spec.disks[root].sizeGB",
            Verdict::Refused,
        ),
        (disks(10, &[]), "spec.disks[data]", Verdict::InPlace),
        (
            disks(10, &[data.clone(), json!({"name": "logs", "sizeGB": 1})]),
            "spec.disks[logs]",
            Verdict::InPlace,
        ),
        (
            json!({"spec": {"os": {"imageID": "j"}}}),
            "spec.os.imageID",
            Verdict::Replace,
        ),
        (
            json!({"spec": {"userData": "#!/bin/sh"}}),
            "spec.userData",
            Verdict::Replace,
        ),
        (
            json!({"spec": {"powerState": "Stopped"}}),
            "spec.powerState",
            Verdict::InPlace,
        ),
        (
            json!({"metadata": {"annotations": {"vitistack.io/restarted-at": "2026-01-01T00:00:00Z"}}}),
            "metadata.annotations[vitistack.io/restarted-at]",
            Verdict::Restart,
        ),
        (
            json!({"spec": {"terminationGracePeriodSeconds": 9}}),
            "spec.terminationGracePeriodSeconds",
            Verdict::InPlace,
        ),
    ];
    for (patch, path, verdict) in rows {
        check(machine(), patch.clone(), Some(able()), &[(path, *verdict)]);
    }
    check(machine(), json!({}), Some(able()), &[]);
}

#[test]
fn what_a_provider_cannot_do_is_refused() {
    let resize = json!({"spec": {"cpu": {"cores": 2}}});
    let path = "spec.cpu.cores";
    let unable = Capabilities {
        changes: Changes::default(),
        ..able()
    };
    check(
        machine(),
        resize.clone(),
        Some(unable),
        &[(path, Verdict::Refused)],
    );
    let powerless = Capabilities {
        power: false,
        ..able()
    };
    check(
        machine(),
        resize.clone(),
        Some(powerless),
        &[(path, Verdict::Refused)],
    );
    let live = Capabilities {
        changes: Changes {
            resize: When::Always,
            ..able().changes
        },
        ..able()
    };
    check(
        machine(),
        resize.clone(),
        Some(live),
        &[(path, Verdict::InPlace)],
    );
    check(machine(), resize, None, &[(path, Verdict::Unknown)]);
}

#[test]
fn a_machine_that_is_down_needs_no_restart() {
    let mut stopped = machine();
    stopped["spec"]["powerState"] = "Stopped".into();
    stopped["status"]["phase"] = "Stopped".into();
    let resize = json!({"spec": {"cpu": {"cores": 2}}});
    check(
        stopped,
        resize,
        Some(able()),
        &[("spec.cpu.cores", Verdict::InPlace)],
    );
    // One that goes down for good is resized then.
    let both = json!({"spec": {"cpu": {"cores": 2}, "powerState": "Stopped"}});
    let expected = [
        ("spec.cpu.cores", Verdict::InPlace),
        ("spec.powerState", Verdict::InPlace),
    ];
    check(machine(), both, Some(able()), &expected);
}

#[test]
fn a_machine_that_is_not_made_yet_is_just_declared_otherwise() {
    let mut fresh = machine();
    fresh.as_object_mut().expect("an object").remove("status");
    let other = json!({"spec": {"os": {"imageID": "j"}}});
    check(
        fresh,
        other,
        Some(able()),
        &[("spec.os.imageID", Verdict::InPlace)],
    );
}

#[test]
fn a_declaration_without_meaning_is_refused_with_its_fault() {
    let drive = json!({"spec": {"cloudInit": {"type": "configDrive"}}});
    check(
        machine(),
        drive,
        Some(able()),
        &[("spec.cloudInit", Verdict::Refused)],
    );
}
