//! Get and list: what is in the store, as one version of a kind shows it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use machinist_store::{Entry, Page, Revision, WatchError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Address;
use crate::codec;
use crate::core::Core;
use crate::registry::Kind;
use crate::selector::Selector;
use crate::status::ApiError;

/// How many objects a selective list takes from the store at least, to look for those selected.
const LOOKED_AT_A_TIME: usize = 500;

/// How a list's resource version is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VersionMatch {
    /// Exactly this state.
    Exact,
    /// This state or a later one.
    NotOlderThan,
}

/// Which part of a collection to list, as of when.
#[derive(Debug, Clone, Default)]
pub(crate) struct ListOptions {
    pub(crate) limit: Option<usize>,
    /// The token of the page before.
    pub(crate) token: Option<String>,
    pub(crate) version: Option<u64>,
    pub(crate) version_match: Option<VersionMatch>,
}

/// A page of a collection.
#[derive(Debug)]
pub(crate) struct Listed {
    entries: Vec<Entry>,
    /// The state that the page belongs to.
    pub(crate) revision: Revision,
    /// The token of the next page.
    pub(crate) token: Option<String>,
    /// How many objects follow, where that is known.
    pub(crate) remaining: Option<usize>,
}

impl Listed {
    /// The objects as the kind's version shows them.
    pub(crate) fn into_objects(self) -> Vec<Value> {
        self.entries.iter().map(codec::decode).collect()
    }

    /// The entries, as the kind's version shows them.
    pub(crate) fn into_entries(self) -> Vec<Entry> {
        self.entries
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Token {
    v: String,
    /// The revision of the first page; -1 when consistency was given up.
    rv: i64,
    /// The last key of the page before, relative to the collection.
    start: String,
}

impl Token {
    fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(self).unwrap_or_default())
    }

    fn decode(text: &str) -> Result<Self, ApiError> {
        let invalid = |why: String| {
            ApiError::bad_request(format!(
                "invalid continue token: continue key is not valid: {why}"
            ))
        };
        let bytes = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|e| invalid(e.to_string()))?;
        let token: Self =
            serde_json::from_slice(&bytes).map_err(|_| invalid(crate::http::complaint(&bytes)))?;
        if token.v != "meta.k8s.io/v1" {
            return Err(invalid(format!(
                "server does not recognize this encoded version {:?}",
                token.v
            )));
        }
        Ok(token)
    }
}

impl Core {
    /// One object.
    pub(crate) async fn get(&self, at: &Address) -> Result<Value, ApiError> {
        Ok(codec::decode(&self.get_entry(at).await?))
    }

    /// One object as its version serves it, not taken apart.
    pub(crate) async fn get_entry(&self, at: &Address) -> Result<Entry, ApiError> {
        let entry = self.store.get(&at.key()).ok_or_else(|| at.not_found())?;
        self.present_one(&at.kind, entry).await
    }

    /// A page of a collection.
    pub(crate) async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
        options: &ListOptions,
    ) -> Result<Listed, ApiError> {
        let prefix = kind.keys_in(namespace);
        let token = options.token.as_deref().map(Token::decode).transpose()?;
        if token.is_some() && options.version.is_some_and(|v| v > 0) {
            return Err(ApiError::bad_request(
                "specifying resource version is not allowed when using continue",
            ));
        }
        let at = self.list_revision(options, token.as_ref())?;
        let alone = namespace.is_some() || !kind.namespaced;
        if let Some(name) = selector.only_name().filter(|_| alone && token.is_none()) {
            return self.list_one(kind, namespace, name, selector, at).await;
        }
        let mut after = token.as_ref().map(|t| format!("{prefix}{}", t.start));
        let mut entries: Vec<Entry> = Vec::new();
        let mut revision = at;
        loop {
            let wanted = options.limit.map(|limit| match selector.is_everything() {
                true => limit,
                // Few of a page of the store may be for the client.
                false => limit.saturating_sub(entries.len()).max(LOOKED_AT_A_TIME),
            });
            let page = self.page(
                &prefix,
                after.as_deref(),
                wanted,
                at.or(revision),
                token.as_ref(),
            )?;
            let page_revision = *revision.get_or_insert(page.revision);
            let shown = match &token {
                Some(token) if token.rv > 0 => Revision(token.rv.unsigned_abs()),
                _ => page_revision,
            };
            let mut rest = self.present(kind, page.entries).await?.into_iter();
            let mut last = None;
            let is_full = |so_far: &[Entry]| options.limit.is_some_and(|l| so_far.len() >= l);
            while !is_full(&entries)
                && let Some(entry) = rest.next()
            {
                last = Some(entry.key.clone());
                if selector.is_everything() || selector.selects(&entry) {
                    entries.push(entry);
                }
            }
            let remaining = rest.len() + page.remaining;
            let Some(last) = last.filter(|_| remaining > 0) else {
                return Ok(Listed {
                    entries,
                    revision: shown,
                    token: None,
                    remaining: None,
                });
            };
            if is_full(&entries) {
                let start = last.strip_prefix(&prefix).unwrap_or_default().to_owned();
                let rv = i64::try_from(shown.0).unwrap_or(i64::MAX);
                let token = Token {
                    v: "meta.k8s.io/v1".into(),
                    rv,
                    start,
                };
                return Ok(Listed {
                    entries,
                    revision: shown,
                    token: Some(token.encode()),
                    remaining: selector.is_everything().then_some(remaining),
                });
            }
            after = Some(last.to_string());
        }
    }

    /// A collection of which only one name is wanted, without looking at the others.
    async fn list_one(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
        selector: &Selector,
        at: Option<Revision>,
    ) -> Result<Listed, ApiError> {
        let key = kind.key(namespace.unwrap_or_default(), name);
        // Of all keys that begin with this one, it comes first itself.
        let page = self.page(&key, None, Some(1), at, None)?;
        let found = page.entries.into_iter().filter(|e| *e.key == key);
        let found = self.present(kind, found.collect()).await?.into_iter();
        let entries = found.filter(|entry| selector.selects(entry)).collect();
        Ok(Listed {
            entries,
            revision: page.revision,
            token: None,
            remaining: None,
        })
    }

    /// The revision that a list must show, if it is bound to one.
    fn list_revision(
        &self,
        options: &ListOptions,
        token: Option<&Token>,
    ) -> Result<Option<Revision>, ApiError> {
        if let Some(token) = token {
            return Ok(u64::try_from(token.rv).ok().map(Revision));
        }
        let current = self.store.revision();
        match (options.version, options.version_match) {
            (Some(version), _) if version > current.0 => {
                Err(ApiError::too_large_resource_version(version, current.0))
            }
            (Some(version), Some(VersionMatch::Exact)) => Ok(Some(Revision(version))),
            _ => Ok(None),
        }
    }

    fn page(
        &self,
        prefix: &str,
        after: Option<&str>,
        limit: Option<usize>,
        at: Option<Revision>,
        token: Option<&Token>,
    ) -> Result<Page, ApiError> {
        let Some(at) = at else {
            return Ok(self.store.list(prefix, after, limit));
        };
        self.store
            .list_at(prefix, after, limit, at)
            .map_err(|error| match (error, token) {
                (WatchError::Future { current }, _) => {
                    ApiError::too_large_resource_version(at.0, current.0)
                }
                (_, Some(token)) => {
                    let mut expired = ApiError::expired(CONTINUE_EXPIRED);
                    let rest = Token {
                        v: token.v.clone(),
                        rv: -1,
                        start: token.start.clone(),
                    };
                    expired.continue_token = Some(rest.encode());
                    expired
                }
                (WatchError::Compacted { oldest }, None) => {
                    ApiError::expired(format!("too old resource version: {at} ({oldest})"))
                }
                (WatchError::Closed, None) => ApiError::internal("the store is closed"),
            })
    }
}

const CONTINUE_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
