//! Writing the events of one watch: selection, version, shape, and the lines themselves.

use std::sync::Arc;

use bytes::Bytes;
use machinist_store::{Entry, Event, EventKind, Revision};
use serde_json::{Value, json};

use super::shared::{Lines, Wanted};
use crate::codec;
use crate::core::Core;
use crate::http::{Shape, View};
use crate::meta;
use crate::registry::Kind;
use crate::selector::Selector;
use crate::status::ApiError;
use crate::table;

/// Turns what happens in the store into what a client is told.
pub(super) struct Writer {
    kind: Arc<Kind>,
    selector: Selector,
    view: View,
    headers_sent: bool,
}

impl Writer {
    pub(super) fn new(kind: Arc<Kind>, selector: Selector, view: View) -> Self {
        Self {
            kind,
            selector,
            view,
            headers_sent: false,
        }
    }

    /// The kind whose objects are told of.
    pub(super) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The form in which they are told of.
    pub(super) fn shape(&self) -> Shape {
        self.view.format.shape
    }

    /// Writes the same for everybody who wants the same; none if what is written depends on what was
    /// written before, or is selected.
    pub(super) fn twin(&self) -> Option<Writer> {
        let shared = self.shape() != Shape::Table && self.selector.is_everything();
        shared.then(|| Writer::new(self.kind.clone(), Selector::default(), self.view))
    }

    /// Whether the kind is still served.
    pub(super) fn is_served(&self, core: &Core) -> bool {
        let kind = &self.kind;
        let snapshot = core.registry.snapshot();
        snapshot
            .find(&kind.group, &kind.version, &kind.plural)
            .is_some()
    }

    /// What exists already, as if it was just added.
    pub(super) fn initial(&mut self, entries: impl Iterator<Item = Entry>) -> Bytes {
        let mut out = Vec::new();
        for entry in entries {
            if self.can_splice() {
                self.splice(&mut out, "ADDED", &entry);
                continue;
            }
            let object = codec::decode(&entry);
            if self.selector.matches(&object) {
                self.write(&mut out, "ADDED", object);
            }
        }
        out.into()
    }

    /// What happened.
    pub(super) fn events(&mut self, lines: &Lines, events: &[Event]) -> Bytes {
        if let [event] = events {
            return self.line(lines, event);
        }
        let mut out = Vec::new();
        for event in events {
            out.extend_from_slice(&self.line(lines, event));
        }
        out.into()
    }

    /// The line of one event; what no selector can change is written once for all who want it.
    pub(super) fn line(&mut self, lines: &Lines, event: &Event) -> Bytes {
        if !self.selector.is_everything() {
            return self.own_line(event);
        }
        let wanted = Wanted {
            revision: event.revision,
            kind: self.kind.clone(),
            shape: self.view.format.shape,
            include: self.view.include,
            headers_sent: self.headers_sent,
        };
        let line = lines.get(wanted, || self.own_line(event));
        // Every event of such a watch is told, so the columns are known from the first one on.
        self.headers_sent = true;
        line
    }

    fn own_line(&mut self, event: &Event) -> Bytes {
        let mut out = Vec::with_capacity(event.entry.value.len() + 128);
        self.event(&mut out, event);
        out.into()
    }

    fn event(&mut self, out: &mut Vec<u8>, event: &Event) {
        let existed = event.previous.is_some();
        if self.can_splice() {
            let kind = match event.kind {
                EventKind::Delete => "DELETED",
                EventKind::Put if existed => "MODIFIED",
                EventKind::Put => "ADDED",
            };
            self.splice(out, kind, &event.entry);
            return;
        }
        let object = codec::decode(&event.entry);
        let selects_all = self.selector.is_everything();
        // Whether the client has seen the object, as it was before this event.
        let before = event.previous.as_ref().map(|v| codec::decode_value(v));
        let was_selected = before
            .as_ref()
            .is_some_and(|b| selects_all || self.selector.matches(b));
        let is_selected =
            event.kind == EventKind::Put && (selects_all || self.selector.matches(&object));
        match (was_selected, is_selected) {
            (false, false) => {}
            (false, true) => self.write(out, "ADDED", object),
            (true, true) => self.write(out, "MODIFIED", object),
            (true, false) => {
                // The last state that was selected, at the revision at which it ceased to be.
                let mut last = before.unwrap_or(object);
                codec::set_resource_version(&mut last, event.revision.0);
                self.write(out, "DELETED", last);
            }
        }
    }

    /// How far the watch has come.
    pub(super) fn bookmark(&self, revision: Revision, ends_initial: bool) -> Bytes {
        let mut metadata =
            json!({"resourceVersion": revision.to_string(), "creationTimestamp": null});
        if ends_initial {
            metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
        }
        let object = match self.view.format.shape {
            Shape::Object => json!({
                "kind": self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": metadata,
            }),
            Shape::Metadata => json!({
                "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
            }),
            Shape::Table => json!({
                "kind": "Table",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": {"resourceVersion": revision.to_string()},
                "columnDefinitions": null,
                "rows": [{
                    "cells": [],
                    "object": {
                        "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
                    },
                }],
            }),
        };
        line("BOOKMARK", &object)
    }

    /// Why the watch ends.
    pub(super) fn error(&self, error: &ApiError) -> Bytes {
        line("ERROR", &error.to_status())
    }

    fn can_splice(&self) -> bool {
        self.view.format.shape == Shape::Object && self.selector.is_everything()
    }

    fn splice(&self, out: &mut Vec<u8>, kind: &str, entry: &Entry) {
        out.extend_from_slice(format!("{{\"type\":\"{kind}\",\"object\":").as_bytes());
        codec::splice(entry, out);
        out.extend_from_slice(b"}\n");
    }

    fn write(&mut self, out: &mut Vec<u8>, kind: &str, object: Value) {
        debug_assert!(!meta::name(&object).is_empty());
        let mut shown = self.view.object(&self.kind, object);
        if self.view.format.shape == Shape::Table && std::mem::replace(&mut self.headers_sent, true)
        {
            table::without_headers(&mut shown);
        }
        out.extend_from_slice(&line(kind, &shown));
    }
}

fn line(kind: &str, object: &Value) -> Bytes {
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n").into()
}
