//! The programs that the driver needs, and what to do when they are not there.

use std::{
    env,
    path::{Path, PathBuf},
    process::Stdio,
};

use machinist_core::provider::ProviderError;
use tokio::process::Command;

const QEMU: &str = "qemu-system-x86_64";
const IMAGE_TOOL: &str = "qemu-img";

/// The QEMU binary.
///
/// # Errors
/// When it is not there.
pub(super) fn qemu(configured: Option<&Path>) -> Result<PathBuf, ProviderError> {
    match configured {
        Some(path) if path.is_file() => Ok(path.to_owned()),
        Some(path) => Err(ProviderError::Unsupported {
            what: format!(
                "running machines: the configured QEMU binary {} does not exist",
                path.display()
            ),
        }),
        None => search(QEMU, "qemu-system-x86"),
    }
}

/// The tool that makes disks.
///
/// # Errors
/// When it is not there.
pub(super) fn image_tool() -> Result<PathBuf, ProviderError> {
    search(IMAGE_TOOL, "qemu-utils")
}

fn search(name: &str, package: &str) -> Result<PathBuf, ProviderError> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| ProviderError::Unsupported {
        what: format!(
            "running machines: {name} is not in PATH ({}); install it (Debian: apt-get install {package})",
            path.display()
        ),
    })
}

/// What QEMU says of itself, such as `7.2.22`.
///
/// # Errors
/// When it cannot be run.
pub(super) async fn version(qemu: &Path) -> Result<String, ProviderError> {
    let output = Command::new(qemu)
        .arg("--version")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|source| ProviderError::transport(format!("cannot run {}", qemu.display()), source))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text
        .split_whitespace()
        .skip_while(|word| *word != "version")
        .nth(1);
    version.map(str::to_owned).ok_or_else(|| {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        ProviderError::transport(format!("{} does not say its version", qemu.display()), words)
    })
}
