//! HTTP clients that go only where they may: not to link-local addresses, where the clouds' metadata
//! services hand out credentials to whoever asks from the right host.
//!
//! An address is judged wherever one comes up: in what is declared, in what a name resolves to, and
//! in where an answer redirects to.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use machinist_core::provider::{ProviderError, ProviderResult, ProviderSpec};
use reqwest::{
    ClientBuilder, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{HeaderMap, RETRY_AFTER},
    redirect,
};
use thiserror::Error;

/// How long it may take to reach a server.
const CONNECT_LIMIT: Duration = Duration::from_secs(20);
/// How often an answer may send us on.
const REDIRECTS: usize = 10;
/// Metadata services beyond the link-local ranges.
const METADATA_NAMES: [&str; 4] = [
    "metadata.google.internal",
    "metadata.goog",
    "metadata",
    "instance-data",
];
const METADATA_V4: Ipv4Addr = Ipv4Addr::new(100, 100, 100, 200);
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
];

/// The setting of a provider that allows what is otherwise refused.
pub const SETTING: &str = "allowLinkLocal";

/// Which addresses may be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// All but link-local ones and the clouds' metadata services.
    #[default]
    Usual,
    /// All, because the provider says so.
    Anywhere,
}

impl Reach {
    /// What a declared provider allows.
    pub fn of(spec: &ProviderSpec) -> Reach {
        match spec.link_local {
            true => Reach::Anywhere,
            false => Reach::Usual,
        }
    }
}

/// An address that is not asked.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ForbiddenAddress {
    /// It is named.
    #[error(
        "{0} is link-local or a metadata service, which is not asked unless the provider's spec.config.customSettings has {SETTING}: \"true\""
    )]
    Named(String),
    /// A name leads there.
    #[error(
        "{name} leads to {address}, which is link-local or a metadata service and is not asked unless the provider's spec.config.customSettings has {SETTING}: \"true\""
    )]
    Resolved {
        /// The name.
        name: String,
        /// Where it leads.
        address: IpAddr,
    },
}

/// Whether an address is link-local, or a metadata service, in whatever form it is written.
fn is_forbidden(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local() || v4 == METADATA_V4,
        IpAddr::V6(v6) => {
            let [.., high, low] = v6.segments();
            let embedded = Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
            let prefix = &v6.segments()[..6];
            // Mapped, compatible and translated addresses end in the one that is meant.
            let embeds = [
                [0, 0, 0, 0, 0, 0xffff],
                [0, 0, 0, 0, 0, 0],
                [0x64, 0xff9b, 0, 0, 0, 0],
            ];
            v6.is_unicast_link_local()
                || METADATA_V6.contains(&v6)
                || (embeds.iter().any(|embed| embed == prefix)
                    && is_forbidden(IpAddr::V4(embedded)))
        }
    }
}

/// Judges where a URL leads, as far as it says so itself.
///
/// # Errors
/// When it names an address or a host that is not asked.
pub fn check(url: &Url, reach: Reach) -> Result<(), ForbiddenAddress> {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_matches(['[', ']']).trim_end_matches('.');
    let named = host.to_ascii_lowercase();
    let forbidden = match named.parse::<IpAddr>() {
        Ok(address) => is_forbidden(address),
        Err(_) => METADATA_NAMES.contains(&named.as_str()),
    };
    match forbidden && reach == Reach::Usual {
        true => Err(ForbiddenAddress::Named(named)),
        false => Ok(()),
    }
}

/// An endpoint that secrets may be sent to: a host name or a URL, encrypted unless it is this host.
///
/// # Errors
/// Names the field, and what is wrong with its value.
pub fn endpoint(field: &'static str, text: &str, reach: Reach) -> ProviderResult<Url> {
    let refuse = |reason: &str| ProviderError::Rejected {
        field,
        value: text.to_owned(),
        reason: reason.to_owned(),
    };
    let full = match text.contains("://") {
        true => text.to_owned(),
        false => format!("https://{text}"),
    };
    let url = Url::parse(&full).map_err(|_| refuse("give a host name or a URL"))?;
    let host = url.host_str().unwrap_or_default();
    let local = ["127.0.0.1", "localhost", "[::1]"].contains(&host);
    match url.scheme() {
        "https" => {}
        "http" if local => {}
        _ => return Err(refuse("only https is used beyond this host")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ProviderError::Rejected {
            field,
            // What is before the host may be a secret.
            value: host.to_owned(),
            reason: "keys belong in the provider's Secret, not in a URL".to_owned(),
        });
    }
    check(&url, reach).map_err(|error| refuse(&error.to_string()))?;
    Ok(url)
}

/// A client that goes only where it may. It follows redirects that lead to good places.
pub fn builder(reach: Reach) -> ClientBuilder {
    // A provider of cryptography that somebody chose before stays.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let policy = redirect::Policy::custom(move |attempt| {
        if attempt.previous().len() > REDIRECTS {
            return attempt.error("too many redirects");
        }
        match check(attempt.url(), reach) {
            Ok(()) => attempt.follow(),
            Err(error) => attempt.error(error),
        }
    });
    reqwest::Client::builder()
        .user_agent(concat!("machinist/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_LIMIT)
        .redirect(policy)
        .dns_resolver(Resolver(reach))
}

/// When a server says to come back, in whole seconds.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

/// What kept a request from being sent, where that was its address.
pub fn forbidden(error: &(dyn std::error::Error + 'static)) -> Option<ForbiddenAddress> {
    let mut cause = Some(error);
    while let Some(next) = cause {
        if let Some(found) = next.downcast_ref::<ForbiddenAddress>() {
            return Some(found.clone());
        }
        cause = next.source();
    }
    None
}

/// Resolves names as the system does, and refuses what leads where nobody may go.
struct Resolver(Reach);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (name, reach) = (name.as_str().to_owned(), self.0);
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let bad = found
                .iter()
                .map(SocketAddr::ip)
                .find(|ip| is_forbidden(*ip));
            match bad {
                Some(address) if reach == Reach::Usual => {
                    Err(ForbiddenAddress::Resolved { name, address }.into())
                }
                _ => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_and_metadata_addresses_are_refused_in_every_spelling() {
        let bad = [
            "http://169.254.169.254/latest/meta-data/",
            "https://169.254.0.1",
            "http://2852039166/",
            "http://0xa9fea9fe/",
            "http://0251.0376.0251.0376/",
            "http://[fe80::1]/",
            "http://[fd00:ec2::254]/",
            "http://[::ffff:169.254.169.254]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[64:ff9b::a9fe:a9fe]/",
            "http://metadata.google.internal/computeMetadata/v1/",
            "http://METADATA.google.internal./",
            "http://100.100.100.200/",
        ];
        for text in bad {
            let url = Url::parse(text).unwrap();
            assert!(check(&url, Reach::Usual).is_err(), "{text}");
            assert_eq!(check(&url, Reach::Anywhere), Ok(()), "{text}");
        }
        for text in [
            "https://ec2.us-west-2.amazonaws.com",
            "http://127.0.0.1:5000",
            "https://10.0.0.1",
            "https://[fd00:ec2::255]",
            "https://metadata.example.com",
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!(check(&url, Reach::Usual), Ok(()), "{text}");
        }
    }

    #[test]
    fn endpoints_are_names_or_urls_and_never_in_the_clear() {
        let check = |text: &str| endpoint("spec.config.endpoint", text, Reach::Usual);
        assert_eq!(
            check("vcenter.example.com").unwrap().as_str(),
            "https://vcenter.example.com/"
        );
        assert!(check("http://127.0.0.1:5000").is_ok());
        for bad in [
            "http://ec2.example.com",
            "ftp://x",
            "https://user:s3cr3t@x",
            "https://",
            "a b",
            "169.254.169.254",
        ] {
            let error = check(bad).unwrap_err().to_string();
            assert!(error.contains("spec.config.endpoint"), "{error}");
            assert!(!error.contains("s3cr3t"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_to_a_forbidden_address_is_not_asked() {
        // No name leads there on every system; a literal takes the same way through the resolver.
        let good = Resolver(Reach::Usual).resolve("localhost".parse().unwrap());
        assert!(good.await.unwrap().count() > 0);
        let bad = Resolver(Reach::Usual).resolve("169.254.169.254".parse().unwrap());
        let Err(error) = bad.await else {
            panic!("it was resolved");
        };
        assert!(forbidden(error.as_ref()).is_some(), "{error}");
        let allowed = Resolver(Reach::Anywhere).resolve("169.254.169.254".parse().unwrap());
        assert!(allowed.await.is_ok());
    }
}
