//! Text in columns, and spans of time in words: what several verbs print.

use jiff::{SignedDuration, Timestamp};

/// Rows of cells, each column as wide as its widest cell.
pub(crate) fn align(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}   "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// How long ago something was, in the largest unit that says enough.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    let span: SignedDuration = now.duration_since(then);
    let seconds = span.as_secs().max(0);
    let (count, unit) = match seconds {
        0..120 => (seconds, "second"),
        120..7_200 => (seconds / 60, "minute"),
        7_200..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

/// A moment without fractions of a second.
pub(crate) fn moment(time: Timestamp) -> String {
    Timestamp::from_second(time.as_second())
        .unwrap_or(time)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_needed() {
        let rows = [["NAME", "PHASE"], ["web", "Running"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(align(&rows), "NAME   PHASE\nweb    Running\n");
    }

    #[test]
    fn times_are_said_in_one_unit() {
        let now: Timestamp = "2026-01-03T10:00:00Z".parse().expect("a time");
        for (then, said) in [
            ("2026-01-03T09:59:59Z", "1 second ago"),
            ("2026-01-03T09:57:30Z", "2 minutes ago"),
            ("2026-01-03T05:57:30Z", "4 hours ago"),
            ("2026-01-01T05:57:30Z", "2 days ago"),
            ("2026-01-03T10:00:07Z", "0 seconds ago"),
        ] {
            assert_eq!(ago(then.parse().expect("a time"), now), said);
        }
    }
}
