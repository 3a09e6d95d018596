//! The `timeout` parameter: a Go duration that the request names.
//!
//! No request here takes so long that the limit matters; it is read so that nonsense is refused
//! as Kubernetes refuses it.

use super::Call;
use crate::status::ApiError;

/// The units of a Go duration; the longer name is tried first.
const UNITS: [&str; 8] = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];

/// Refuses a limit that is no duration. A watch has a limit of its own and ignores this one.
pub(super) fn check(call: &Call) -> Result<(), ApiError> {
    let text = call.query.get("timeout");
    if text.is_empty() || call.query.flag("watch") {
        return Ok(());
    }
    parse(text).map_err(|why| {
        ApiError::bad_request(format!(
            "invalid timeout specified in the request URL - {why}"
        ))
    })
}

/// Whether Go's `time.ParseDuration` would take the text, and what it says if not.
fn parse(text: &str) -> Result<(), String> {
    let invalid = || format!("time: invalid duration {text:?}");
    let mut rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    if rest == "0" {
        return Ok(());
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let digits = &rest[..rest.len() - number.len()];
        if !digits.contains(|c: char| c.is_ascii_digit()) || digits.matches('.').count() > 1 {
            return Err(invalid());
        }
        let end = number
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(number.len());
        let (unit, after) = number.split_at(end);
        match unit {
            "" => return Err(format!("time: missing unit in duration {text:?}")),
            unit if !UNITS.contains(&unit) => {
                return Err(format!("time: unknown unit {unit:?} in duration {text:?}"));
            }
            _ => rest = after,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn durations_are_those_of_go() {
        for good in ["0", "1s", "1.5h", "-2m30s", "+10ms", ".5s", "100us"] {
            assert_eq!(parse(good), Ok(()), "{good}");
        }
        for (bad, said) in [
            ("invalid", "time: invalid duration \"invalid\""),
            ("", "time: invalid duration \"\""),
            ("5", "time: missing unit in duration \"5\""),
            ("5x", "time: unknown unit \"x\" in duration \"5x\""),
            (".s", "time: invalid duration \".s\""),
            ("1s-", "time: unknown unit \"s-\" in duration \"1s-\""),
        ] {
            assert_eq!(parse(bad), Err(said.to_owned()), "{bad}");
        }
    }
}
