//! The wire format of protocol buffers: from bytes to numbered fields. What they mean is left to
//! the caller.

use super::Error;

/// The value of a field, as it stands on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Raw<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32,
    Bytes(&'a [u8]),
}

/// The fields of a message, in the order in which they were sent.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Error::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for (at, byte) in self.rest.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[at + 1..];
                return Ok(value);
            }
        }
        Err(if self.rest.len() < 10 {
            Error::Truncated
        } else {
            Error::Overflow
        })
    }

    fn field(&mut self) -> Result<(u32, Raw<'a>), Error> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| Error::Tag(tag))?;
        if number == 0 {
            return Err(Error::Tag(tag));
        }
        let raw = match tag & 7 {
            0 => Raw::Varint(self.varint()?),
            1 => {
                let mut bytes = [0; 8];
                bytes.copy_from_slice(self.take(8)?);
                Raw::Fixed64(u64::from_le_bytes(bytes))
            }
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| Error::Truncated)?;
                Raw::Bytes(self.take(length)?)
            }
            5 => {
                self.take(4)?;
                Raw::Fixed32
            }
            // Groups, which Kubernetes never had, and types that nobody has.
            _ => return Err(Error::Tag(tag)),
        };
        Ok((number, raw))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Raw<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.rest.is_empty()).then(|| self.field())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read() {
        let bytes = [
            &[0x08, 0xac, 0x02][..],
            &[0x12, 2, b'h', b'i'],
            &[0x19, 1, 0, 0, 0, 0, 0, 0, 0],
            &[0x25, 1, 2, 3, 4],
        ]
        .concat();
        let fields: Result<Vec<_>, _> = Fields::of(&bytes).collect();
        let expected = [
            (1, Raw::Varint(300)),
            (2, Raw::Bytes(b"hi")),
            (3, Raw::Fixed64(1)),
            (4, Raw::Fixed32),
        ];
        assert_eq!(fields.unwrap(), expected);
    }

    #[test]
    fn nonsense_is_named() {
        let error = |bytes: &[u8]| Fields::of(bytes).next().unwrap().unwrap_err().to_string();
        assert_eq!(error(&[0x08]), "unexpected EOF");
        assert_eq!(error(&[0x08, 0x80]), "unexpected EOF");
        assert_eq!(error(&[0x0a, 5, 1]), "unexpected EOF");
        assert_eq!(error(&[0x0d, 5, 1]), "unexpected EOF");
        assert_eq!(error(&[0xff; 11]), "proto: integer overflow");
        assert_eq!(error(&[0x00, 1]), "proto: illegal tag 0");
        assert_eq!(error(&[0x0b]), "proto: illegal tag 11");
        let huge = [
            0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
        ];
        assert_eq!(error(&huge), "unexpected EOF");
    }
}
