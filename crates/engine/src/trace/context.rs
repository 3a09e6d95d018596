//! Where a span belongs, as it travels: the `traceparent` of W3C Trace Context.
//!
//! What is received was written by others; what does not follow the form is no context at all.

use std::{fmt, str::FromStr};

use uuid::Uuid;

/// The number of a trace, which all of its spans share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId([u8; 16]);

/// The number of a span within its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId([u8; 8]);

/// One place in one trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace: TraceId,
    /// The span that whatever follows is a part of.
    pub span: SpanId,
    /// Whether the trace is recorded.
    pub sampled: bool,
}

/// A text that is no `traceparent`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("not a traceparent of W3C Trace Context: {0}")]
pub struct ContextError(&'static str);

/// 128 bits of chance. A UUID has some that are fixed; of two, turned against each other, none are.
fn chance() -> u128 {
    Uuid::new_v4().as_u128() ^ Uuid::new_v4().as_u128().rotate_left(64)
}

impl TraceId {
    /// A number that nobody else has.
    pub(super) fn random() -> TraceId {
        TraceId(chance().max(1).to_be_bytes())
    }

    /// The number as it is on the wire.
    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The half by which samplers decide, so that every one that is told the same decides the same.
    pub(super) fn low(self) -> u64 {
        let [.., a, b, c, d, e, f, g, h] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

impl SpanId {
    /// A number that no other span of the trace has.
    pub(super) fn random() -> SpanId {
        let [a, b, c, d, e, f, g, h, ..] = chance().to_be_bytes();
        let number = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        SpanId(number.max(1).to_be_bytes())
    }

    /// The number as it is on the wire.
    pub fn bytes(&self) -> &[u8; 8] {
        &self.0
    }
}

fn hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(&self.0, f)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = u8::from(self.sampled);
        write!(f, "00-{}-{}-{flags:02x}", self.trace, self.span)
    }
}

/// Reads hexadecimal digits of the lower case, which are the only ones that the form knows.
fn read<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 2 * N || !text.bytes().all(digits) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

impl FromStr for TraceContext {
    type Err = ContextError;

    fn from_str(text: &str) -> Result<TraceContext, ContextError> {
        let mut parts = text.splitn(5, '-');
        let mut part = || parts.next().unwrap_or_default();
        let version: [u8; 1] = read(part()).ok_or(ContextError("its version"))?;
        let trace: [u8; 16] = read(part()).ok_or(ContextError("its trace id"))?;
        let span: [u8; 8] = read(part()).ok_or(ContextError("its span id"))?;
        let flags: [u8; 1] = read(part()).ok_or(ContextError("its flags"))?;
        // Versions to come may say more at the end; the first says no more than this.
        let more = parts.next().is_some();
        match version {
            [0xff] => return Err(ContextError("its version")),
            [0] if more => return Err(ContextError("its end")),
            _ => {}
        }
        if trace == [0; 16] || span == [0; 8] {
            return Err(ContextError("an id of zeros"));
        }
        Ok(TraceContext {
            trace: TraceId(trace),
            span: SpanId(span),
            sampled: flags[0] & 1 == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_is_written_is_read_again() {
        let context: TraceContext = EXAMPLE.parse().unwrap();
        assert!(context.sampled);
        assert_eq!(context.to_string(), EXAMPLE);
        let id = "4bf92f3577b34da6a3ce929d0e0e4736";
        assert_eq!(context.trace.to_string(), id);
        let made = TraceContext {
            trace: TraceId::random(),
            span: SpanId::random(),
            sampled: false,
        };
        assert_eq!(made.to_string().parse(), Ok(made));
        assert_ne!(TraceId::random(), TraceId::random());
    }

    #[test]
    fn only_the_form_is_read() {
        let later = "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes";
        assert!(later.parse::<TraceContext>().is_ok());
        for bad in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-ä".repeat(20).as_str(),
        ] {
            assert!(bad.parse::<TraceContext>().is_err(), "{bad}");
        }
    }
}
