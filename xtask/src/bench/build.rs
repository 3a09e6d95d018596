//! Building the release binary that is measured.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::process::Command;

/// Builds the release binary, in a target directory of its own when one is given, and
/// says where it is.
pub(super) async fn release(target: Option<&Path>) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--release", "--package", "machinist", "--locked"])
        .arg("--message-format=json-render-diagnostics")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    // Cargo tells us about this very package; build scripts that look at these variables
    // would see other values than in a build from the shell, and run again each time.
    for (name, _) in std::env::vars_os() {
        let own = name.to_string_lossy();
        if [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
        ]
        .iter()
        .any(|prefix| own.starts_with(prefix))
        {
            command.env_remove(&name);
        }
    }
    // A developer's habit for debug builds makes another release binary than users get.
    command.env_remove("CARGO_INCREMENTAL");
    if let Some(target) = target {
        command.env("CARGO_TARGET_DIR", target);
    }
    let output = command.output().await.context("cannot run cargo")?;
    if !output.status.success() {
        bail!("the release build ended with {}", output.status);
    }
    executable(&output.stdout).context("cargo built no binary")
}

/// Where cargo says that the binary is; it writes one JSON object a line.
fn executable(messages: &[u8]) -> Option<PathBuf> {
    messages
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "machinist")
        .find_map(|message| Some(PathBuf::from(message["executable"].as_str()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_found_among_the_messages() {
        let messages =
            br#"{"reason":"compiler-artifact","target":{"name":"serde"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"machinist"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"machinist"},"executable":"/t/release/machinist"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(executable(messages), Some("/t/release/machinist".into()));
        assert_eq!(executable(b"{}\n"), None);
    }
}
