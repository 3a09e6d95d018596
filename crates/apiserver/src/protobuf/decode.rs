//! One decoder for every message: from numbered fields, by way of a table, to JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::Error;
use super::message::Type::{Embedded, Int32, Int64, Nested, Text};
use super::message::{Count, Field, Message, Presence, Type, always, many, message, optional};
use super::messages::definition::JSON_SCHEMA_PROPS;
use super::wire::{Fields, Raw};
use crate::codec::{DEPTH, is_deeper};

/// How deep messages may nest.
const MESSAGE_DEPTH: usize = 100;

/// How many values an object may have. Two bytes can stand for a message whose JSON takes hundreds,
/// so the length of the body alone does not bound the memory.
const VALUES: usize = 256 * 1024;

/// The second of Go's zero time, which is `null` in JSON.
const ZERO_TIME: i64 = -62_135_596_800;

static TIMESTAMP: Message = message(&[always(1, "seconds", Int64), always(2, "nanos", Int32)]);
static JSON: Message = message(&[optional(1, "raw", Embedded)]);
static TEXTS: Message = message(&[many(1, "items", Text)]);
static SCHEMA_OR_BOOL: Message = message(&[
    always(1, "other", Type::Bool),
    optional(2, "schema", Nested(&JSON_SCHEMA_PROPS)),
]);
static SCHEMA_OR_SCHEMAS: Message = message(&[
    optional(1, "schema", Nested(&JSON_SCHEMA_PROPS)),
    many(2, "other", Nested(&JSON_SCHEMA_PROPS)),
]);
static SCHEMA_OR_TEXTS: Message = message(&[
    optional(1, "schema", Nested(&JSON_SCHEMA_PROPS)),
    many(2, "other", Text),
]);

/// A field that was found: its place in the table and what it holds.
type Found<'a> = (usize, Raw<'a>);

/// Reads one object.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    values: usize,
    depth: usize,
}

impl Decoder {
    /// The object that a message is.
    pub(super) fn object(
        &mut self,
        message: &'static Message,
        bytes: &[u8],
    ) -> Result<Map<String, Value>, Error> {
        let object = self.message(message, &[bytes])?;
        if object.values().any(|value| is_deeper(value, DEPTH - 1)) {
            return Err(Error::Depth);
        }
        Ok(object)
    }

    /// A message that may have come in several pieces, which together are one.
    fn message(
        &mut self,
        message: &'static Message,
        pieces: &[&[u8]],
    ) -> Result<Map<String, Value>, Error> {
        if self.depth == MESSAGE_DEPTH {
            return Err(Error::Depth);
        }
        self.depth += 1;
        let mut found: Vec<Found<'_>> = Vec::new();
        for field in pieces.iter().flat_map(|piece| Fields::of(piece)) {
            let (number, raw) = field?;
            // A field that the table does not have is from a newer client, and is left out.
            if let Some(at) = message.fields.iter().position(|f| f.number == number) {
                if found.len() == VALUES {
                    return Err(Error::Size);
                }
                found.push((at, raw));
            }
        }
        found.sort_by_key(|(at, _)| *at);
        let mut rest = found.as_slice();
        let mut object = Map::new();
        for (at, field) in message.fields.iter().enumerate() {
            let (mine, others) = rest.split_at(rest.partition_point(|(other, _)| *other <= at));
            rest = others;
            match (field.of, self.field(field, mine)?) {
                (Type::Inline(_), Some(Value::Object(fields))) => object.extend(fields),
                (_, Some(value)) => {
                    object.insert(field.name.to_owned(), value);
                }
                (_, None) => {}
            }
        }
        self.depth -= 1;
        Ok(object)
    }

    /// What a field shows in JSON, if it shows at all.
    fn field(&mut self, field: &Field, found: &[Found<'_>]) -> Result<Option<Value>, Error> {
        if found.is_empty() {
            return match field.presence {
                Presence::Always => self.value(field, found).map(Some),
                Presence::Nullable => Ok(Some(Value::Null)),
                Presence::Sent | Presence::UnlessZero => Ok(None),
            };
        }
        let value = match field.count {
            Count::One => self.value(field, found)?,
            Count::Many => {
                let items = found.iter().map(|item| self.value(field, &[*item]));
                items.collect::<Result<_, _>>().map(Value::Array)?
            }
            Count::Map => {
                let entries = found.iter().map(|entry| self.entry(field, *entry));
                entries.collect::<Result<_, _>>().map(Value::Object)?
            }
        };
        let hidden = field.presence == Presence::UnlessZero && is_zero(&value);
        Ok((!hidden).then_some(value))
    }

    /// A key and a value of a map.
    fn entry(&mut self, field: &Field, entry: Found<'_>) -> Result<(String, Value), Error> {
        let (mut key, mut value) = ("", Vec::new());
        for part in Fields::of(bytes(field, &[entry])?) {
            match part? {
                (1, raw) => key = text(field, &[(0, raw)])?,
                (2, raw) => value.push((0, raw)),
                _ => {}
            }
        }
        Ok((key.to_owned(), self.value(field, &value)?))
    }

    /// One value; the zero value when nothing was found. The last one of several counts, but
    /// messages are joined.
    fn value(&mut self, field: &Field, found: &[Found<'_>]) -> Result<Value, Error> {
        self.values += 1;
        if self.values > VALUES {
            return Err(Error::Size);
        }
        let value = match field.of {
            Type::Bool => (varint(field, found)? != 0).into(),
            // The upper half of a negative number is only its sign, spread out.
            Type::Int32 => (varint(field, found)?.cast_signed() as i32).into(),
            Type::Int64 => varint(field, found)?.cast_signed().into(),
            Type::Double => number(double(field, found)?)?,
            Type::Text => text(field, found)?.into(),
            Type::Bytes => STANDARD.encode(bytes(field, found)?).into(),
            Type::Embedded => match bytes(field, found)? {
                [] => Value::Null,
                json => serde_json::from_slice(json).map_err(Error::Json)?,
            },
            Type::Nested(message) | Type::Inline(message) => {
                self.nested(message, field, found)?.into()
            }
            Type::Json => take(self.nested(&JSON, field, found)?, "raw"),
            Type::Texts => match take(self.nested(&TEXTS, field, found)?, "items") {
                Value::Null => Value::Array(Vec::new()),
                items => items,
            },
            Type::Time => time(&self.nested(&TIMESTAMP, field, found)?, found, false)?,
            Type::MicroTime => time(&self.nested(&TIMESTAMP, field, found)?, found, true)?,
            // Of a schema and its alternative the Go types prefer the one before the other.
            Type::SchemaOrBool => {
                let mut either = self.nested(&SCHEMA_OR_BOOL, field, found)?;
                let schema = either.remove("schema");
                schema.unwrap_or_else(|| take(either, "other"))
            }
            Type::SchemaOrSchemas => self.list_or_schema(&SCHEMA_OR_SCHEMAS, field, found)?,
            Type::SchemaOrTexts => self.list_or_schema(&SCHEMA_OR_TEXTS, field, found)?,
        };
        Ok(value)
    }

    fn nested(
        &mut self,
        message: &'static Message,
        field: &Field,
        found: &[Found<'_>],
    ) -> Result<Map<String, Value>, Error> {
        let pieces = found.iter().map(|piece| bytes(field, &[*piece]));
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        self.message(message, &pieces)
    }

    fn list_or_schema(
        &mut self,
        message: &'static Message,
        field: &Field,
        found: &[Found<'_>],
    ) -> Result<Value, Error> {
        let mut either = self.nested(message, field, found)?;
        let list = either.remove("other");
        Ok(list.unwrap_or_else(|| take(either, "schema")))
    }
}

fn take(mut object: Map<String, Value>, name: &str) -> Value {
    object.remove(name).unwrap_or_default()
}

fn varint(field: &Field, found: &[Found<'_>]) -> Result<u64, Error> {
    match found.last() {
        None => Ok(0),
        Some((_, Raw::Varint(value))) => Ok(*value),
        Some(_) => Err(Error::WireType(field.name)),
    }
}

fn double(field: &Field, found: &[Found<'_>]) -> Result<f64, Error> {
    match found.last() {
        None => Ok(0.0),
        Some((_, Raw::Fixed64(bits))) => Ok(f64::from_bits(*bits)),
        Some(_) => Err(Error::WireType(field.name)),
    }
}

fn bytes<'a>(field: &Field, found: &[Found<'a>]) -> Result<&'a [u8], Error> {
    match found.last() {
        None => Ok(&[]),
        Some((_, Raw::Bytes(bytes))) => Ok(bytes),
        Some(_) => Err(Error::WireType(field.name)),
    }
}

fn text<'a>(field: &Field, found: &[Found<'a>]) -> Result<&'a str, Error> {
    str::from_utf8(bytes(field, found)?).map_err(Error::Utf8)
}

/// A number as Go writes it: without a fraction when it has none.
fn number(value: f64) -> Result<Value, Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        return Ok((value as i64).into());
    }
    serde_json::Number::from_f64(value)
        .map(Value::Number)
        .ok_or(Error::Number)
}

fn time(stamp: &Map<String, Value>, found: &[Found<'_>], micro: bool) -> Result<Value, Error> {
    let part = |name| stamp.get(name).and_then(Value::as_i64).unwrap_or_default();
    let empty = found.iter().all(|(_, raw)| *raw == Raw::Bytes(&[]));
    let (seconds, nanos) = (part("seconds"), if micro { part("nanos") } else { 0 });
    if empty || (seconds, nanos) == (ZERO_TIME, 0) {
        return Ok(Value::Null);
    }
    let nanos = i32::try_from(nanos).ok().filter(|n| *n >= 0);
    let moment = Timestamp::new(seconds, nanos.ok_or(Error::Time)?).map_err(|_| Error::Time)?;
    let shape = if micro {
        "%Y-%m-%dT%H:%M:%S%.6fZ"
    } else {
        "%Y-%m-%dT%H:%M:%SZ"
    };
    let shown = moment.strftime(shape).to_string();
    // Years before the first have a sign, which no reader of RFC 3339 understands.
    if shown.starts_with('-') {
        return Err(Error::Time);
    }
    Ok(shown.into())
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(_) => false,
    }
}
