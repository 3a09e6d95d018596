//! Versions of a kind: from what lies in the store to what a version serves, and back.
//!
//! There is one seam: entries of the store go through [`Core::present`](crate::core::Core) before
//! anybody looks at them, and objects through `Core::to_stored` before they are written. Entries
//! that are already what is served pass untouched, byte for byte. How a definition wants its
//! versions converted is a [`Strategy`]; calling webhooks is left to `crate::webhook`.

mod review;
mod strategy;
mod validation;

use bytes::Bytes;
use machinist_store::{Entry, Event, Revision};
use serde_json::Value;

pub(crate) use strategy::{Conversion, Strategy};
pub use strategy::{Converter, Converters};
pub(crate) use validation::{validate, validate_stored};

use crate::codec;
use crate::core::Core;
use crate::registry::Kind;
use crate::schema;
use crate::status::ApiError;

impl Core {
    /// Entries as a version of their kind serves them.
    pub(crate) async fn present(
        &self,
        kind: &Kind,
        mut entries: Vec<Entry>,
    ) -> Result<Vec<Entry>, ApiError> {
        if kind.serves_what_is_stored() {
            return Ok(entries);
        }
        let mut places = Vec::new();
        let mut objects = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            if !kind.serves_entry(entry) {
                places.push(at);
                objects.push(codec::decode_value(&entry.value));
            }
        }
        let objects = self.convert_all(kind, objects).await?;
        for (at, mut object) in places.into_iter().zip(objects) {
            // Older schemas had other fields and other defaults.
            if !kind.builtin {
                kind.reshape(&mut object);
            }
            entries[at].value = codec::encode(&object);
        }
        Ok(entries)
    }

    /// One entry as a version of its kind serves it.
    pub(crate) async fn present_one(&self, kind: &Kind, entry: Entry) -> Result<Entry, ApiError> {
        if kind.serves_entry(&entry) {
            return Ok(entry);
        }
        let mut entries = self.present(kind, vec![entry]).await?;
        entries
            .pop()
            .ok_or_else(|| ApiError::internal("an object got lost in conversion"))
    }

    /// Events as a version of their kind serves them.
    pub(crate) async fn present_events(
        &self,
        kind: &Kind,
        events: Vec<Event>,
    ) -> Result<Vec<Event>, ApiError> {
        if kind.serves_what_is_stored() {
            return Ok(events);
        }
        // The state before is of an unknown age, so it is taken for the oldest there can be.
        let mut entries = Vec::with_capacity(events.len() * 2);
        for event in &events {
            entries.push(event.entry.clone());
            if let Some(previous) = &event.previous {
                entries.push(Entry {
                    value: previous.clone(),
                    modified: Revision(0),
                    ..event.entry.clone()
                });
            }
        }
        let mut entries = self.present(kind, entries).await?.into_iter();
        let mut shown = Vec::with_capacity(events.len());
        for mut event in events {
            if let Some(entry) = entries.next() {
                event.entry = entry;
            }
            if event.previous.is_some() {
                event.previous = entries.next().map(|entry| entry.value);
            }
            shown.push(event);
        }
        Ok(shown)
    }

    /// The bytes under which an object of this version is stored.
    pub(crate) async fn to_stored(&self, kind: &Kind, object: &Value) -> Result<Bytes, ApiError> {
        if kind.is_stored_form() {
            return codec::encode_bounded(object);
        }
        let mut object = object.clone();
        kind.rename_to_stored(&mut object);
        let wanted = &kind.stored_api_version;
        let mut converted = self
            .convert_to(kind, wanted, vec![object])
            .await?
            .pop()
            .unwrap_or_default();
        if let Some(shape) = kind.conversion.shapes.get(wanted) {
            schema::prune(shape.schema(), &mut converted);
            schema::default(shape.schema(), &mut converted);
        }
        codec::encode_bounded(&converted)
    }

    /// A written object as it will be read again: the stored version may not be able to say all
    /// that the written one said.
    pub(crate) async fn read_back(
        &self,
        kind: &Kind,
        written: Value,
        stored: Bytes,
    ) -> Result<Value, ApiError> {
        // Versions of a built-in kind differ in the names of fields, and lose nothing.
        if kind.is_stored_form() || kind.builtin {
            return Ok(written);
        }
        let entry = Entry {
            key: "".into(),
            value: stored,
            created: Revision(0),
            modified: Revision(0),
        };
        let entry = self.present_one(kind, entry).await?;
        Ok(codec::decode_value(&entry.value))
    }

    /// Turns an object of one version of a kind into one of another.
    pub(crate) async fn convert(
        &self,
        from: &Kind,
        to: &Kind,
        mut object: Value,
    ) -> Result<Value, ApiError> {
        from.rename_to_stored(&mut object);
        let mut converted = self.convert_all(to, vec![object]).await?;
        let mut object = converted.pop().unwrap_or_default();
        if !to.builtin {
            to.reshape(&mut object);
        }
        Ok(object)
    }

    /// Turns stored objects of whatever version into objects of one version.
    async fn convert_all(&self, to: &Kind, objects: Vec<Value>) -> Result<Vec<Value>, ApiError> {
        let mut converted = self.convert_to(to, &to.api_version(), objects).await?;
        for object in &mut converted {
            to.rename_to_served(object);
        }
        Ok(converted)
    }

    /// Turns objects into a version by the strategy of their kind; those that are of it already
    /// stay as they are.
    pub(crate) async fn convert_to(
        &self,
        kind: &Kind,
        api_version: &str,
        mut objects: Vec<Value>,
    ) -> Result<Vec<Value>, ApiError> {
        if let Strategy::Webhook(webhook) = &kind.conversion.strategy {
            let caller = &self.admission.caller;
            return review::ask(caller, webhook, api_version, objects).await;
        }
        for object in &mut objects {
            if object["apiVersion"] != api_version
                && let Some(converted) = at_once(kind, object, api_version)
            {
                *object = converted?;
            }
        }
        Ok(objects)
    }
}

/// An object in another version of its kind; `None` when that takes asking a webhook.
pub(crate) fn at_once(
    kind: &Kind,
    object: &Value,
    api_version: &str,
) -> Option<Result<Value, ApiError>> {
    match &kind.conversion.strategy {
        Strategy::None => {
            let mut object = object.clone();
            strategy::relabel(&mut object, api_version);
            Some(Ok(object))
        }
        Strategy::InProcess(converter) => Some(review::converted_by(
            converter.as_ref(),
            object,
            api_version,
        )),
        Strategy::Webhook(_) => None,
    }
}

/// An object of one version of a built-in kind in another: they differ in the names of fields.
pub(crate) fn between_siblings(from: &Kind, to: &Kind, object: &Value) -> Value {
    let mut object = object.clone();
    from.rename_to_stored(&mut object);
    to.rename_to_served(&mut object);
    strategy::relabel(&mut object, &to.api_version());
    object
}
