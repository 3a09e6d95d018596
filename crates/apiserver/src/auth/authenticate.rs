//! From what a request carries to who sends it: a chain of ways to find out, the first that knows
//! decides. Whether the caller may do anything is decided elsewhere.

use std::net::IpAddr;

use http::header::AUTHORIZATION;
use http::{HeaderMap, Request};
use percent_encoding::percent_decode_str;

use super::{AUTHENTICATED, Identity};
use crate::core::Core;

/// The other end of a connection, as far as its certificate tells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Peer {
    /// Where it is.
    pub(crate) address: Option<IpAddr>,
    /// The holder of a certificate for clients, and when it ends.
    pub(crate) client: Option<(Identity, i64)>,
    /// When the certificate of a proxy that may speak for others ends.
    pub(crate) proxy_until: Option<i64>,
}

/// What a request carries that may say who sends it.
struct Presented<'a> {
    core: &'a Core,
    peer: &'a Peer,
    headers: &'a HeaderMap,
    /// Now, in seconds since 1970.
    now: i64,
}

/// One way to find out who sends a request.
trait Authenticator: Sync {
    /// Who it is, or nothing when this way does not tell.
    fn identify(&self, presented: &Presented<'_>) -> Option<Identity>;
}

/// The ways in which a caller can be known.
static CHAIN: [&dyn Authenticator; 3] = [&FrontProxy, &Certificate, &BearerToken];

/// Writes down in a request who sends it, if anybody vouches for them. Callers within the process
/// were written down before.
pub(crate) fn identify<B>(core: &Core, request: &mut Request<B>) {
    let found = request.extensions().get::<Peer>().and_then(|peer| {
        let presented = Presented {
            core,
            peer,
            headers: request.headers(),
            now: jiff::Timestamp::now().as_second(),
        };
        CHAIN.iter().find_map(|way| way.identify(&presented))
    });
    if let Some(identity) = found {
        request.extensions_mut().insert(identity.authenticated());
    }
    clear(request.headers_mut());
}

/// Takes out of the headers what nobody else may see.
fn clear(headers: &mut HeaderMap) {
    headers.remove(AUTHORIZATION);
    let remote: Vec<_> = headers
        .keys()
        .filter(|name| name.as_str().starts_with("x-remote-"))
        .cloned()
        .collect();
    for name in remote {
        headers.remove(name);
    }
}

impl Identity {
    /// The same caller, in the group of everyone whom somebody vouched for.
    #[must_use]
    pub(crate) fn authenticated(mut self) -> Self {
        if !self.groups.iter().any(|group| group == AUTHENTICATED) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}

/// A proxy that has authenticated its caller and says who it is.
struct FrontProxy;

impl Authenticator for FrontProxy {
    fn identify(&self, presented: &Presented<'_>) -> Option<Identity> {
        presented
            .peer
            .proxy_until
            .filter(|until| *until > presented.now)?;
        let texts = |name: &str| {
            let values = presented.headers.get_all(name).iter();
            values
                .filter_map(|value| value.to_str().ok())
                .map(str::to_owned)
        };
        let user = texts("x-remote-user").find(|user| !user.is_empty())?;
        let mut identity = Identity {
            user,
            uid: texts("x-remote-uid").next().unwrap_or_default(),
            groups: texts("x-remote-group")
                .filter(|group| !group.is_empty())
                .collect(),
            ..Identity::default()
        };
        for name in presented.headers.keys() {
            if let Some(key) = name.as_str().strip_prefix("x-remote-extra-") {
                let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
                identity
                    .extra
                    .entry(key)
                    .or_default()
                    .extend(texts(name.as_str()));
            }
        }
        Some(identity)
    }
}

/// The holder of a certificate that our authority signed.
struct Certificate;

impl Authenticator for Certificate {
    fn identify(&self, presented: &Presented<'_>) -> Option<Identity> {
        let (identity, until) = presented.peer.client.as_ref()?;
        (*until > presented.now).then(|| identity.clone())
    }
}

/// The holder of a token of a ServiceAccount.
struct BearerToken;

impl Authenticator for BearerToken {
    fn identify(&self, presented: &Presented<'_>) -> Option<Identity> {
        let token = bearer_token(presented.headers)?;
        match presented.core.token_holder(token, &[]) {
            Ok(holder) => Some(holder.identity),
            Err(error) => {
                tracing::debug!(%error, "a token was refused");
                None
            }
        }
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?.trim();
    let (scheme, rest) = text.split_once(' ')?;
    let token = rest.split(' ').next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}
