//! Names and addresses.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

/// A pattern of ours; one that does not parse makes its format refuse everything.
pub(super) fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

fn found_by(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// Four decimal bytes; leading zeros are allowed, as Kubernetes still allows them.
fn is_sloppy_ipv4(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    parts.len() == 4
        && parts.iter().all(|part| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_digit())
                && part.parse::<u8>().is_ok()
        })
}

/// Any address that is written with a dot, so also `::ffff:10.0.0.1`.
pub(super) fn is_ipv4(text: &str) -> bool {
    is_sloppy_ipv4(text) || (text.contains('.') && text.parse::<Ipv6Addr>().is_ok())
}

pub(super) fn is_ipv6(text: &str) -> bool {
    text.contains(':') && text.parse::<IpAddr>().is_ok()
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, prefix)) = text.split_once('/') else {
        return false;
    };
    let longest = if is_sloppy_ipv4(address) {
        32
    } else if address.parse::<Ipv6Addr>().is_ok() {
        128
    } else {
        return false;
    };
    !prefix.is_empty()
        && prefix.bytes().all(|byte| byte.is_ascii_digit())
        && prefix.parse::<u32>().is_ok_and(|bits| bits <= longest)
}

/// An EUI-48, EUI-64 or 20-octet address, with colons, dashes or dots between its groups.
pub(super) fn is_mac(text: &str) -> bool {
    let is_hex = |group: &str, len: usize| {
        group.len() == len && group.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    [(':', 2), ('-', 2), ('.', 4)].iter().any(|(mark, len)| {
        let groups: Vec<&str> = text.split(*mark).collect();
        matches!(groups.len() * len / 2, 6 | 8 | 20) && groups.iter().all(|g| is_hex(g, *len))
    })
}

/// Either one label with at most a second-place hyphen, or labels that end in a letters-only
/// domain: this is the rule that CRDs are checked by, odd as it is.
pub(super) fn is_hostname(text: &str) -> bool {
    static HOST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let inner = r"a-zA-Z0-9\p{S}\p{L}";
        pattern(&format!(
            r"^(?:[{inner}](?:-?[{inner}]{{0,62}})?|(?:[{inner}](?:[\-{inner}]{{0,61}}[{inner}])?\.)+[a-zA-Z\p{{L}}]{{2,63}})$"
        ))
    });
    found_by(&HOST, text) && text.len() <= 255 && text.split('.').all(|label| label.len() <= 63)
}

pub(super) fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && is_name_segment(text)
}

pub(super) fn is_long_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_name_segment)
}

fn is_name_segment(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().all(|byte| is_inner(byte) || byte == b'-')
        && text.bytes().next().is_some_and(is_inner)
        && text.bytes().last().is_some_and(is_inner)
}

/// One address, with or without a display name: `a@b` or `Name <a@b>`.
pub(super) fn is_email(text: &str) -> bool {
    static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let atom = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-[:^ascii:]]+";
        let dotted = format!(r"{atom}(?:\.{atom})*");
        let quoted = r#""(?:[^"\\\r\n]|\\.)*""#;
        let address = format!(r"(?:{dotted}|{quoted})@(?:{dotted}|\[[^\[\]\\]*\])");
        pattern(&format!(
            r"^\s*(?:{address}|(?:(?:{atom}|\.|{quoted})(?:\s*(?:{atom}|\.|{quoted}))*)?\s*<\s*{address}\s*>)\s*$"
        ))
    });
    found_by(&ADDRESS, text)
}

/// An absolute URI or an absolute path, as Go's `url.ParseRequestURI` takes it.
pub(super) fn is_request_uri(text: &str) -> bool {
    if text == "*" {
        return true;
    }
    if text.is_empty() || text.chars().any(|c| (c as u32) < 0x20 || c == '\u{7f}') {
        return false;
    }
    let (scheme, rest) = match scheme_of(text) {
        Ok(found) => found,
        Err(()) => return false,
    };
    let rest = rest.split('?').next().unwrap_or(rest);
    if !rest.starts_with('/') {
        return scheme;
    }
    let (authority, path) = match rest.strip_prefix("//") {
        // Three slashes are an empty host only after a scheme; a bare `///` is a path.
        Some(after) if scheme || !rest.starts_with("///") => match after.find('/') {
            Some(at) => after.split_at(at),
            None => (after, ""),
        },
        _ => ("", rest),
    };
    is_authority(authority) && has_valid_escapes(path)
}

/// Whether the text has a scheme, and what follows it.
fn scheme_of(text: &str) -> Result<(bool, &str), ()> {
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err(()),
            b':' => return Ok((true, &text[index + 1..])),
            _ => break,
        }
    }
    Ok((false, text))
}

fn is_authority(text: &str) -> bool {
    let host = match text.rsplit_once('@') {
        Some((user, host)) => {
            let user_ok = user
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte));
            if !user_ok || !has_valid_escapes(user) {
                return false;
            }
            host
        }
        None => text,
    };
    let port = if host.starts_with('[') {
        let Some(end) = host.rfind(']') else {
            return false;
        };
        &host[end + 1..]
    } else {
        host.rfind(':').map_or("", |at| &host[at..])
    };
    let port_ok = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    port_ok
        && has_valid_escapes(host)
        && !escapes_ascii(host)
        && host.bytes().all(|byte| {
            byte >= 0x80
                || byte.is_ascii_alphanumeric()
                || b"-_.~!$&'()*+,;=:[]<>\"%".contains(&byte)
        })
}

/// In a host only bytes beyond ASCII may be escaped, and the percent sign of a zone.
fn escapes_ascii(text: &str) -> bool {
    text.split('%').skip(1).any(|after| {
        after.starts_with(|c: char| ('0'..='7').contains(&c)) && !after.starts_with("25")
    })
}

fn has_valid_escapes(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().all(|(index, byte)| {
        *byte != b'%'
            || bytes
                .get(index + 1..index + 3)
                .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}
