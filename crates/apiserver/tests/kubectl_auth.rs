//! kubectl's words about access, old and new: `auth can-i`, `auth whoami`, `create token`,
//! `auth reconcile`, and `--as`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use common::program::{Program, serve};

const POLICY: &str = r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: painter}
rules:
- apiGroups: [example.io]
  resources: [widgets]
  verbs: [get, list, patch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: painters, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: painter}
subjects:
- {kind: User, name: ann, apiGroup: rbac.authorization.k8s.io}
- {kind: ServiceAccount, name: default, namespace: default}
"#;

async fn asks(variable: &str) {
    let home = tempfile::tempdir().unwrap();
    let Some(kubectl) = Program::find(variable, "kubectl", home.path()).await else {
        return;
    };
    let server = common::server().await;
    let serving = serve(&server, home.path()).await;
    std::fs::write(home.path().join("policy.yaml"), POLICY).unwrap();
    kubectl
        .check(&[
            ("auth whoami", true, "machinist-admin"),
            ("auth whoami -o yaml", true, "system:masters"),
            ("auth can-i * *", true, "yes"),
            ("auth can-i list widgets --as ann", false, "no"),
            ("auth reconcile -f policy.yaml", true, "rolebinding.rbac.authorization.k8s.io/painters reconciled"),
            ("auth can-i list widgets --as ann", true, "yes"),
            ("auth can-i delete widgets --as ann", false, "no"),
            ("auth can-i list widgets --as ann -n kube-system", false, "no"),
            ("auth can-i get /readyz --as ann", true, "yes"),
            ("auth can-i get /metrics --as ann", false, "no"),
            ("auth can-i --list --as ann", true, "widgets.example.io"),
            ("auth whoami --as ann --as-group crew", true, "crew"),
            ("get widgets --as ann", true, "No resources found"),
            ("get secrets --as ann", false, "Error from server (Forbidden): secrets is forbidden: User \"ann\" cannot list resource \"secrets\" in API group \"\" in the namespace \"default\""),
            ("create rolebinding more --clusterrole=admin --user=ann", true, "created"),
            ("create role cooks --verb=get --resource=configmaps", true, "created"),
            ("create clusterrole all --verb=get --non-resource-url=/x", true, "created"),
            ("create clusterrolebinding all --clusterrole=all --group=crew", true, "created"),
            ("get clusterrolebinding all -o wide", true, "ClusterRole/all"),
            ("describe clusterrole view", true, "widgets.example.io"),
            ("create serviceaccount robot", true, "created"),
            ("create token robot --duration=900s", true, "ey"),
            ("create token robot --duration=9s", false, "may not specify a duration less than 10 minutes"),
            ("create token robot --bound-object-kind=Secret --bound-object-name=none", false, "secrets \"none\" not found"),
        ])
        .await;
    // The token alone, without the certificate, is what the account may do.
    let (_, token) = kubectl.run("create token default").await;
    let url = std::fs::read_to_string(home.path().join("kubeconfig")).unwrap();
    let url = url
        .lines()
        .find_map(|line| line.trim().strip_prefix("server: "))
        .unwrap()
        .to_owned();
    let flags = format!(
        "--kubeconfig=/dev/null --server={url} --certificate-authority=pki/ca.crt --token={}",
        token.trim()
    );
    kubectl
        .check(&[
            (
                &format!("auth whoami {flags}"),
                true,
                "system:serviceaccount:default:default",
            ),
            (
                &format!("get widgets -n default {flags}"),
                true,
                "No resources found",
            ),
            (
                &format!("get secrets -n default {flags}"),
                false,
                "User \"system:serviceaccount:default:default\" cannot list resource \"secrets\"",
            ),
            (
                &format!(
                    "get widgets -n default {}",
                    flags.replace("--token=ey", "--token=xx")
                ),
                false,
                "Unauthorized",
            ),
        ])
        .await;
    serving.abort();
}

#[tokio::test]
async fn the_new_kubectl_asks() {
    asks("MACHINIST_KUBECTL").await;
}

#[tokio::test]
async fn the_old_kubectl_asks() {
    asks("MACHINIST_KUBECTL_OLD").await;
}
