//! Tables of policies and requests.

use super::policy::{Level, Policy};
use crate::auth::attributes::{Object, Resource};
use crate::auth::{Action, Attributes, Identity};

fn level(policy: &Policy, user: &str, asked: &str) -> Level {
    let words: Vec<&str> = asked.split(' ').collect();
    let object = match words.as_slice() {
        [_, path] => Object::Path((*path).into()),
        [_, group, resource, namespace, ..] => {
            let (resource, part) = resource.split_once('/').unwrap_or((resource, ""));
            Object::Resource(Resource {
                group: group.trim_matches('-').into(),
                version: "v1".into(),
                resource: resource.into(),
                subresource: part.into(),
                namespace: namespace.trim_matches('-').into(),
                name: words.get(4).unwrap_or(&"").to_string(),
            })
        }
        _ => panic!("{asked}"),
    };
    let (user, group) = user.split_once('/').unwrap_or((user, ""));
    let user = Identity {
        user: user.into(),
        groups: vec![group.into()],
        ..Identity::default()
    };
    let action = Action {
        verb: words[0].into(),
        object,
    };
    let request = Attributes {
        user: &user,
        action: &action,
    };
    policy.extent(&request).level
}

#[test]
fn the_policy_that_is_not_given_writes_changes_without_their_content() {
    let policy = Policy::standard();
    for (asked, expected) in [
        ("create - secrets default", Level::Metadata),
        ("create - serviceaccounts/token default sa", Level::Metadata),
        ("patch vitistack.io machines default m", Level::Metadata),
        ("deletecollection - configmaps default", Level::Metadata),
        ("get - secrets default s", Level::None),
        ("watch vitistack.io machines -", Level::None),
        ("update coordination.k8s.io leases default l", Level::None),
        ("create - events default", Level::None),
        ("get /readyz", Level::None),
        ("post /x", Level::Metadata),
    ] {
        assert_eq!(level(&policy, "ann", asked), expected, "{asked}");
    }
}

#[test]
fn the_first_rule_that_matches_decides() {
    let policy = Policy::parse(
        "
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, users: [robot]}
- {level: Request, userGroups: [auditors], verbs: [get]}
- {level: Metadata, resources: [{group: '', resources: [secrets, '*/token']}]}
- {level: Request, resources: [{group: '', resources: ['pods/*'], resourceNames: [p]}]}
- {level: RequestResponse, namespaces: [kube-system]}
- {level: Metadata, namespaces: ['']}
- {level: None, nonResourceURLs: ['/healthz*', /version]}
- {level: Request, nonResourceURLs: ['*']}
- {level: Metadata, resources: [{group: '*'}], omitStages: [RequestReceived]}
",
    )
    .unwrap();
    for (user, asked, expected) in [
        ("robot", "create - secrets a s", Level::None),
        ("x/auditors", "get - secrets a s", Level::Request),
        ("x/auditors", "list - secrets a s", Level::Metadata),
        ("x", "create - serviceaccounts/token a s", Level::Metadata),
        ("x", "get - pods/log a p", Level::Request),
        ("x", "get - pods a p", Level::Request),
        ("x", "get - pods/log a q", Level::Metadata),
        (
            "x",
            "get - configmaps kube-system c",
            Level::RequestResponse,
        ),
        ("x", "list - namespaces -", Level::Metadata),
        ("x", "get /healthz/x", Level::None),
        ("x", "get /version", Level::None),
        ("x", "get /metrics", Level::Request),
        ("x", "get apps deployments a d", Level::Metadata),
    ] {
        assert_eq!(level(&policy, user, asked), expected, "{user} {asked}");
    }
}

#[test]
fn a_text_that_is_no_policy_is_refused_with_the_reason() {
    let head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";
    for (text, expected) in [
        ("", "the audit policy"),
        ("kind: Pod\napiVersion: v1", "is a \"Pod\" of \"v1\""),
        (head, "has no rules"),
        (&format!("{head}rules: [{{level: All}}]"), "cannot be read"),
        (
            &format!("{head}rules: [{{level: None, nonResourceURLs: [/x], namespaces: [a]}}]"),
            "rule 0 of the audit policy names both",
        ),
    ] {
        let found = Policy::parse(text).unwrap_err().to_string();
        assert!(found.contains(expected), "{text:?}: {found}");
    }
}
