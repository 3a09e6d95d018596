//! `kubectl machinist`, and what shells complete.

use std::{fs, os::unix::fs::symlink, process::Command};

use crate::{
    scene,
    support::{Kubectl, Sandbox, manifests, process},
};

#[test]
fn kubectl_finds_the_plugin_and_hands_its_flags_on() {
    let sandbox = Sandbox::new();
    let machine = manifests::machine("web", "sim", "any");
    let scene = scene(&sandbox, &[machine]);
    scene.expect("Machine", "web", ("Ready", "True"), &[]);
    let plugins = sandbox.path("plugins");
    fs::create_dir(&plugins).unwrap();
    symlink(
        env!("CARGO_BIN_EXE_machinist"),
        plugins.join("kubectl-machinist"),
    )
    .unwrap();
    for variable in ["MACHINIST_KUBECTL", "MACHINIST_KUBECTL_OLD"] {
        let Some(kubectl) = Kubectl::named(variable, &sandbox, &scene.up.kubeconfig()) else {
            return;
        };
        let path = std::env::join_paths([plugins.as_path()]).unwrap();
        let run = |mut command: Command| process::run(command.env("PATH", &path));
        // By flag, and by kubectl's environment.
        let answer = run(kubectl.command("machinist why web -n default", &[]));
        assert_eq!(answer.code(), Some(0), "{answer:#?}");
        assert!(answer.stdout.contains("is as declared"), "{answer:#?}");
        let mut command = kubectl.command("machinist why web -n kube-system", &[]);
        command.env("KUBECONFIG", scene.up.kubeconfig());
        let answer = run(command);
        assert_eq!(answer.code(), Some(2), "{answer:#?}");
        assert!(
            answer.stderr.contains("in namespace \"kube-system\""),
            "{answer:#?}"
        );
        let help = run(kubectl.command("machinist --help", &[]));
        assert!(help.stdout.contains("kubectl machinist"), "{help:#?}");
    }
}

#[test]
fn shells_get_a_script() {
    for shell in ["bash", "zsh", "fish"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machinist"));
        let script = process::run(command.args(["completion", shell]));
        assert_eq!(script.code(), Some(0), "{script:#?}");
        for verb in ["why", "describe", "backup"] {
            assert!(script.stdout.contains(verb), "{shell}: {verb}");
        }
    }
    // Bash is everywhere: it must take what it gets, and complete a verb.
    let binary = env!("CARGO_BIN_EXE_machinist");
    let script = format!(
        "source <({binary} completion bash) && COMP_WORDS=(machinist desc) COMP_CWORD=1 && \
         _machinist machinist desc machinist && echo \"${{COMPREPLY[@]}}\""
    );
    let answer = process::run(Command::new("bash").args(["-c", &script]));
    assert_eq!(answer.stdout.trim(), "describe", "{answer:#?}");
}
