//! How a message is described: its fields, their types, and when they show in JSON.

/// A message: its fields in the order of their numbers.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) fields: &'static [Field],
}

/// One field of a message.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) number: u32,
    /// The name in JSON.
    pub(super) name: &'static str,
    pub(super) of: Type,
    pub(super) count: Count,
    pub(super) presence: Presence,
}

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Type {
    Bool,
    Int32,
    Int64,
    Double,
    Text,
    /// Bytes, which are base64 in JSON.
    Bytes,
    /// Bytes that are themselves JSON.
    Embedded,
    /// A message around bytes that are themselves JSON.
    Json,
    /// A message around a list of texts, which is the list alone in JSON.
    Texts,
    /// A moment, to the second.
    Time,
    /// A moment, to the microsecond.
    MicroTime,
    /// A message.
    Nested(&'static Message),
    /// A message whose fields are, in JSON, those of the message around it.
    Inline(&'static Message),
    /// A schema, or a yes or no.
    SchemaOrBool,
    /// A schema, or a list of them.
    SchemaOrSchemas,
    /// A schema, or a list of names.
    SchemaOrTexts,
}

/// How often a field may occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    One,
    Many,
    Map,
}

/// When a field shows in JSON; Go's tags `omitempty` and `omitzero` decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// Always, with its zero value when it was not sent.
    Always,
    /// Always, with `null` when it was not sent.
    Nullable,
    /// When it was sent, whatever its value.
    Sent,
    /// When its value is not the zero value.
    UnlessZero,
}

pub(super) const fn message(fields: &'static [Field]) -> Message {
    Message { fields }
}

const fn field(
    number: u32,
    name: &'static str,
    of: Type,
    count: Count,
    presence: Presence,
) -> Field {
    Field {
        number,
        name,
        of,
        count,
        presence,
    }
}

pub(super) const fn always(number: u32, name: &'static str, of: Type) -> Field {
    field(number, name, of, Count::One, Presence::Always)
}

pub(super) const fn nullable(number: u32, name: &'static str, of: Type) -> Field {
    field(number, name, of, Count::One, Presence::Nullable)
}

pub(super) const fn optional(number: u32, name: &'static str, of: Type) -> Field {
    field(number, name, of, Count::One, Presence::Sent)
}

pub(super) const fn unless_zero(number: u32, name: &'static str, of: Type) -> Field {
    field(number, name, of, Count::One, Presence::UnlessZero)
}

pub(super) const fn many(number: u32, name: &'static str, of: Type) -> Field {
    field(number, name, of, Count::Many, Presence::Sent)
}

pub(super) const fn inline(number: u32, of: &'static Message) -> Field {
    field(number, "", Type::Inline(of), Count::One, Presence::Sent)
}

pub(super) const fn many_or_null(number: u32, name: &'static str, of: Type) -> Field {
    field(number, name, of, Count::Many, Presence::Nullable)
}

pub(super) const fn map(number: u32, name: &'static str, of: Type) -> Field {
    field(number, name, of, Count::Map, Presence::Sent)
}
