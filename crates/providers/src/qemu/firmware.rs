//! UEFI firmware: found among the host's files, with variables of each machine's own.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use machinist_core::provider::ProviderError;

use super::error::io_fault;

/// The firmware's code in a machine's directory.
pub(super) const CODE: &str = "firmware.fd";
/// The machine's own variables.
pub(super) const VARIABLES: &str = "variables.fd";

/// Where distributions put it: code and fresh variables, without and with secure boot.
const PLAIN: [(&str, &str); 4] = [
    ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"),
    ("/usr/share/OVMF/OVMF_CODE.fd", "/usr/share/OVMF/OVMF_VARS.fd"),
    ("/usr/share/edk2/x64/OVMF_CODE.4m.fd", "/usr/share/edk2/x64/OVMF_VARS.4m.fd"),
    ("/usr/share/edk2/ovmf/OVMF_CODE.fd", "/usr/share/edk2/ovmf/OVMF_VARS.fd"),
];
const SECURE: [(&str, &str); 3] = [
    ("/usr/share/OVMF/OVMF_CODE_4M.ms.fd", "/usr/share/OVMF/OVMF_VARS_4M.ms.fd"),
    ("/usr/share/OVMF/OVMF_CODE_4M.secboot.fd", "/usr/share/OVMF/OVMF_VARS_4M.ms.fd"),
    ("/usr/share/edk2/ovmf/OVMF_CODE.secboot.fd", "/usr/share/edk2/ovmf/OVMF_VARS.secboot.fd"),
];

/// Finds the firmware.
///
/// # Errors
/// When this host has none.
pub(super) fn find(secure_boot: bool) -> Result<(PathBuf, PathBuf), ProviderError> {
    let known: &[(&str, &str)] = if secure_boot { &SECURE } else { &PLAIN };
    known
        .iter()
        .find(|(code, variables)| Path::new(code).is_file() && Path::new(variables).is_file())
        .map(|(code, variables)| (PathBuf::from(code), PathBuf::from(variables)))
        .ok_or_else(|| ProviderError::Rejected {
            field: "firmware",
            value: if secure_boot { "uefi with secure boot" } else { "uefi" }.to_owned(),
            reason: format!(
                "this host has no UEFI firmware for guests (looked for {}); install it (Debian: ovmf) or choose bios",
                known.iter().map(|(code, _)| *code).collect::<Vec<_>>().join(", ")
            ),
        })
}

/// Puts the firmware into a machine's directory.
///
/// # Errors
/// When there is none, or no room for it.
pub(super) fn install(dir: &Path, secure_boot: bool) -> Result<(), ProviderError> {
    let (code, variables) = find(secure_boot)?;
    let copy = |from: &Path, name: &str| -> io::Result<()> {
        fs::copy(from, dir.join(name)).map(drop)
    };
    copy(&code, CODE)
        .and_then(|()| copy(&variables, VARIABLES))
        .map_err(|source| io_fault("copy firmware to", dir, source))
}
