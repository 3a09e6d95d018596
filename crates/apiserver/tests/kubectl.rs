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

use std::path::Path;
use std::process::Stdio;

use machinist_apiserver::{Pki, tls};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

struct Kubectl<'a> {
    program: String,
    home: &'a Path,
}

impl Kubectl<'_> {
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        // Words are separated by blanks; a pair of bars makes one word of what is between them.
        for (at, piece) in line.split('|').enumerate() {
            if at % 2 == 1 {
                command.arg(piece);
            } else {
                command.args(piece.split_whitespace());
            }
        }
        command
            .env("KUBECONFIG", self.home.join("kubeconfig"))
            .env("HOME", self.home)
            .env("TMPDIR", self.home)
            .env("KUBE_EDITOR", "sed -i s/green/blue/")
            .current_dir(self.home)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// What kubectl says, and whether it was content.
    async fn run(&self, line: &str) -> (bool, String) {
        let output = tokio::time::timeout(common::PATIENCE * 2, self.command(line).output());
        let output = output
            .await
            .unwrap_or_else(|_| panic!("kubectl {line} did not end"))
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    }
}

async fn find(home: &Path) -> Option<Kubectl<'_>> {
    let program = std::env::var("MACHINIST_KUBECTL").unwrap_or_else(|_| "kubectl".into());
    let found = Command::new(&program)
        .args(["version", "--client"])
        .output()
        .await;
    if found.is_ok_and(|o| o.status.success()) {
        return Some(Kubectl { program, home });
    }
    assert!(
        std::env::var("MACHINIST_REQUIRE_PEERS").is_err(),
        "kubectl is required and was not found: set MACHINIST_KUBECTL"
    );
    None
}

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
    let Some(kubectl) = find(home.path()).await else {
        println!("skipped: no kubectl; set MACHINIST_KUBECTL or install one");
        return;
    };
    let server = common::server().await;
    let pki = Pki::load_or_create(&home.path().join("pki")).unwrap();
    let listener = tls::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let file = |name: &str, text: &str| std::fs::write(home.path().join(name), text).unwrap();
    file("kubeconfig", &pki.kubeconfig(&url));
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
    let serving = {
        let (server, pki) = (server.clone(), pki.clone());
        tokio::spawn(async move { server.serve(listener, &pki, std::future::pending()).await })
    };

    // A watch that runs beside everything else.
    let mut watcher = kubectl
        .command("get widgets --watch --output-watch-events")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut watched = BufReader::new(watcher.stdout.take().unwrap()).lines();

    for (line, good, expected) in [
        (
            "api-resources",
            true,
            "widgets                     wd           example.io/v1",
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
        ("get all", true, "one    blue    3"),
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
    ] {
        let (succeeded, text) = kubectl.run(line).await;
        assert_eq!(succeeded, good, "kubectl {line}\n{text}");
        assert!(
            text.contains(expected),
            "kubectl {line} does not say {expected:?}:\n{text}"
        );
    }

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
