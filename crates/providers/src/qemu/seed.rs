//! The volume that a guest reads at its first boot: a small FAT file system labelled
//! `CIDATA`, made in memory.

use std::io::{self, Cursor, Write};

use fatfs::{FileSystem, FormatVolumeOptions, FsOptions};
use machinist_core::machine::InitData;

/// The seed's file in a machine's directory.
pub(super) const FILE: &str = "seed.img";
const SMALLEST: usize = 512 << 10;
const SECTOR: usize = 512;

/// Builds the volume for the machine with this UID.
///
/// # Errors
/// When the content does not fit into a FAT file system.
pub(super) fn build(uid: &str, init: &InitData) -> io::Result<Vec<u8>> {
    let files = files(uid, init);
    let content: usize = files.iter().map(|(_, text)| text.len()).sum();
    // Twice the content leaves room for the file system's own tables at any size.
    let size = SMALLEST.max((content * 2 + SMALLEST).next_multiple_of(SECTOR));
    let mut volume = Cursor::new(vec![0; size]);
    let options = FormatVolumeOptions::new().volume_label(*b"CIDATA     ");
    fatfs::format_volume(&mut volume, options)?;
    {
        let system = FileSystem::new(&mut volume, FsOptions::new())?;
        for (name, text) in files {
            let mut file = system.root_dir().create_file(name)?;
            file.write_all(text.as_bytes())?;
            file.flush()?;
        }
        system.unmount()?;
    }
    Ok(volume.into_inner())
}

fn files(uid: &str, init: &InitData) -> Vec<(&'static str, String)> {
    let user_data = init.user_data.clone();
    let mut files = vec![
        // Cloud-init takes a seed for one only when both of these are there.
        ("user-data", user_data.unwrap_or_else(|| "#cloud-config\n{}\n".to_owned())),
        ("meta-data", init.meta_data.clone().unwrap_or_else(|| meta_data(uid, init))),
    ];
    if let Some(network) = &init.network_data {
        files.push(("network-config", network.clone()));
    }
    // Declared meta-data is not touched, so the keys take the other way in.
    if init.meta_data.is_some() && !init.ssh_keys.is_empty() {
        let keys = list(&init.ssh_keys);
        files.push(("vendor-data", format!("#cloud-config\nssh_authorized_keys:\n{keys}")));
    }
    files
}

fn meta_data(uid: &str, init: &InitData) -> String {
    let mut text = format!("instance-id: {uid}\n");
    if !init.hostname.is_empty() {
        text.push_str(&format!("local-hostname: {}\n", scalar(&init.hostname)));
    }
    if !init.ssh_keys.is_empty() {
        text.push_str("public-keys:\n");
        text.push_str(&list(&init.ssh_keys));
    }
    text
}

fn list(values: &[String]) -> String {
    values.iter().map(|value| format!("  - {}\n", scalar(value.trim()))).collect()
}

/// Plain where YAML allows that without a doubt, so that small readers cope; else quoted.
fn scalar(value: &str) -> String {
    let plain = value.starts_with(|first: char| first.is_ascii_alphabetic())
        && value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._+/=@ ".contains(c));
    match plain {
        true => value.to_owned(),
        false => serde_json::Value::from(value).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn read(volume: Vec<u8>, name: &str) -> Option<String> {
        let system = FileSystem::new(Cursor::new(volume), FsOptions::new()).unwrap();
        assert_eq!(system.volume_label().trim_end(), "CIDATA");
        let mut text = String::new();
        system.root_dir().open_file(name).ok()?.read_to_string(&mut text).unwrap();
        Some(text)
    }

    #[test]
    fn the_guest_finds_its_data() {
        let init = InitData {
            hostname: "web-1".to_owned(),
            user_data: Some("#!/bin/sh\necho hello\n".to_owned()),
            network_data: Some("version: 2\n".to_owned()),
            ssh_keys: vec!["ssh-ed25519 AAAA+/= me@host".to_owned(), "ssh-rsa B #: odd".to_owned()],
            ..InitData::default()
        };
        let volume = build("uid-1", &init).unwrap();
        assert_eq!(read(volume.clone(), "user-data").unwrap(), "#!/bin/sh\necho hello\n");
        assert_eq!(read(volume.clone(), "network-config").unwrap(), "version: 2\n");
        assert_eq!(
            read(volume, "meta-data").unwrap(),
            "instance-id: uid-1\nlocal-hostname: web-1\npublic-keys:\n  - ssh-ed25519 AAAA+/= me@host\n  - \"ssh-rsa B #: odd\"\n"
        );
    }

    #[test]
    fn declared_meta_data_is_kept_and_large_user_data_fits() {
        let init = InitData {
            meta_data: Some("instance-id: mine\n".to_owned()),
            user_data: Some("x".repeat(5 << 20)),
            ssh_keys: vec!["ssh-ed25519 A".to_owned()],
            ..InitData::default()
        };
        let volume = build("uid-1", &init).unwrap();
        assert_eq!(read(volume.clone(), "meta-data").unwrap(), "instance-id: mine\n");
        assert_eq!(read(volume.clone(), "user-data").unwrap().len(), 5 << 20);
        assert!(read(volume, "vendor-data").unwrap().contains("  - ssh-ed25519 A\n"));
    }
}
