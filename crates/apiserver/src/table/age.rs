//! Ages for people: two or three significant figures, as `kubectl get` has always shown them.

use jiff::{SignedDuration, Timestamp};

/// The age of an RFC 3339 time, or what stands for a time that is absent or malformed.
pub(super) fn age_of(text: &str, now: Timestamp) -> String {
    if text.is_empty() || text == "null" {
        return "<unknown>".into();
    }
    match text.parse::<Timestamp>() {
        Ok(then) => human_duration(now.duration_since(then)),
        Err(_) => "<invalid>".into(),
    }
}

/// A span of time as `47m`, `3d4h` or `2y17d`.
pub fn human_duration(span: SignedDuration) -> String {
    let seconds = span.as_secs();
    // Clocks differ a little between machines: just below zero still counts as now.
    if seconds < -1 {
        return "<invalid>".into();
    }
    if seconds < 0 {
        return "0s".into();
    }
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    if seconds < 120 {
        format!("{seconds}s")
    } else if minutes < 10 {
        with_rest(minutes, "m", seconds % 60, "s")
    } else if minutes < 180 {
        format!("{minutes}m")
    } else if hours < 8 {
        with_rest(hours, "h", minutes % 60, "m")
    } else if hours < 48 {
        format!("{hours}h")
    } else if days < 8 {
        with_rest(days, "d", hours % 24, "h")
    } else if days < 2 * 365 {
        format!("{days}d")
    } else if days < 8 * 365 {
        with_rest(days / 365, "y", days % 365, "d")
    } else {
        format!("{}y", days / 365)
    }
}

fn with_rest(count: i64, unit: &str, rest: i64, rest_unit: &str) -> String {
    if rest == 0 {
        format!("{count}{unit}")
    } else {
        format!("{count}{unit}{rest}{rest_unit}")
    }
}
