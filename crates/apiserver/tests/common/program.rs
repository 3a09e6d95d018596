//! Programs that nobody here wrote, run against a server over TLS.

use std::path::Path;
use std::process::Stdio;

use machinist_apiserver::{ApiServer, Pki, tls};
use tokio::process::Command;
use tokio::task::JoinHandle;

/// A program and the directory that is its home.
pub struct Program<'a> {
    path: String,
    home: &'a Path,
}

impl<'a> Program<'a> {
    /// The program that a variable names, else one on the PATH. Without one the test says so and
    /// passes, unless `MACHINIST_REQUIRE_PEERS=1` demands it.
    pub async fn find(variable: &str, name: &str, home: &'a Path) -> Option<Self> {
        let path = std::env::var(variable).unwrap_or_else(|_| name.into());
        // Both kubectl and Helm know this word; kubectl would ask the server without the flag.
        let words: &[&str] = match name {
            "kubectl" => &["version", "--client"],
            _ => &["version"],
        };
        let found = Command::new(&path).args(words).output().await;
        if found.is_ok_and(|o| o.status.success()) {
            return Some(Self { path, home });
        }
        assert!(
            std::env::var("MACHINIST_REQUIRE_PEERS").is_err(),
            "{name} is required and was not found: set {variable}"
        );
        println!("skipped: no {name}; set {variable} or install one");
        None
    }

    /// A command line. Words are separated by blanks; a pair of bars makes one word of what is
    /// between them.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.path);
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

    /// What the program says, and whether it was content.
    pub async fn run(&self, line: &str) -> (bool, String) {
        let output = tokio::time::timeout(super::PATIENCE * 2, self.command(line).output());
        let output = output
            .await
            .unwrap_or_else(|_| panic!("{} {line} did not end", self.path))
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    }

    /// Runs command lines, each with whether it succeeds and a part of what it says.
    pub async fn check(&self, lines: &[(&str, bool, &str)]) {
        for (line, good, expected) in lines {
            let (succeeded, text) = self.run(line).await;
            assert_eq!(succeeded, *good, "{} {line}\n{text}", self.path);
            assert!(
                text.contains(expected),
                "{} {line} does not say {expected:?}:\n{text}",
                self.path
            );
        }
    }
}

/// Serves on loopback, with a kubeconfig in this directory; it ends with the returned task.
pub async fn serve(server: &ApiServer, home: &Path) -> JoinHandle<()> {
    let pki = Pki::load_or_create(&home.join("pki")).unwrap();
    let listener = tls::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::fs::write(home.join("kubeconfig"), pki.kubeconfig(&url)).unwrap();
    let server = server.clone();
    tokio::spawn(async move {
        server
            .serve(listener, &pki, std::future::pending())
            .await
            .unwrap();
    })
}
