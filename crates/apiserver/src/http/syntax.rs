//! What is wrong with a text that is not JSON, in the words of Go's reader: clients and people
//! know them. It is asked only once a text has been refused.

/// Where the reader is when a character surprises it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Object,
    Array,
}

/// The complaint about a text that is not JSON.
pub(crate) fn complaint(bytes: &[u8]) -> String {
    let mut reader = Reader { bytes, at: 0 };
    match reader.document() {
        Err(Fault::End) | Ok(()) => "unexpected end of JSON input".to_owned(),
        Err(Fault::Character(context)) => {
            let shown = match bytes.get(reader.at).copied().unwrap_or_default() {
                b'\'' => "'\\''".to_owned(),
                b'"' => "'\"'".to_owned(),
                byte => format!("'{}'", quoted(byte)),
            };
            format!("invalid character {shown} {context}")
        }
    }
}

fn quoted(byte: u8) -> String {
    match byte {
        0x07 => "\\a".into(),
        0x08 => "\\b".into(),
        0x0b => "\\v".into(),
        0x0c => "\\f".into(),
        b'\n' => "\\n".into(),
        b'\r' => "\\r".into(),
        b'\t' => "\\t".into(),
        b'\\' => "\\\\".into(),
        0x00..=0x1f | 0x7f => format!("\\x{byte:02x}"),
        0x80..=0xa0 | 0xad => format!("\\u{:04x}", byte),
        byte => char::from(byte).to_string(),
    }
}

enum Fault {
    End,
    Character(String),
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Result<u8, Fault> {
        self.bytes.get(self.at).copied().ok_or(Fault::End)
    }

    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn wrong<T>(context: &str) -> Result<T, Fault> {
        Err(Fault::Character(context.to_owned()))
    }

    /// One value and nothing after it. Nesting is kept in a list, so that depth costs no stack.
    fn document(&mut self) -> Result<(), Fault> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.space();
            match self.peek()? {
                b'{' => {
                    self.at += 1;
                    self.space();
                    if self.peek()? != b'}' {
                        self.key()?;
                        open.push(Open::Object);
                        continue;
                    }
                    self.at += 1;
                }
                b'[' => {
                    self.at += 1;
                    self.space();
                    if self.peek()? != b']' {
                        open.push(Open::Array);
                        continue;
                    }
                    self.at += 1;
                }
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                b'n' => self.literal("null")?,
                _ => return Self::wrong("looking for beginning of value"),
            }
            if !self.after_value(&mut open)? {
                return Ok(());
            }
        }
    }

    /// Goes on to where the next value begins; says whether there is to be one.
    fn after_value(&mut self, open: &mut Vec<Open>) -> Result<bool, Fault> {
        loop {
            self.space();
            let Some(innermost) = open.last().copied() else {
                return match self.peek() {
                    Ok(_) => Self::wrong("after top-level value"),
                    Err(_) => Ok(false),
                };
            };
            match (innermost, self.peek()?) {
                (Open::Object, b',') => {
                    self.at += 1;
                    self.key()?;
                    return Ok(true);
                }
                (Open::Array, b',') => {
                    self.at += 1;
                    return Ok(true);
                }
                (Open::Object, b'}') | (Open::Array, b']') => {
                    self.at += 1;
                    open.pop();
                }
                (Open::Object, _) => return Self::wrong("after object key:value pair"),
                (Open::Array, _) => return Self::wrong("after array element"),
            }
        }
    }

    fn key(&mut self) -> Result<(), Fault> {
        self.space();
        if self.peek()? != b'"' {
            return Self::wrong("looking for beginning of object key string");
        }
        self.string()?;
        self.space();
        if self.peek()? != b':' {
            return Self::wrong("after object key");
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(), Fault> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.at += 1;
                    match self.peek()? {
                        b'u' => {
                            for _ in 0..4 {
                                self.at += 1;
                                if !self.peek()?.is_ascii_hexdigit() {
                                    return Self::wrong("in \\u hexadecimal character escape");
                                }
                            }
                        }
                        b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                        _ => return Self::wrong("in string escape code"),
                    }
                    self.at += 1;
                }
                0x00..=0x1f => return Self::wrong("in string literal"),
                _ => self.at += 1,
            }
        }
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek()? == b'-' {
            self.at += 1;
            self.digit("in numeric literal")?;
        }
        let zero = self.peek()? == b'0';
        self.at += 1;
        if !zero {
            self.digits();
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.bytes.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn digit(&self, context: &str) -> Result<(), Fault> {
        if self.peek()?.is_ascii_digit() {
            return Ok(());
        }
        Self::wrong(context)
    }

    fn digits(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Fault> {
        for expected in word.bytes() {
            if self.peek()? != expected {
                let expected = char::from(expected);
                return Self::wrong(&format!("in literal {word} (expecting '{expected}')"));
            }
            self.at += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::complaint;

    #[test]
    fn complaints() {
        let character = |shown: &str, context: &str| format!("invalid character {shown} {context}");
        for (text, expected) in [
            ("", "unexpected end of JSON input".to_owned()),
            ("{\"a\": [", "unexpected end of JSON input".to_owned()),
            ("x", character("'x'", "looking for beginning of value")),
            (
                "{a",
                character("'a'", "looking for beginning of object key string"),
            ),
            ("{\"a\" 1", character("'1'", "after object key")),
            (
                "{\"a\": 1 2",
                character("'2'", "after object key:value pair"),
            ),
            ("[1 2]", character("'2'", "after array element")),
            ("{} {}", character("'{'", "after top-level value")),
            (
                "nonsense",
                character("'o'", "in literal null (expecting 'u')"),
            ),
            ("\"\\q\"", character("'q'", "in string escape code")),
            ("\"a\nb\"", character("'\\n'", "in string literal")),
            ("-a", character("'a'", "in numeric literal")),
            ("\u{9e}", character("'Â'", "looking for beginning of value")),
        ] {
            assert_eq!(complaint(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(
            complaint(b"\x9e"),
            "invalid character '\\u009e' looking for beginning of value"
        );
        complaint("[".repeat(1_000_000).as_bytes());
    }
}
