//! Speaking for somebody else: what the headers ask for, and whether the caller may.
//!
//! As in Kubernetes 1.36 there are several ways to be allowed, tried in order: ones that are bound
//! to what is done in the other's name (`impersonate-on:MODE:VERB` with `impersonate:MODE`), and
//! last the old, unbounded `impersonate`. The first refusal is what a caller is told.

use http::HeaderMap;
use percent_encoding::percent_decode_str;

use super::attributes::{Action, Resource};
use super::{AUTHENTICATED, Identity, MASTERS};
use crate::status::ApiError;

const ANONYMOUS: &str = "system:anonymous";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const EXTRA: &str = "impersonate-extra-";

/// A way to be allowed to speak for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Node,
    Account,
    User,
    Unbounded,
}

const MODES: [Mode; 4] = [Mode::Node, Mode::Account, Mode::User, Mode::Unbounded];

impl Mode {
    fn name(self) -> Option<&'static str> {
        match self {
            Self::Node => Some("arbitrary-node"),
            Self::Account => Some("serviceaccount"),
            Self::User => Some("user-info"),
            Self::Unbounded => None,
        }
    }

    /// Whether this way is one to somebody like that.
    fn leads_to(self, wanted: &Identity) -> bool {
        let name_alone =
            wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
        match (self, Kind::of(&wanted.user)) {
            (Self::Node, Kind::Node(_)) | (Self::Account, Kind::Account(..)) => name_alone,
            (Self::User, Kind::User) | (Self::Unbounded, _) => true,
            (Self::Node | Self::Account | Self::User, _) => false,
        }
    }
}

/// What a user's name says of the user.
enum Kind<'a> {
    Node(&'a str),
    Account(&'a str, &'a str),
    User,
}

impl<'a> Kind<'a> {
    fn of(user: &'a str) -> Self {
        if let Some(name) = user.strip_prefix("system:node:") {
            return Self::Node(name);
        }
        let account = user.strip_prefix("system:serviceaccount:");
        match account.and_then(|rest| rest.split_once(':')) {
            Some((namespace, name))
                if !namespace.is_empty() && !name.is_empty() && !name.contains(':') =>
            {
                Self::Account(namespace, name)
            }
            _ => Self::User,
        }
    }
}

/// Whom the headers ask to speak for, as they say it.
pub(crate) fn wanted(headers: &HeaderMap) -> Result<Option<Identity>, ApiError> {
    let texts = |name: &str| {
        let values = headers.get_all(name).iter();
        let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        values.collect::<Vec<_>>()
    };
    let first = |name: &str| texts(name).into_iter().next().unwrap_or_default();
    let mut wanted = Identity {
        user: first("impersonate-user"),
        uid: first("impersonate-uid"),
        groups: texts("impersonate-group"),
        ..Identity::default()
    };
    for name in headers.keys() {
        if let Some(key) = name.as_str().strip_prefix(EXTRA) {
            let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
            wanted
                .extra
                .entry(key)
                .or_default()
                .extend(texts(name.as_str()));
        }
    }
    if !wanted.user.is_empty() {
        return Ok(Some(wanted));
    }
    if wanted == Identity::default() {
        return Ok(None);
    }
    let message = "requested groups, a UID or extra values without impersonating a user name";
    Err(ApiError::bad_request(message))
}

/// Takes out of the headers that somebody speaks for somebody else.
pub(crate) fn clear(headers: &mut HeaderMap) {
    let names: Vec<_> = headers
        .keys()
        .filter(|name| name.as_str().starts_with("impersonate-"))
        .cloned()
        .collect();
    for name in names {
        headers.remove(name);
    }
}

/// The user that the caller becomes, if `check` allows what that takes; `action` is what they then
/// want to do.
pub(crate) fn assume(
    caller: &Identity,
    wanted: &Identity,
    action: &Action,
    check: impl Fn(&Action) -> Result<(), ApiError>,
) -> Result<Identity, ApiError> {
    let mut refused = None;
    for mode in MODES.into_iter().filter(|mode| mode.leads_to(wanted)) {
        match by(mode, caller, wanted, action, &check) {
            Ok(()) => return Ok(complete(wanted.clone())),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| ApiError::internal("all impersonation modes failed")))
}

fn by(
    mode: Mode,
    caller: &Identity,
    wanted: &Identity,
    action: &Action,
    check: &impl Fn(&Action) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    let (verb, group) = match mode.name() {
        Some(name) => {
            let verb = format!("impersonate-on:{name}:{}", action.verb);
            check(&Action {
                verb,
                object: action.object.clone(),
            })?;
            (format!("impersonate:{name}"), "authentication.k8s.io")
        }
        None => ("impersonate".to_owned(), ""),
    };
    let action = |group: &str, resource: &str, name: &str| {
        let resource = Resource {
            group: group.into(),
            version: "v1".into(),
            resource: resource.into(),
            name: name.into(),
            ..Resource::default()
        };
        Action::on(verb.clone(), resource)
    };
    let user = match (Kind::of(&wanted.user), mode) {
        (Kind::Node(name), Mode::Node) => action(group, "nodes", name),
        (Kind::Account(namespace, name), _) => {
            let mut action = action(group, "serviceaccounts", name);
            if let super::attributes::Object::Resource(resource) = &mut action.object {
                resource.namespace = namespace.into();
            }
            action
        }
        (Kind::Node(_) | Kind::User, _) => action(group, "users", &wanted.user),
    };
    check(&user)?;
    if !wanted.uid.is_empty() {
        check(&action("authentication.k8s.io", "uids", &wanted.uid))?;
    }
    let bounded = mode != Mode::Unbounded;
    for name in &wanted.groups {
        let action = action(group, "groups", name);
        // Nobody gets to the top by a bounded way.
        if bounded && (name.is_empty() || name == MASTERS) {
            let why = match name.as_str() {
                "" => "impersonating the empty string group is not allowed",
                _ => "impersonating the system:masters group is not allowed",
            };
            return Err(action.forbidden(&caller.user, why));
        }
        check(&action)?;
    }
    for (key, values) in &wanted.extra {
        for value in values {
            let mut action = action("authentication.k8s.io", "userextras", value);
            if let super::attributes::Object::Resource(resource) = &mut action.object {
                resource.subresource.clone_from(key);
            }
            check(&action)?;
        }
    }
    Ok(())
}

/// Adds the groups that a user of that name is always in.
fn complete(mut user: Identity) -> Identity {
    let named = std::mem::take(&mut user.groups);
    user.groups = match Kind::of(&user.user) {
        Kind::Account(namespace, _) if named.is_empty() => vec![
            "system:serviceaccounts".into(),
            format!("system:serviceaccounts:{namespace}"),
        ],
        _ => named,
    };
    let has = |group: &str| user.groups.iter().any(|g| g == group);
    if user.user == ANONYMOUS {
        if !has(UNAUTHENTICATED) {
            user.groups.push(UNAUTHENTICATED.into());
        }
    } else if !has(UNAUTHENTICATED) && !has(AUTHENTICATED) {
        user.groups.push(AUTHENTICATED.into());
    }
    user
}
