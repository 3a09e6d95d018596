//! The messages of the built-in objects that hold data: namespaces, secrets, events, leases.

use super::meta::OBJECT_META;
use crate::protobuf::message::Type::{Bool, Bytes, Int32, MicroTime, Nested, Text, Time};
use crate::protobuf::message::{Message, always, many, map, message, optional, unless_zero};

static NAMESPACE_SPEC: Message = message(&[many(1, "finalizers", Text)]);

static NAMESPACE_CONDITION: Message = message(&[
    always(1, "type", Text),
    always(2, "status", Text),
    always(4, "lastTransitionTime", Time),
    unless_zero(5, "reason", Text),
    unless_zero(6, "message", Text),
]);

static NAMESPACE_STATUS: Message = message(&[
    unless_zero(1, "phase", Text),
    many(2, "conditions", Nested(&NAMESPACE_CONDITION)),
]);

pub(super) static NAMESPACE: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "spec", Nested(&NAMESPACE_SPEC)),
    always(3, "status", Nested(&NAMESPACE_STATUS)),
]);

pub(super) static SECRET: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    map(2, "data", Bytes),
    unless_zero(3, "type", Text),
    map(4, "stringData", Text),
    optional(5, "immutable", Bool),
]);

pub(super) static CONFIG_MAP: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    map(2, "data", Text),
    map(3, "binaryData", Bytes),
    optional(4, "immutable", Bool),
]);

static OBJECT_REFERENCE: Message = message(&[
    unless_zero(1, "kind", Text),
    unless_zero(2, "namespace", Text),
    unless_zero(3, "name", Text),
    unless_zero(4, "uid", Text),
    unless_zero(5, "apiVersion", Text),
    unless_zero(6, "resourceVersion", Text),
    unless_zero(7, "fieldPath", Text),
]);

static LOCAL_OBJECT_REFERENCE: Message = message(&[unless_zero(1, "name", Text)]);

pub(super) static SERVICE_ACCOUNT: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    many(2, "secrets", Nested(&OBJECT_REFERENCE)),
    many(3, "imagePullSecrets", Nested(&LOCAL_OBJECT_REFERENCE)),
    optional(4, "automountServiceAccountToken", Bool),
]);

static EVENT_SOURCE: Message = message(&[
    unless_zero(1, "component", Text),
    unless_zero(2, "host", Text),
]);

static EVENT_SERIES: Message = message(&[
    unless_zero(1, "count", Int32),
    always(2, "lastObservedTime", MicroTime),
]);

pub(super) static EVENT: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "involvedObject", Nested(&OBJECT_REFERENCE)),
    unless_zero(3, "reason", Text),
    unless_zero(4, "message", Text),
    always(5, "source", Nested(&EVENT_SOURCE)),
    always(6, "firstTimestamp", Time),
    always(7, "lastTimestamp", Time),
    unless_zero(8, "count", Int32),
    unless_zero(9, "type", Text),
    always(10, "eventTime", MicroTime),
    optional(11, "series", Nested(&EVENT_SERIES)),
    unless_zero(12, "action", Text),
    optional(13, "related", Nested(&OBJECT_REFERENCE)),
    always(14, "reportingComponent", Text),
    always(15, "reportingInstance", Text),
]);

static EVENTS_EVENT_SERIES: Message = message(&[
    always(1, "count", Int32),
    always(2, "lastObservedTime", MicroTime),
]);

pub(super) static EVENTS_EVENT: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "eventTime", MicroTime),
    optional(3, "series", Nested(&EVENTS_EVENT_SERIES)),
    unless_zero(4, "reportingController", Text),
    unless_zero(5, "reportingInstance", Text),
    unless_zero(6, "action", Text),
    unless_zero(7, "reason", Text),
    always(8, "regarding", Nested(&OBJECT_REFERENCE)),
    optional(9, "related", Nested(&OBJECT_REFERENCE)),
    unless_zero(10, "note", Text),
    unless_zero(11, "type", Text),
    always(12, "deprecatedSource", Nested(&EVENT_SOURCE)),
    always(13, "deprecatedFirstTimestamp", Time),
    always(14, "deprecatedLastTimestamp", Time),
    unless_zero(15, "deprecatedCount", Int32),
]);

static LEASE_SPEC: Message = message(&[
    optional(1, "holderIdentity", Text),
    optional(2, "leaseDurationSeconds", Int32),
    optional(3, "acquireTime", MicroTime),
    optional(4, "renewTime", MicroTime),
    optional(5, "leaseTransitions", Int32),
    optional(6, "strategy", Text),
    optional(7, "preferredHolder", Text),
]);

pub(super) static LEASE: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "spec", Nested(&LEASE_SPEC)),
]);

static SCALE_SPEC: Message = message(&[unless_zero(1, "replicas", Int32)]);

static SCALE_STATUS: Message = message(&[
    always(1, "replicas", Int32),
    unless_zero(2, "selector", Text),
]);

pub(super) static SCALE: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "spec", Nested(&SCALE_SPEC)),
    always(3, "status", Nested(&SCALE_STATUS)),
]);
