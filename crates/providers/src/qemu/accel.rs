//! Which accelerator works here, found out by running a guest on it.
//!
//! That /dev/kvm opens, and even that it makes virtual machines, does not say that an
//! ordinary guest runs on it. So the probe boots one: a boot sector of six bytes that
//! ends QEMU with a known exit code.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::{process::Command, sync::OnceCell, time::timeout};

use super::{binary, config::Accelerator};
use crate::shared::files;

/// SeaBIOS and the boot sector take a fifth of a second where KVM works.
const DEADLINE: Duration = Duration::from_secs(3);
/// QEMU ends with twice the written value plus one.
const EXIT_CODE: i32 = 0x31 * 2 + 1;
const CACHE: &str = "accelerator.json";

/// Which accelerator is used, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Choice {
    pub accelerator: Accelerator,
    pub reason: String,
    /// What it was found out with; another QEMU or another boot of the host asks again.
    version: String,
    boot: String,
}

/// Finds out once, however many ask.
pub(super) struct Chooser {
    root: PathBuf,
    configured: Accelerator,
    choice: OnceCell<Choice>,
}

impl Chooser {
    pub(super) fn new(root: PathBuf, configured: Accelerator) -> Chooser {
        Chooser {
            root,
            configured,
            choice: OnceCell::new(),
        }
    }

    pub(super) async fn choose(&self, qemu: &Path) -> &Choice {
        self.choice.get_or_init(|| self.find_out(qemu)).await
    }

    async fn find_out(&self, qemu: &Path) -> Choice {
        let configured = |accelerator, version| Choice {
            accelerator,
            reason: "configured".to_owned(),
            version,
            boot: String::new(),
        };
        if self.configured != Accelerator::Auto {
            return configured(self.configured, String::new());
        }
        let version = binary::version(qemu).await.unwrap_or_default();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let boot = boot.trim().to_owned();
        let path = self.root.join(CACHE);
        let kept = fs::read(&path).ok();
        let kept = kept.and_then(|bytes| serde_json::from_slice::<Choice>(&bytes).ok());
        if let Some(kept) = kept
            && (&kept.version, &kept.boot) == (&version, &boot)
        {
            return kept;
        }
        let (accelerator, reason) = match try_kvm(qemu, &self.root).await {
            Ok(()) => (Accelerator::Kvm, "a probe guest ran on KVM".to_owned()),
            Err(reason) => (Accelerator::Tcg, reason),
        };
        tracing::info!(?accelerator, reason, "chose the accelerator for guests");
        let choice = Choice {
            accelerator,
            reason,
            version,
            boot,
        };
        // A cache that cannot be written only costs the next start a probe.
        if let Ok(bytes) = serde_json::to_vec_pretty(&choice) {
            let _ = files::write_atomically(&path, &bytes);
        }
        choice
    }
}

async fn try_kvm(qemu: &Path, root: &Path) -> Result<(), String> {
    let device = Path::new("/dev/kvm");
    let opened = fs::OpenOptions::new().read(true).write(true).open(device);
    if let Err(error) = opened {
        return Err(format!("{} cannot be opened: {error}", device.display()));
    }
    // Only the processor's own virtualisation runs an ordinary guest; software behind
    // /dev/kvm that needs a patched guest would cost each first start the whole deadline.
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if !has_virtualisation(&cpu) {
        return Err("the processor shows neither vmx nor svm, so /dev/kvm cannot run an ordinary guest".to_owned());
    }
    run_probe(qemu, root, "kvm", "host", DEADLINE).await
}

fn has_virtualisation(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
    flags
        .flat_map(str::split_whitespace)
        .any(|flag| flag == "vmx" || flag == "svm")
}

/// Boots the probe guest; `Ok` when it ran to its end.
async fn run_probe(qemu: &Path, root: &Path, accelerator: &str, cpu: &str, deadline: Duration) -> Result<(), String> {
    let disk = files::temporary_beside(&root.join("probe.img"));
    fs::write(&disk, boot_sector()).map_err(|error| format!("cannot write a probe disk: {error}"))?;
    let name = disk.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let running = Command::new(qemu)
        .args(["-nodefaults", "-no-user-config", "-display", "none", "-machine", "q35", "-m", "32"])
        .args(["-accel", accelerator, "-cpu", cpu])
        .args(["-device", "isa-debug-exit,iobase=0x501,iosize=2"])
        .args(["-blockdev", &format!("driver=raw,node-name=probe,read-only=on,file.driver=file,file.filename={name}")])
        .args(["-device", "virtio-blk-pci,drive=probe,bootindex=1"])
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .output();
    let outcome = timeout(deadline, running).await;
    let _ = fs::remove_file(&disk);
    match outcome {
        Err(_) => Err(format!("a probe guest did not boot within {} s", deadline.as_secs())),
        Ok(Err(error)) => Err(format!("QEMU could not be started: {error}")),
        Ok(Ok(output)) if output.status.code() == Some(EXIT_CODE) => Ok(()),
        Ok(Ok(output)) => {
            let words = String::from_utf8_lossy(&output.stderr);
            let last = words.lines().last().unwrap_or("without a word");
            Err(format!("a probe guest ended with {}: {last}", output.status))
        }
    }
}

/// What the BIOS loads and runs, in 16-bit real mode:
///
/// ```text
/// mov dx, 0x501    ; the debug-exit device
/// mov al, 0x31
/// out dx, al       ; ends QEMU with exit code 0x31 * 2 + 1
/// hlt
/// ```
fn boot_sector() -> [u8; 512] {
    let code = [0xba, 0x01, 0x05, 0xb0, 0x31, 0xee, 0xf4];
    let mut sector = [0; 512];
    sector[..code.len()].copy_from_slice(&code);
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtualisation_is_read_from_the_flags_alone() {
        assert!(has_virtualisation("flags\t\t: fpu svm sse\n"));
        assert!(!has_virtualisation("flags : fpu sse\nmodel name : svm vmx\n"));
    }

    #[tokio::test]
    async fn the_probe_guest_runs_under_emulation_and_a_wrong_accelerator_is_told() {
        let Ok(qemu) = binary::qemu(None) else {
            println!("skipped: no QEMU");
            return;
        };
        let root = tempfile::tempdir().unwrap();
        let limit = Duration::from_secs(120);
        run_probe(&qemu, root.path(), "tcg", "max", limit).await.unwrap();
        let refusal = run_probe(&qemu, root.path(), "none-such", "max", limit).await.unwrap_err();
        assert!(refusal.contains("none-such"), "{refusal}");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0, "the probe cleans up");
    }

    #[tokio::test]
    async fn a_choice_is_kept_until_qemu_or_the_boot_changes() {
        let root = tempfile::tempdir().unwrap();
        let qemu = Path::new("/bin/true");
        let first = Chooser::new(root.path().to_owned(), Accelerator::Auto);
        let choice = first.choose(qemu).await.clone();
        assert!(root.path().join(CACHE).exists());
        let mut other = choice.clone();
        other.reason = "kept".to_owned();
        fs::write(root.path().join(CACHE), serde_json::to_vec(&other).unwrap()).unwrap();
        let second = Chooser::new(root.path().to_owned(), Accelerator::Auto);
        assert_eq!(second.choose(qemu).await.reason, "kept");
        other.boot = "another boot".to_owned();
        fs::write(root.path().join(CACHE), serde_json::to_vec(&other).unwrap()).unwrap();
        let third = Chooser::new(root.path().to_owned(), Accelerator::Auto);
        assert_eq!(third.choose(qemu).await.reason, choice.reason);
    }
}
