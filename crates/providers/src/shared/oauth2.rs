//! Tokens of an OAuth2 client: fetched where the provider says, used while they last, and fetched
//! again ahead of their end.
//!
//! What an endpoint says is believed within reason: a token is never asked for more often than twice
//! a minute, nor used for longer than a day, whatever lifetime it claims. One token is fetched at a
//! time, and a token that still lasts is used meanwhile.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use base64::Engine as _;
use futures::StreamExt;
use machinist_core::provider::{Confidential, OAuth2, ProviderError, ProviderResult};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Response, StatusCode, header};
use serde_json::Value;

use super::{http, way::Way};

/// How long the endpoint may take.
const LIMIT: Duration = Duration::from_secs(15);
/// The largest answer.
const LARGEST: usize = 256 << 10;
/// A token is used for this long at least, whatever is said of it.
const SHORTEST: Duration = Duration::from_secs(30);
/// A token is used for this long at most, whatever is said of it.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// The lifetime of a token of which nothing is said.
const UNSAID: Duration = Duration::from_secs(5 * 60);
/// A token that the platform refuses is replaced, but no sooner than this after it came.
const REPLACE_AFTER: Duration = Duration::from_secs(10);

const FIELD: &str = "spec.authentication.oauth2.tokenURL";

/// Tells the time; a test has its own.
pub type Now = Arc<dyn Fn() -> Instant + Send + Sync>;

/// Where tokens come from; clones share them.
#[derive(Clone)]
pub struct Tokens(Arc<Inner>);

struct Inner {
    oauth2: OAuth2,
    url: reqwest::Url,
    way: Way,
    http: reqwest::Client,
    now: Now,
    held: Mutex<Option<Token>>,
    /// Held by whoever fetches.
    fetching: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct Token {
    text: Confidential,
    came: Instant,
    lifetime: Duration,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tokens").field(&self.0.url.as_str()).finish()
    }
}

impl Tokens {
    /// Tokens for this client.
    ///
    /// # Errors
    /// When the endpoint is no URL that secrets may be sent to.
    pub fn new(oauth2: OAuth2, way: Way) -> ProviderResult<Tokens> {
        Tokens::with_time(oauth2, way, Arc::new(Instant::now))
    }

    /// The same with another clock.
    ///
    /// # Errors
    /// As above.
    pub fn with_time(oauth2: OAuth2, way: Way, now: Now) -> ProviderResult<Tokens> {
        let url = http::endpoint(FIELD, &oauth2.url, way.reach)?;
        let client = way
            .builder_beside()
            .timeout(LIMIT)
            .build()
            .map_err(|error| ProviderError::transport("could not prepare TLS", error))?;
        Ok(Tokens(Arc::new(Inner {
            oauth2,
            url,
            way,
            http: client,
            now,
            held: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        })))
    }

    /// A token that is good now.
    ///
    /// # Errors
    /// When there is none and none can be had: the client is refused, or nothing is known.
    pub async fn token(&self) -> ProviderResult<Confidential> {
        let inner = &self.0;
        let held = inner.lasting();
        if let Some(token) = &held
            && !token.is_due((inner.now)())
        {
            return Ok(token.text.clone());
        }
        // One that still lasts is good enough while another fetches the next.
        let _turn = match &held {
            Some(token) => match inner.fetching.try_lock() {
                Ok(turn) => turn,
                Err(_) => return Ok(token.text.clone()),
            },
            None => inner.fetching.lock().await,
        };
        if let Some(token) = inner.lasting().filter(|token| !token.is_due((inner.now)())) {
            return Ok(token.text);
        }
        match (inner.fetch().await, held) {
            (Ok(token), _) => {
                let text = token.text.clone();
                *inner.held() = Some(token);
                Ok(text)
            }
            (Err(error), Some(token)) => {
                tracing::warn!(url = %inner.url, %error, "the next token is fetched later");
                Ok(token.text)
            }
            (Err(error), None) => Err(error),
        }
    }

    /// The platform refused this token, whatever its lifetime: the next call gets another.
    pub fn refused(&self, token: &Confidential) {
        let mut held = self.0.held();
        let now = (self.0.now)();
        let replaced = held.as_ref().is_some_and(|held| {
            held.text == *token && now.duration_since(held.came) >= REPLACE_AFTER
        });
        if replaced {
            *held = None;
        }
    }

    /// How long the token that is held still lasts.
    pub fn lasts(&self) -> Option<Duration> {
        let token = self.0.lasting()?;
        let age = (self.0.now)().duration_since(token.came);
        Some(token.lifetime.saturating_sub(age))
    }
}

impl Token {
    /// Whether the next one should be fetched: after four fifths of its lifetime.
    fn is_due(&self, now: Instant) -> bool {
        now.duration_since(self.came) >= self.lifetime * 4 / 5
    }
}

impl Inner {
    fn held(&self) -> MutexGuard<'_, Option<Token>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The token that is held, while it lasts.
    fn lasting(&self) -> Option<Token> {
        let now = (self.now)();
        let held = self.held();
        let lasts = |token: &&Token| now.duration_since(token.came) < token.lifetime;
        held.as_ref().filter(lasts).cloned()
    }

    async fn fetch(&self) -> ProviderResult<Token> {
        let came = (self.now)();
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let OAuth2 { client, secret, .. } = &self.oauth2;
        let pair = format!("{}:{}", encode(client), encode(secret.reveal()));
        let basic = base64::engine::general_purpose::STANDARD.encode(pair);
        let mut body = "grant_type=client_credentials".to_owned();
        if !self.oauth2.scopes.is_empty() {
            body = format!("{body}&scope={}", encode(&self.oauth2.scopes.join(" ")));
        }
        let request = self
            .http
            .post(self.url.clone())
            .header(header::AUTHORIZATION, format!("Basic {basic}"))
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body);
        let silence = |error: reqwest::Error| {
            let what = format!("asking {} for a token", self.url);
            let unsent = self.way.unsent(FIELD, &self.url, &error);
            unsent.unwrap_or_else(|| ProviderError::transport(what, error.without_url()))
        };
        let answer = request.send().await.map_err(silence)?;
        let status = answer.status();
        let place = answer.headers().get(header::LOCATION).cloned();
        let wait = http::retry_after(answer.headers());
        let body = limited(answer).await.map_err(silence)?;
        if status.is_redirection() {
            let place = place.and_then(|place| place.to_str().ok().map(str::to_owned));
            return Err(ProviderError::Rejected {
                field: FIELD,
                value: self.url.to_string(),
                reason: format!(
                    "it redirects to {}, where no secret is sent; give the URL that answers itself",
                    place.as_deref().unwrap_or("somewhere else")
                ),
            });
        }
        let answer: Option<Value> = serde_json::from_slice(&body).ok();
        match status {
            StatusCode::OK => self.read(answer.as_ref(), came),
            StatusCode::TOO_MANY_REQUESTS => Err(ProviderError::Throttled {
                reason: format!("{} wants to be asked for fewer tokens", self.url),
                retry_after: wait,
            }),
            status if status.is_client_error() => Err(self.refusal(status, answer.as_ref())),
            status => Err(self.garbage(format!("it answered with status {}", status.as_u16()))),
        }
    }

    fn read(&self, answer: Option<&Value>, came: Instant) -> ProviderResult<Token> {
        let Some(Value::Object(answer)) = answer else {
            return Err(self.garbage("its answer is no JSON object".into()));
        };
        let kind = answer.get("token_type").and_then(Value::as_str);
        if kind.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
            return Err(self.garbage("its token is no bearer token".into()));
        }
        let text = answer.get("access_token").and_then(Value::as_str);
        let plain = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        let Some(text) = text.filter(plain) else {
            return Err(self.garbage("its answer has no access_token that can be sent".into()));
        };
        Ok(Token {
            text: Confidential::new(text),
            came,
            lifetime: lifetime(answer.get("expires_in")),
        })
    }

    /// The codes of RFC 6749 are ours to repeat; other text of the answer is not.
    fn refusal(&self, status: StatusCode, answer: Option<&Value>) -> ProviderError {
        let code = answer.and_then(|answer| answer.get("error")?.as_str());
        let known = [
            "invalid_request",
            "invalid_client",
            "invalid_grant",
            "unauthorized_client",
            "unsupported_grant_type",
            "invalid_scope",
        ];
        let code = code.filter(|code| known.contains(code));
        match code {
            Some("invalid_scope") => ProviderError::Rejected {
                field: "spec.authentication.oauth2.scopes",
                value: self.oauth2.scopes.join(" "),
                reason: format!("{} does not grant them (invalid_scope)", self.url),
            },
            Some(code) => self.refused(code),
            None if [400, 401, 403].contains(&status.as_u16()) => {
                self.refused(&format!("status {}", status.as_u16()))
            }
            None => self.garbage(format!("it answered with status {}", status.as_u16())),
        }
    }

    fn refused(&self, why: &str) -> ProviderError {
        ProviderError::Credentials {
            reason: format!(
                "{} gives client {} no token ({why}); check spec.authentication.oauth2.clientId and the Secret that clientSecretRef names",
                self.url, self.oauth2.client
            ),
        }
    }

    fn garbage(&self, what: String) -> ProviderError {
        ProviderError::transport(format!("asking {} for a token", self.url), what)
    }
}

/// How long a token is used. Nothing said, or nothing that is a time, is a short while.
fn lifetime(said: Option<&Value>) -> Duration {
    let seconds = match said {
        Some(Value::Number(number)) => number.as_f64(),
        // Some endpoints quote it.
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    match seconds.filter(|seconds: &f64| seconds.is_finite()) {
        Some(seconds) => Duration::try_from_secs_f64(seconds.max(0.0))
            .unwrap_or(LONGEST)
            .clamp(SHORTEST, LONGEST),
        None => UNSAID,
    }
}

/// The body, cut off where no token would be so long.
async fn limited(answer: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut bytes = Vec::new();
    let mut parts = answer.bytes_stream();
    while let Some(part) = parts.next().await {
        bytes.extend_from_slice(&part?);
        if bytes.len() > LARGEST {
            bytes.clear();
            break;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
