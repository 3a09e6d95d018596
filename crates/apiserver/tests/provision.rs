//! What every namespace is given, and given back.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use serde_json::json;

const ACCOUNT: &str = "/api/v1/namespaces/NS/serviceaccounts/default";
const AUTHORITY: &str = "/api/v1/namespaces/NS/configmaps/kube-root-ca.crt";

#[tokio::test]
async fn every_namespace_has_an_account_and_the_certificate_of_the_authority() {
    let home = tempfile::tempdir().unwrap();
    let server = common::server().await;
    let before = json!({"metadata": {"name": "before"}});
    common::ok(&server, "POST /api/v1/namespaces", Some(&before)).await;
    let serving = common::program::serve(&server, home.path()).await;
    let later = json!({"metadata": {"name": "later"}});
    common::ok(&server, "POST /api/v1/namespaces", Some(&later)).await;
    let pem = std::fs::read_to_string(home.path().join("pki/ca.crt")).unwrap();
    let is_right =
        |code, object: &serde_json::Value| code == 200 && object["data"] == json!({"ca.crt": pem});
    for namespace in ["default", "kube-system", "before", "later"] {
        let [account, authority] = [ACCOUNT, AUTHORITY].map(|p| p.replace("NS", namespace));
        common::eventually(&server, &format!("GET {account}"), |code, _| code == 200).await;
        common::eventually(&server, &format!("GET {authority}"), is_right).await;
    }
    // What is deleted or changed is restored.
    let [account, authority] = [ACCOUNT, AUTHORITY].map(|p| p.replace("NS", "later"));
    let first = common::ok(&server, &format!("GET {account}"), None).await;
    common::ok(&server, &format!("DELETE {account}"), None).await;
    common::eventually(&server, &format!("GET {account}"), |code, object| {
        code == 200 && object["metadata"]["uid"] != first["metadata"]["uid"]
    })
    .await;
    let wrong = json!({"data": {"ca.crt": "another", "more": "x"}});
    common::ok(&server, &format!("PATCH+merge {authority}"), Some(&wrong)).await;
    common::eventually(&server, &format!("GET {authority}"), is_right).await;
    common::ok(&server, &format!("DELETE {authority}"), None).await;
    common::eventually(&server, &format!("GET {authority}"), is_right).await;
    // A namespace that goes takes them along.
    common::ok(&server, "DELETE /api/v1/namespaces/later", None).await;
    let gone = |code, _: &serde_json::Value| code == 404;
    common::eventually(&server, "GET /api/v1/namespaces/later", gone).await;
    common::eventually(&server, &format!("GET {account}"), gone).await;
    serving.abort();
}
