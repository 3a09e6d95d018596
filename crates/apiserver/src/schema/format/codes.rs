//! Identifiers, numbers with check digits, colours and encodings.

/// Twelve bytes in hexadecimal.
pub(super) fn is_object_id(text: &str) -> bool {
    text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A UUID of any or of one version; each dash may be left out.
pub(super) fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut rest = text;
    let mut digits = String::with_capacity(32);
    for (index, len) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some(group) = rest.get(..len) else {
            return false;
        };
        digits.push_str(group);
        rest = &rest[len..];
    }
    let nibble = |index: usize| digits.as_bytes().get(index).map(u8::to_ascii_lowercase);
    let version_ok = version.is_none_or(|version| nibble(12) == Some(version as u8));
    // Only versions 4 and 5 are held to the RFC 4122 variant.
    let variant_ok = !matches!(version, Some('4' | '5'))
        || matches!(nibble(16), Some(b'8' | b'9' | b'a' | b'b'));
    rest.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && version_ok
        && variant_ok
}

fn without_separators(text: &str) -> Vec<u8> {
    text.chars()
        .filter(|c| !c.is_whitespace() && *c != '-')
        .map(|c| u8::try_from(c).unwrap_or(b'?'))
        .collect()
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let digits = without_separators(text);
    if digits.len() != 10 {
        return false;
    }
    let mut sum = 0;
    for (weight, digit) in (1u32..).zip(&digits) {
        sum += weight
            * match digit {
                b'0'..=b'9' => u32::from(digit - b'0'),
                b'X' if weight == 10 => 10,
                _ => return false,
            };
    }
    sum % 11 == 0
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let digits = without_separators(text);
    if digits.len() != 13 || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum: u32 = digits
        .iter()
        .enumerate()
        .map(|(index, digit)| u32::from(digit - b'0') * if index % 2 == 0 { 1 } else { 3 })
        .sum();
    sum.is_multiple_of(10)
}

/// A card number of a known issuer with a good Luhn digit; other characters are skipped.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let number = |range: std::ops::Range<usize>| {
        digits
            .get(range)
            .and_then(|part| part.parse::<u32>().ok())
            .unwrap_or(0)
    };
    let issuer_ok = match digits.len() {
        13 => digits.starts_with('4'),
        14 => matches!(number(0..3), 300..=305) || matches!(number(0..2), 36 | 38),
        15 => matches!(number(0..2), 34 | 37) || matches!(number(0..4), 2131 | 1800),
        16 => {
            digits.starts_with('4')
                || matches!(number(0..2), 51..=55 | 65 | 35)
                || number(0..4) == 6011
        }
        _ => false,
    };
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, digit)| {
            let digit = u32::from(digit - b'0') * if index % 2 == 1 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    issuer_ok && sum.is_multiple_of(10)
}

/// `123-45-6789` or with blanks; the undivided form is too short for upstream's own check.
pub(super) fn is_ssn(text: &str) -> bool {
    text.len() == 11
        && text.bytes().enumerate().all(|(index, byte)| match index {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}

pub(super) fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn is_rgb_color(text: &str) -> bool {
    let Some(inner) = text
        .strip_prefix("rgb(")
        .and_then(|text| text.strip_suffix(')'))
    else {
        return false;
    };
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    parts.len() == 3
        && parts.iter().all(|part| {
            part.bytes().all(|byte| byte.is_ascii_digit())
                && (part.len() == 1 || !part.starts_with('0'))
                && part.parse::<u8>().is_ok()
        })
}

/// Padded standard base64; the empty string is none.
pub(super) fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}
