//! What a driver is built from: where EC2 is, the keys, and how patient it is.

use std::time::Duration;

use machinist_core::provider::{ProviderError, ProviderResult, ProviderSpec};

use super::wire::Keys;
use crate::shared::way::Way;

/// How long EC2 may take to know an instance that it has made.
const SETTLING: Duration = Duration::from_secs(120);

/// What a driver is built from.
#[derive(Debug, Clone)]
pub struct AwsConfig {
    /// The region, such as `us-west-2`.
    pub region: String,
    /// Host name or URL of EC2's API.
    pub endpoint: String,
    /// The keys; never shown.
    pub keys: Keys,
    /// Which addresses may be asked, and who is believed there.
    pub way: Way,
    /// How long an id must have been unknown to EC2 before it counts as gone.
    pub settling: Duration,
}

impl AwsConfig {
    /// Takes it from a declared provider.
    ///
    /// # Errors
    /// Names the field that is missing or makes no sense, or the key that the Secret lacks.
    pub fn of(spec: &ProviderSpec) -> ProviderResult<AwsConfig> {
        let refuse = |field: &'static str, value: &str, reason: &str| ProviderError::Rejected {
            field,
            value: value.to_owned(),
            reason: reason.to_owned(),
        };
        let region = spec.region.clone().unwrap_or_default();
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if !region.bytes().all(plain) || region.split('-').count() < 3 {
            return Err(refuse(
                "spec.region",
                &region,
                "give a region such as us-west-2",
            ));
        }
        if let Some((key, value)) = spec.settings.iter().next() {
            let setting = format!("{key}: {value}");
            let reason = "this driver has no settings of its own";
            return Err(refuse("spec.config.customSettings", &setting, reason));
        }
        let keys = Keys::of(&spec.credentials).map_err(|error| ProviderError::Credentials {
            reason: error.to_string(),
        })?;
        let domain = match region.starts_with("cn-") {
            true => "amazonaws.com.cn",
            false => "amazonaws.com",
        };
        let endpoint = spec.endpoint.clone();
        Ok(AwsConfig {
            endpoint: endpoint.unwrap_or_else(|| format!("ec2.{region}.{domain}")),
            region,
            keys,
            way: Way::of(spec)?,
            settling: SETTLING,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use machinist_core::provider::{Access, Courtesy, Credentials, Trust};

    use super::*;

    fn spec(region: &str, held: &[&str]) -> ProviderSpec {
        let held = held
            .iter()
            .map(|key| ((*key).to_owned(), b"s3cr3t".to_vec()));
        ProviderSpec {
            name: "aws".to_owned(),
            namespace: "default".to_owned(),
            uid: "uid".to_owned(),
            kind: "aws".to_owned(),
            region: Some(region.to_owned()),
            endpoint: None,
            timeout: None,
            courtesy: Courtesy::default(),
            images: BTreeMap::new(),
            settings: BTreeMap::new(),
            link_local: false,
            trust: Trust::Usual,
            access: Access::Opaque,
            credentials: Credentials::new(held.collect()),
        }
    }

    #[test]
    fn a_declared_provider_says_where_and_with_which_keys() {
        let both = ["access-key-id", "secret-access-key"];
        let config = AwsConfig::of(&spec("us-west-2", &both)).unwrap();
        assert_eq!(config.endpoint, "ec2.us-west-2.amazonaws.com");
        assert!(!format!("{config:?}").contains("s3cr3t"));
        let china = AwsConfig::of(&spec("cn-north-1", &both)).unwrap();
        assert_eq!(china.endpoint, "ec2.cn-north-1.amazonaws.com.cn");
        for region in ["", "Oregon", "us west 2", "us-west"] {
            assert!(AwsConfig::of(&spec(region, &both)).is_err(), "{region}");
        }
        let half = AwsConfig::of(&spec("us-west-2", &both[..1])).unwrap_err();
        assert_eq!(half.reason(), "CredentialsRefused");
        assert!(half.to_string().contains("secret-access-key"), "{half}");
    }
}
