//! Tables of roles, bindings and requests, and what is decided.

use serde_json::{Value, json};

use super::*;
use crate::auth::attributes::{Object, Resource};
use crate::auth::{Action, Attributes, Identity};

fn index(objects: &[(&str, Value)]) -> Index {
    let mut index = Index::default();
    for (key, object) in objects {
        let key = format!("{PREFIX}{key}");
        let mut object = object.clone();
        let parts: Vec<&str> = key.split('/').skip(3).collect();
        object["metadata"] = match parts.as_slice() {
            [namespace, name] => json!({"namespace": namespace, "name": name}),
            [name] => json!({"name": name}),
            _ => panic!("{key}"),
        };
        index.put(&key, &object);
    }
    index
}

fn user(name: &str, groups: &[&str]) -> Identity {
    Identity {
        user: name.into(),
        groups: groups.iter().map(|g| (*g).to_owned()).collect(),
        ..Identity::default()
    }
}

/// `VERB PATH` or `VERB GROUP|RESOURCE[/PART] NAMESPACE|- [NAME]`.
fn action(text: &str) -> Action {
    let words: Vec<&str> = text.split(' ').collect();
    if let [verb, path] = words.as_slice() {
        let object = Object::Path((*path).into());
        return Action {
            verb: (*verb).into(),
            object,
        };
    }
    let (group, resource) = words[1].split_once('|').unwrap();
    let (resource, part) = resource.split_once('/').unwrap_or((resource, ""));
    Action::on(
        words[0],
        Resource {
            group: group.into(),
            version: "v1".into(),
            resource: resource.into(),
            subresource: part.into(),
            namespace: words[2].trim_matches('-').into(),
            name: words.get(3).unwrap_or(&"").to_string(),
        },
    )
}

fn binding(role: &str, subjects: Value) -> Value {
    let (kind, name) = role.split_once('/').unwrap();
    json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}, "subjects": subjects})
}

fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": groups, "resources": resources, "verbs": verbs})
}

fn world() -> Index {
    index(&[
        (
            "clusterroles/reader",
            json!({"rules": [rule(&[""], &["secrets"], &["get", "list"])]}),
        ),
        (
            "clusterroles/parts",
            json!({"rules": [
                rule(&["g"], &["*/scale"], &["update"]),
                rule(&["g"], &["ms/status"], &["patch"]),
                rule(&["*"], &["all"], &["*"]),
            ]}),
        ),
        (
            "clusterroles/urls",
            json!({"rules": [{"nonResourceURLs": ["/metrics", "/apis/*"], "verbs": ["get"]}]}),
        ),
        (
            "roles/a/one",
            json!({"rules": [
                {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["x"], "verbs": ["get", "create", "list"]},
            ]}),
        ),
        ("roles/a/nothing", json!({"rules": null})),
        (
            "clusterrolebindings/all",
            binding(
                "ClusterRole/urls",
                json!([{"kind": "Group", "name": "system:authenticated"}]),
            ),
        ),
        (
            "clusterrolebindings/parts",
            binding(
                "ClusterRole/parts",
                json!([{"kind": "User", "name": "part"}]),
            ),
        ),
        (
            "clusterrolebindings/account",
            binding(
                "ClusterRole/reader",
                json!([{"kind": "ServiceAccount", "name": "sa", "namespace": "a"}]),
            ),
        ),
        (
            "clusterrolebindings/homeless",
            binding(
                "ClusterRole/reader",
                json!([{"kind": "ServiceAccount", "name": "homeless"}]),
            ),
        ),
        (
            "clusterrolebindings/lost",
            binding(
                "ClusterRole/gone",
                json!([{"kind": "User", "name": "lost"}]),
            ),
        ),
        (
            "clusterrolebindings/lost2",
            binding(
                "ClusterRole/gone",
                json!([{"kind": "User", "name": "lost"}]),
            ),
        ),
        (
            "rolebindings/a/local",
            binding(
                "ClusterRole/reader",
                json!([{"kind": "User", "name": "local"}, {"kind": "ServiceAccount", "name": "near"}]),
            ),
        ),
        (
            "rolebindings/a/one",
            binding("Role/one", json!([{"kind": "Group", "name": "ones"}])),
        ),
        (
            "rolebindings/a/lost",
            binding("Role/gone", json!([{"kind": "User", "name": "lost"}])),
        ),
    ])
}

#[test]
fn decisions() {
    let world = world();
    let ones = ["ones", "system:authenticated"];
    let everyone = ["system:authenticated"];
    for (name, groups, asked, expected) in [
        ("root", &["system:masters"][..], "delete x|y -", "yes "),
        ("nobody", &[], "get |secrets a x", "no "),
        (
            "nobody",
            &everyone,
            "get /metrics",
            "yes RBAC: allowed by ClusterRoleBinding \"all\" of ClusterRole \"urls\" to Group \"system:authenticated\"",
        ),
        (
            "nobody",
            &everyone,
            "get /apis/g",
            "yes RBAC: allowed by ClusterRoleBinding \"all\" of ClusterRole \"urls\" to Group \"system:authenticated\"",
        ),
        ("nobody", &everyone, "get /apis", "no "),
        ("nobody", &everyone, "post /metrics", "no "),
        ("nobody", &[], "get /metrics", "no "),
        (
            "local",
            &[],
            "get |secrets a x",
            "yes RBAC: allowed by RoleBinding \"local/a\" of ClusterRole \"reader\" to User \"local\"",
        ),
        ("local", &[], "get |secrets b x", "no "),
        ("local", &[], "list |secrets -", "no "),
        ("local", &[], "delete |secrets a x", "no "),
        ("local", &[], "get g|secrets a x", "no "),
        ("local", &[], "get |secrets/status a x", "no "),
        (
            "system:serviceaccount:a:sa",
            &[],
            "list |secrets -",
            "yes RBAC: allowed by ClusterRoleBinding \"account\" of ClusterRole \"reader\" to ServiceAccount \"sa/a\"",
        ),
        ("system:serviceaccount:b:sa", &[], "list |secrets -", "no "),
        (
            "system:serviceaccount:a:near",
            &[],
            "list |secrets a",
            "yes RBAC: allowed by RoleBinding \"local/a\" of ClusterRole \"reader\" to ServiceAccount \"near/a\"",
        ),
        (
            "system:serviceaccount::homeless",
            &[],
            "list |secrets -",
            "no ",
        ),
        (
            "any",
            &ones,
            "get |configmaps a x",
            "yes RBAC: allowed by RoleBinding \"one/a\" of Role \"one\" to Group \"ones\"",
        ),
        ("any", &ones, "get |configmaps a y", "no "),
        ("any", &ones, "create |configmaps a", "no "),
        ("any", &ones, "list |configmaps a", "no "),
        (
            "part",
            &[],
            "update g|ms/scale a x",
            "yes RBAC: allowed by ClusterRoleBinding \"parts\" of ClusterRole \"parts\" to User \"part\"",
        ),
        ("part", &[], "update g|ms a x", "no "),
        (
            "part",
            &[],
            "patch g|ms/status -",
            "yes RBAC: allowed by ClusterRoleBinding \"parts\" of ClusterRole \"parts\" to User \"part\"",
        ),
        ("part", &[], "patch g|ns/status -", "no "),
        (
            "part",
            &[],
            "anything other|all -",
            "yes RBAC: allowed by ClusterRoleBinding \"parts\" of ClusterRole \"parts\" to User \"part\"",
        ),
        ("part", &[], "anything other|all/part -", "no "),
        (
            "lost",
            &[],
            "get |secrets -",
            "no RBAC: clusterrole.rbac.authorization.k8s.io \"gone\" not found",
        ),
        (
            "lost",
            &[],
            "get |secrets a",
            "no RBAC: [clusterrole.rbac.authorization.k8s.io \"gone\" not found, role.rbac.authorization.k8s.io \"gone\" not found]",
        ),
    ] {
        let user = user(name, groups);
        let decision = allowed(
            &world,
            &Attributes {
                user: &user,
                action: &action(asked),
            },
        );
        let found = match decision {
            Decision::Allowed(reason) => format!("yes {reason}"),
            Decision::NoOpinion(reason) => format!("no {reason}"),
        };
        assert_eq!(found, expected, "{name} {groups:?} {asked}");
    }
}

#[test]
fn what_is_removed_no_longer_counts() {
    let mut world = world();
    let user = user("local", &[]);
    let asked = action("get |secrets a x");
    let may = |index: &Index| {
        let attributes = Attributes {
            user: &user,
            action: &asked,
        };
        matches!(allowed(index, &attributes), Decision::Allowed(_))
    };
    assert!(may(&world));
    world.remove(&format!("{PREFIX}clusterroles/reader"));
    assert!(!may(&world));
    world.put(
        &format!("{PREFIX}clusterroles/reader"),
        &json!({"rules": [rule(&["*"], &["*"], &["*"])]}),
    );
    assert!(may(&world));
    world.remove(&format!("{PREFIX}rolebindings/a/local"));
    assert!(!may(&world));
}

#[test]
fn nobody_hands_on_what_they_do_not_hold() {
    let world = world();
    let check = |name: &str, namespace: &str, rules: Value, expected: &str| {
        let rules = Rule::list(&json!({"rules": rules}));
        let user = user(name, &["g"]);
        let found = escalation(&world, &user, namespace, &rules)
            .err()
            .unwrap_or_default();
        let expected = match expected {
            "" => String::new(),
            lines => format!(
                "user \"{name}\" (groups=[\"g\"]) is attempting to grant RBAC permissions not currently held:\n{lines}"
            ),
        };
        assert_eq!(found, expected, "{name} {rules:?}");
    };
    check(
        "local",
        "a",
        json!([rule(&[""], &["secrets"], &["get"])]),
        "",
    );
    check(
        "local",
        "a",
        json!([rule(&[""], &["secrets"], &["get", "delete", "watch"]), {"apiGroups": ["x"], "resources": ["y"], "resourceNames": ["n"], "verbs": ["get"]}]),
        "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"delete\" \"watch\"]}\n{APIGroups:[\"x\"], Resources:[\"y\"], ResourceNames:[\"n\"], Verbs:[\"get\"]}",
    );
    check(
        "local",
        "b",
        json!([rule(&[""], &["secrets"], &["get"])]),
        "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}",
    );
    check(
        "part",
        "",
        json!([rule(&["g"], &["ms/scale"], &["update"])]),
        "",
    );
    check(
        "part",
        "",
        json!([rule(&["g"], &["*"], &["update"])]),
        "{APIGroups:[\"g\"], Resources:[\"*\"], Verbs:[\"update\"]}",
    );
    check(
        "part",
        "",
        json!([{"nonResourceURLs": ["/x"], "verbs": ["get"]}]),
        "{NonResourceURLs:[\"/x\"], Verbs:[\"get\"]}",
    );
}
