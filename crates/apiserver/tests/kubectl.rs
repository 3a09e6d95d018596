//! The judge that nobody here wrote: kubectl, over TLS, through everything that users type.
//!
//! It is taken from `$MACHINIST_KUBECTL`, else from the PATH; without one the test says so and
//! passes, unless `MACHINIST_REQUIRE_PEERS=1` demands it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test"
)]

mod common;

use std::process::Stdio;

use common::program::{Program, serve};
use tokio::io::{AsyncBufReadExt as _, BufReader};

const MANIFEST: &str = "apiVersion: example.io/v1
kind: Widget
metadata:
  name: one
  labels:
    app: test
spec:
  color: red
  note: hello
";

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "one long conversation")]
async fn kubectl_is_content() {
    let home = tempfile::tempdir().unwrap();
    let Some(kubectl) = Program::find("MACHINIST_KUBECTL", "kubectl", home.path()).await else {
        return;
    };
    let server = common::server().await;
    let serving = serve(&server, home.path()).await;
    let file = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
    file("one.yaml", MANIFEST);
    file("blue.yaml", &MANIFEST.replace("red", "blue"));
    file("green.yaml", &MANIFEST.replace("red", "green"));
    file(
        "unknown.yaml",
        &format!("{}  shape: round\n", MANIFEST.replace("one", "bad")),
    );
    file(
        "pink.yaml",
        &MANIFEST.replace("one", "bad").replace("red", "pink"),
    );

    // A watch that runs beside everything else.
    let mut watcher = kubectl
        .command("get widgets --watch --output-watch-events")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut watched = BufReader::new(watcher.stdout.take().unwrap()).lines();

    kubectl
        .check(&[
        (
            "api-resources",
            true,
            " wd           example.io/v1 ",
        ),
        ("version", true, "Server Version: v1.36.0+machinist-"),
        ("apply -f one.yaml", true, "widget.example.io/one created"),
        ("apply -f one.yaml", true, "widget.example.io/one unchanged"),
        ("diff -f blue.yaml", false, "+  color: blue"),
        (
            "apply -f blue.yaml",
            true,
            "widget.example.io/one configured",
        ),
        (
            "apply --server-side -f blue.yaml",
            true,
            "widget.example.io/one serverside-applied",
        ),
        (
            "apply --server-side --field-manager=other -f green.yaml",
            false,
            "conflict with \"kubectl\"",
        ),
        (
            "apply --server-side --field-manager=other --force-conflicts -f green.yaml",
            true,
            "serverside-applied",
        ),
        (
            "get widgets -o wide",
            true,
            "COLOR   REPLICAS   READY   NOTE",
        ),
        ("get widget one -o yaml", true, "color: green"),
        ("get wd one -o json", true, "\"color\": \"green\""),
        ("get wd -o |jsonpath={.items[0].spec.note}|", true, "hello"),
        ("describe widget one", true, "Events:      <none>"),
        (
            "explain widget.spec.color",
            true,
            "The color of the widget.",
        ),
        ("edit widget one", true, "widget.example.io/one edited"),
        ("get widget one -o |jsonpath={.spec.color}|", true, "blue"),
        (
            "patch widget one --type merge -p |{\"spec\":{\"note\":\"merged\"}}|",
            true,
            "patched",
        ),
        (
            "patch widget one --type json -p |[{\"op\":\"replace\",\"path\":\"/spec/note\",\"value\":\"json\"}]|",
            true,
            "patched",
        ),
        (
            "patch widget one -p |{\"spec\":{\"note\":\"x\"}}|",
            false,
            "is not supported by example.io/v1, Kind=Widget",
        ),
        (
            "patch widget one --subresource=status --type merge -p |{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}|",
            true,
            "patched",
        ),
        (
            "wait widget/one --for=condition=Ready --timeout=30s",
            true,
            "condition met",
        ),
        (
            "wait widget/one --for=jsonpath={.spec.note}=json --timeout=30s",
            true,
            "condition met",
        ),
        ("scale widget one --replicas=3", true, "scaled"),
        ("label widget one tier=front", true, "labeled"),
        ("annotate widget one why=because", true, "annotated"),
        (
            "get widgets -l tier=front --field-selector spec.color=blue -o name",
            true,
            "widget.example.io/one",
        ),
        ("get all", true, "blue    3"),
        (
            "apply -f unknown.yaml",
            false,
            "strict decoding error: unknown field \"spec.shape\"",
        ),
        (
            "apply -f unknown.yaml --validate=warn --dry-run=server",
            true,
            "Warning: unknown field \"spec.shape\"",
        ),
        (
            "apply -f pink.yaml",
            false,
            "spec.color: Unsupported value: \"pink\"",
        ),
        (
            "get widget missing",
            false,
            "Error from server (NotFound): widgets.example.io \"missing\" not found",
        ),
        ("get crd widgets.example.io", true, "widgets.example.io"),
        (
            "wait crd/widgets.example.io --for=condition=Established --timeout=30s",
            true,
            "condition met",
        ),
        ("get namespaces", true, "vitistack-system   Active"),
        (
            "delete widget one",
            true,
            "widget.example.io \"one\" deleted",
        ),
        ("wait widget/one --for=delete --timeout=30s", true, ""),
        (
            "get widgets",
            true,
            "No resources found in default namespace.",
        ),
    ])
        .await;

    let mut types = Vec::new();
    while types.last().is_none_or(|t| t != "DELETED") {
        let line = tokio::time::timeout(common::PATIENCE, watched.next_line())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        types.push(line.split_whitespace().next().unwrap().to_owned());
    }
    assert_eq!(types[..2], ["EVENT", "ADDED"]);
    assert!(
        types.iter().filter(|t| *t == "MODIFIED").count() > 5,
        "{types:?}"
    );
    watcher.kill().await.unwrap();
    serving.abort();
}
