//! The messages about admission webhooks.

use super::meta::{LABEL_SELECTOR, OBJECT_META};
use crate::protobuf::message::Type::{Bytes, Int32, Nested, Text};
use crate::protobuf::message::{
    Message, always, inline, many, many_or_null, message, nullable, optional, unless_zero,
};

static RULE: Message = message(&[
    many(1, "apiGroups", Text),
    many(2, "apiVersions", Text),
    many(3, "resources", Text),
    optional(4, "scope", Text),
]);

static RULE_WITH_OPERATIONS: Message = message(&[many(1, "operations", Text), inline(2, &RULE)]);

static SERVICE_REFERENCE: Message = message(&[
    always(1, "namespace", Text),
    always(2, "name", Text),
    optional(3, "path", Text),
    optional(4, "port", Int32),
]);

static CLIENT_CONFIG: Message = message(&[
    optional(1, "service", Nested(&SERVICE_REFERENCE)),
    unless_zero(2, "caBundle", Bytes),
    optional(3, "url", Text),
]);

static MATCH_CONDITION: Message =
    message(&[always(1, "name", Text), always(2, "expression", Text)]);

static VALIDATING_WEBHOOK: Message = message(&[
    always(1, "name", Text),
    always(2, "clientConfig", Nested(&CLIENT_CONFIG)),
    many(3, "rules", Nested(&RULE_WITH_OPERATIONS)),
    optional(4, "failurePolicy", Text),
    optional(5, "namespaceSelector", Nested(&LABEL_SELECTOR)),
    nullable(6, "sideEffects", Text),
    optional(7, "timeoutSeconds", Int32),
    many_or_null(8, "admissionReviewVersions", Text),
    optional(9, "matchPolicy", Text),
    optional(10, "objectSelector", Nested(&LABEL_SELECTOR)),
    many(11, "matchConditions", Nested(&MATCH_CONDITION)),
]);

static MUTATING_WEBHOOK: Message = message(&[
    always(1, "name", Text),
    always(2, "clientConfig", Nested(&CLIENT_CONFIG)),
    many(3, "rules", Nested(&RULE_WITH_OPERATIONS)),
    optional(4, "failurePolicy", Text),
    optional(5, "namespaceSelector", Nested(&LABEL_SELECTOR)),
    nullable(6, "sideEffects", Text),
    optional(7, "timeoutSeconds", Int32),
    many_or_null(8, "admissionReviewVersions", Text),
    optional(9, "matchPolicy", Text),
    optional(10, "reinvocationPolicy", Text),
    optional(11, "objectSelector", Nested(&LABEL_SELECTOR)),
    many(12, "matchConditions", Nested(&MATCH_CONDITION)),
]);

pub(super) static VALIDATING_WEBHOOK_CONFIGURATION: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    many(2, "webhooks", Nested(&VALIDATING_WEBHOOK)),
]);

pub(super) static MUTATING_WEBHOOK_CONFIGURATION: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    many(2, "webhooks", Nested(&MUTATING_WEBHOOK)),
]);
