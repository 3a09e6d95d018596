//! What a guest reads at its first boot: the declared user data, and the keys for SSH.
//!
//! EC2 has one field for both, so they are put into one message of several parts, which
//! cloud-init takes apart again.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use machinist_core::{
    machine::InitData,
    provider::{ProviderError, ProviderResult},
};

/// EC2's limit, before base64.
const LONGEST: usize = 16 << 10;
const BOUNDARY: &str = "machinist-part";

/// The field's value, unless there is nothing to hand over.
///
/// # Errors
/// When it is too long, or something is declared that EC2 has no place for.
pub(super) fn encoded(init: &InitData) -> ProviderResult<Option<String>> {
    let refuse = |field: &'static str, reason: &str| ProviderError::Rejected {
        field,
        value: "…".to_owned(),
        reason: reason.to_owned(),
    };
    if init.format.is_none() {
        return Ok(None);
    }
    if init.meta_data.is_some() {
        return Err(refuse("metaData", "EC2 makes the meta-data itself"));
    }
    if init.network_data.is_some() {
        return Err(refuse("networkData", "EC2 configures interfaces itself"));
    }
    let text = match (&init.user_data, init.ssh_keys.as_slice()) {
        (None, []) => return Ok(None),
        (Some(data), []) => data.clone(),
        (None, keys) => authorized(keys),
        (Some(data), keys) => parts(data, &authorized(keys)),
    };
    if text.len() > LONGEST {
        return Err(refuse(
            "userData",
            "with the SSH keys it has more than 16 KiB",
        ));
    }
    Ok(Some(STANDARD.encode(text)))
}

fn authorized(keys: &[String]) -> String {
    let lines = keys.iter().map(|key| {
        let quoted = serde_json::Value::from(key.trim()).to_string();
        format!("  - {quoted}\n")
    });
    let lines: String = lines.collect();
    format!("#cloud-config\nssh_authorized_keys:\n{lines}")
}

/// The keys come second and are added to those that the declared data names.
fn parts(data: &str, keys: &str) -> String {
    let head =
        format!("Content-Type: multipart/mixed; boundary=\"{BOUNDARY}\"\nMIME-Version: 1.0\n");
    let kind = match data.starts_with("#cloud-config") {
        true => "text/cloud-config",
        false => "text/x-shellscript",
    };
    let part = |headers: &str, text: &str| {
        format!("--{BOUNDARY}\n{headers}Content-Transfer-Encoding: 7bit\n\n{text}\n")
    };
    let data = part(&format!("Content-Type: {kind}; charset=\"utf-8\"\n"), data);
    let keys = part(
        "Content-Type: text/cloud-config; charset=\"utf-8\"\nMerge-Type: list(append)+dict(no_replace,recurse_list)+str()\n",
        keys,
    );
    format!("{head}\n{data}{keys}--{BOUNDARY}--\n")
}

#[cfg(test)]
mod tests {
    use machinist_core::machine::SeedFormat;

    use super::*;

    fn check(user_data: Option<&str>, keys: &[&str]) -> Option<String> {
        let init = InitData {
            user_data: user_data.map(str::to_owned),
            ssh_keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            format: Some(SeedFormat::NoCloud),
            ..InitData::default()
        };
        let encoded = encoded(&init).unwrap()?;
        Some(String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap())
    }

    #[test]
    fn data_alone_is_handed_over_as_it_is() {
        assert_eq!(check(None, &[]), None);
        assert_eq!(check(Some("#!/bin/sh\n"), &[]).unwrap(), "#!/bin/sh\n");
        let keys = check(None, &["ssh-rsa A", "ssh-rsa \"B\""]).unwrap();
        let expected =
            "#cloud-config\nssh_authorized_keys:\n  - \"ssh-rsa A\"\n  - \"ssh-rsa \\\"B\\\"\"\n";
        assert_eq!(keys, expected);
    }

    #[test]
    fn data_and_keys_are_parts_of_one_message() {
        let both = check(Some("#!/bin/sh\necho"), &["ssh-rsa A"]).unwrap();
        assert!(both.starts_with("Content-Type: multipart/mixed"), "{both}");
        assert_eq!(both.matches("--machinist-part").count(), 3, "{both}");
        assert!(both.contains("text/x-shellscript"), "{both}");
        assert!(both.contains("#!/bin/sh\necho\n"), "{both}");
        assert!(both.contains("  - \"ssh-rsa A\"\n"), "{both}");
    }

    #[test]
    fn what_is_too_long_is_refused_without_being_shown() {
        let init = InitData {
            user_data: Some("secret".repeat(4000)),
            format: Some(SeedFormat::NoCloud),
            ..InitData::default()
        };
        let error = encoded(&init).unwrap_err().to_string();
        assert!(
            error.contains("16 KiB") && !error.contains("secret"),
            "{error}"
        );
    }
}
