//! From a path to what it names.

use http::Uri;
use percent_encoding::percent_decode_str;

/// What a path names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A collection, an object or a part of one.
    Resource(ResourcePath),
    /// Anything else: the parts of the path.
    Other(Vec<String>),
}

/// A path below `/api/v1` or `/apis/GROUP/VERSION`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) plural: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

/// The address of a watch that is asked for in the old way, `/api/v1/watch/…`, in the way of
/// today, `/api/v1/…?watch=true`; `None` for every other address.
pub(crate) fn of_old_watch(uri: &Uri) -> Option<Uri> {
    let mut parts = uri.path().splitn(6, '/').skip(1);
    let root = parts.next()?;
    let (group, version) = match root {
        "api" => (None, parts.next()?),
        "apis" => (Some(parts.next()?), parts.next()?),
        _ => return None,
    };
    if parts.next()? != "watch" {
        return None;
    }
    let before: Vec<&str> = [Some(root), group, Some(version)]
        .into_iter()
        .flatten()
        .collect();
    let prefix = format!("/{}/watch/", before.join("/"));
    let rest = uri.path().strip_prefix(&prefix).filter(|r| !r.is_empty())?;
    let query = uri.query().unwrap_or_default();
    // The first of several values counts.
    let address = format!("/{}/{rest}?watch=true&{query}", before.join("/"));
    address.parse().ok()
}

/// Reads a path.
pub(crate) fn parse(path: &str) -> Target {
    let parts: Vec<String> = path
        .split('/')
        .filter(|p| !p.is_empty())
        .map(|p| percent_decode_str(p).decode_utf8_lossy().into_owned())
        .collect();
    let words: Vec<&str> = parts.iter().map(String::as_str).collect();
    let (group, version, rest) = match words.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ => return Target::Other(parts),
    };
    let owned = |text: &&str| (*text).to_owned();
    let mut path = ResourcePath {
        group: group.into(),
        version: version.into(),
        ..ResourcePath::default()
    };
    let rest = match rest {
        // `namespaces/x/status` is about the namespace, `namespaces/x/machines` about what is in it.
        ["namespaces", _, "status" | "finalize"] | ["namespaces"] | ["namespaces", _] => rest,
        ["namespaces", namespace, rest @ ..] => {
            path.namespace = Some(owned(namespace));
            rest
        }
        rest => rest,
    };
    match rest {
        [plural] => path.plural = owned(plural),
        [plural, name] => {
            path.plural = owned(plural);
            path.name = Some(owned(name));
        }
        [plural, name, subresource] => {
            path.plural = owned(plural);
            path.name = Some(owned(name));
            path.subresource = Some(owned(subresource));
        }
        _ => return Target::Other(parts),
    }
    Target::Resource(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_watches() {
        for (old, new) in [
            (
                "/api/v1/watch/namespaces/a/secrets?timeoutSeconds=1",
                Some("/api/v1/namespaces/a/secrets?watch=true&timeoutSeconds=1"),
            ),
            ("/apis/g/v1/watch/ms/b", Some("/apis/g/v1/ms/b?watch=true&")),
            ("/apis/g/v1/watch", None),
            ("/apis/g/v1/watch/", None),
            ("/apis/g/v1/watches/b", None),
            ("/api/v1/namespaces/watch", None),
            ("/api", None),
        ] {
            let got = of_old_watch(&old.parse().unwrap());
            assert_eq!(got.map(|uri| uri.to_string()).as_deref(), new, "{old}");
        }
    }

    #[test]
    fn paths() {
        let show = |path: &str| match parse(path) {
            Target::Other(parts) => format!("other {}", parts.join(" ")),
            Target::Resource(p) => format!(
                "{}/{} ns={} {} name={} sub={}",
                p.group,
                p.version,
                p.namespace.unwrap_or_default(),
                p.plural,
                p.name.unwrap_or_default(),
                p.subresource.unwrap_or_default()
            ),
        };
        for (path, expected) in [
            ("/api", "other api"),
            ("/api/v1", "other api v1"),
            ("/apis/g/v1", "other apis g v1"),
            ("/api/v1/namespaces", "/v1 ns= namespaces name= sub="),
            ("/api/v1/namespaces/a", "/v1 ns= namespaces name=a sub="),
            (
                "/api/v1/namespaces/a/status",
                "/v1 ns= namespaces name=a sub=status",
            ),
            (
                "/api/v1/namespaces/a/secrets",
                "/v1 ns=a secrets name= sub=",
            ),
            (
                "/apis/g/v1/namespaces/a/ms/b/scale",
                "g/v1 ns=a ms name=b sub=scale",
            ),
            ("/apis/g/v1/ms", "g/v1 ns= ms name= sub="),
            ("/apis/g/v1/ms/b%2Fc", "g/v1 ns= ms name=b/c sub="),
            (
                "/apis/g/v1/ms/b/status/more",
                "other apis g v1 ms b status more",
            ),
        ] {
            assert_eq!(show(path), expected, "{path}");
        }
    }
}
