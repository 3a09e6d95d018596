//! Real kubectl, of two versions.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;

use super::{
    control_plane::Sandbox,
    peers,
    process::{self, Finished},
};

/// A kubectl and the control plane that it talks to.
#[derive(Clone)]
pub struct Kubectl {
    binary: PathBuf,
    kubeconfig: PathBuf,
    home: PathBuf,
}

impl Kubectl {
    /// The current kubectl; `None` when it is not here.
    pub fn current(sandbox: &Sandbox, kubeconfig: &Path) -> Option<Kubectl> {
        Kubectl::named("MACHINIST_KUBECTL", sandbox, kubeconfig)
    }

    /// The kubectl that a variable names; `None` when it is not here.
    pub fn named(variable: &str, sandbox: &Sandbox, kubeconfig: &Path) -> Option<Kubectl> {
        Some(Kubectl {
            binary: peers::peer(variable)?,
            kubeconfig: kubeconfig.to_owned(),
            home: sandbox.path(&format!("home-{variable}")),
        })
    }

    /// A command; words are separated by spaces, `more` are taken as they are.
    pub fn command(&self, words: &str, more: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(words.split_whitespace()).args(more);
        command.arg("--kubeconfig").arg(&self.kubeconfig);
        command.env("HOME", &self.home).env_remove("KUBECONFIG");
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    #[track_caller]
    pub fn run(&self, words: &str, more: &[&str]) -> Finished {
        process::run(&mut self.command(words, more))
    }

    /// Runs a command that must succeed, and gives what it printed.
    #[track_caller]
    pub fn ok(&self, words: &str) -> String {
        self.ok_with(words, &[])
    }

    /// The same, with arguments that hold spaces.
    #[track_caller]
    pub fn ok_with(&self, words: &str, more: &[&str]) -> String {
        let finished = self.run(words, more);
        assert!(
            finished.status.success(),
            "kubectl {words} {more:?}: {finished:#?}"
        );
        finished.stdout
    }

    /// Runs a command that must fail, and gives what it complained about.
    #[track_caller]
    pub fn refused(&self, words: &str) -> String {
        let finished = self.run(words, &[]);
        assert!(!finished.status.success(), "kubectl {words}: {finished:#?}");
        finished.stderr
    }

    /// Runs a command that reads this text; the caller judges.
    #[track_caller]
    pub fn feed(&self, words: &str, text: &str) -> Finished {
        let mut input = tempfile::tempfile().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        std::io::Seek::rewind(&mut input).unwrap();
        process::run(self.command(words, &["-f", "-"]).stdin(input))
    }

    /// Runs a command that reads this text and must succeed.
    #[track_caller]
    pub fn feed_ok(&self, words: &str, text: &str) -> String {
        let finished = self.feed(words, text);
        assert!(
            finished.status.success(),
            "kubectl {words}: {finished:#?}\n{text}"
        );
        finished.stdout
    }

    /// Reads an object.
    #[track_caller]
    pub fn get(&self, object: &str) -> Value {
        let text = self.ok(&format!("get {object} -o json"));
        serde_json::from_str(&text).unwrap()
    }
}
