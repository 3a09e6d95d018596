//! Dates, times and durations.

use std::sync::LazyLock;

use regex::Regex;

use super::net::pattern;

/// A full date of RFC 3339, `2006-01-02`, that exists in the calendar.
pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(index, byte)| match index {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
        && text.parse::<jiff::civil::Date>().is_ok()
}

/// A date-time of RFC 3339; as upstream, seconds end at 59 and the offset is not range-checked.
pub(super) fn is_date_time(text: &str) -> bool {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})$")
    });
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time), Some(regex)) = (parts.next(), parts.next(), TIME.as_ref()) else {
        return false;
    };
    is_date(date)
        && regex
            .captures(time)
            .is_some_and(|found| &found[1] <= "23" && &found[2] <= "59" && &found[3] <= "59")
}

/// A duration of Go (`1h30m`) or with spelled units (`3 days`).
pub(super) fn is_duration(text: &str) -> bool {
    is_go_duration(text) || has_spelled_duration(text)
}

fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let whole = rest.len() - after.len();
        let (after, fraction) = match after.strip_prefix('.') {
            Some(after) => {
                let end = after.trim_start_matches(|c: char| c.is_ascii_digit());
                (end, after.len() - end.len())
            }
            None => (after, 0),
        };
        if whole + fraction == 0 {
            return false;
        }
        let unit = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"]
            .into_iter()
            .filter_map(|unit| after.strip_prefix(unit))
            // A unit ends where the next number begins, so `m` is not read off `ms`.
            .find(|rest| {
                rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            });
        match unit {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}

fn has_spelled_duration(text: &str) -> bool {
    static PART: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"([0-9]+)\s*([A-Za-zµ]+)"));
    // The last name of a unit also stands for everything that begins with it: `minutes`, `weeks`.
    const UNITS: [(&[&str], &str); 8] = [
        (&["ns"], "nano"),
        (&["us", "µs"], "micro"),
        (&["ms"], "milli"),
        (&["s"], "sec"),
        (&["m"], "min"),
        (&["h", "hr"], "hour"),
        (&["d"], "day"),
        (&["w", "wk"], "week"),
    ];
    let Some(part) = PART.as_ref() else {
        return false;
    };
    let mut any = false;
    for found in part.captures_iter(text) {
        if found[1].parse::<i64>().is_err() {
            return false;
        }
        let unit = found[2].to_lowercase();
        any |= UNITS
            .iter()
            .any(|(short, long)| short.contains(&unit.as_str()) || unit.starts_with(long));
    }
    any
}
