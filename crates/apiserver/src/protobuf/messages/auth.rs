//! The messages about who may do what: reviews, tokens and roles.

use super::meta::{
    FIELD_SELECTOR_REQUIREMENT, LABEL_SELECTOR, LABEL_SELECTOR_REQUIREMENT, OBJECT_META,
};
use crate::protobuf::message::Type::{Bool, Int64, Nested, Text, Texts, Time};
use crate::protobuf::message::{
    Message, always, many, many_or_null, map, message, nullable, optional, unless_zero,
};

static FIELD_SELECTOR_ATTRIBUTES: Message = message(&[
    unless_zero(1, "rawSelector", Text),
    many(2, "requirements", Nested(&FIELD_SELECTOR_REQUIREMENT)),
]);

static LABEL_SELECTOR_ATTRIBUTES: Message = message(&[
    unless_zero(1, "rawSelector", Text),
    many(2, "requirements", Nested(&LABEL_SELECTOR_REQUIREMENT)),
]);

static RESOURCE_ATTRIBUTES: Message = message(&[
    unless_zero(1, "namespace", Text),
    unless_zero(2, "verb", Text),
    unless_zero(3, "group", Text),
    unless_zero(4, "version", Text),
    unless_zero(5, "resource", Text),
    unless_zero(6, "subresource", Text),
    unless_zero(7, "name", Text),
    optional(8, "fieldSelector", Nested(&FIELD_SELECTOR_ATTRIBUTES)),
    optional(9, "labelSelector", Nested(&LABEL_SELECTOR_ATTRIBUTES)),
]);

static NON_RESOURCE_ATTRIBUTES: Message =
    message(&[unless_zero(1, "path", Text), unless_zero(2, "verb", Text)]);

static SELF_SUBJECT_ACCESS_REVIEW_SPEC: Message = message(&[
    optional(1, "resourceAttributes", Nested(&RESOURCE_ATTRIBUTES)),
    optional(2, "nonResourceAttributes", Nested(&NON_RESOURCE_ATTRIBUTES)),
]);

static SUBJECT_ACCESS_REVIEW_STATUS: Message = message(&[
    always(1, "allowed", Bool),
    unless_zero(2, "reason", Text),
    unless_zero(3, "evaluationError", Text),
    unless_zero(4, "denied", Bool),
]);

pub(super) static SELF_SUBJECT_ACCESS_REVIEW: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "spec", Nested(&SELF_SUBJECT_ACCESS_REVIEW_SPEC)),
    always(3, "status", Nested(&SUBJECT_ACCESS_REVIEW_STATUS)),
]);

static SUBJECT_ACCESS_REVIEW_SPEC: Message = message(&[
    optional(1, "resourceAttributes", Nested(&RESOURCE_ATTRIBUTES)),
    optional(2, "nonResourceAttributes", Nested(&NON_RESOURCE_ATTRIBUTES)),
    unless_zero(3, "user", Text),
    many(4, "groups", Text),
    map(5, "extra", Texts),
    unless_zero(6, "uid", Text),
]);

pub(super) static LOCAL_SUBJECT_ACCESS_REVIEW: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "spec", Nested(&SUBJECT_ACCESS_REVIEW_SPEC)),
    always(3, "status", Nested(&SUBJECT_ACCESS_REVIEW_STATUS)),
]);

pub(super) static SUBJECT_ACCESS_REVIEW: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "spec", Nested(&SUBJECT_ACCESS_REVIEW_SPEC)),
    always(3, "status", Nested(&SUBJECT_ACCESS_REVIEW_STATUS)),
]);

static SELF_SUBJECT_RULES_REVIEW_SPEC: Message = message(&[unless_zero(1, "namespace", Text)]);

static RESOURCE_RULE: Message = message(&[
    many_or_null(1, "verbs", Text),
    many(2, "apiGroups", Text),
    many(3, "resources", Text),
    many(4, "resourceNames", Text),
]);

static NON_RESOURCE_RULE: Message = message(&[
    many_or_null(1, "verbs", Text),
    many(2, "nonResourceURLs", Text),
]);

static SUBJECT_RULES_REVIEW_STATUS: Message = message(&[
    many_or_null(1, "resourceRules", Nested(&RESOURCE_RULE)),
    many_or_null(2, "nonResourceRules", Nested(&NON_RESOURCE_RULE)),
    always(3, "incomplete", Bool),
    unless_zero(4, "evaluationError", Text),
]);

pub(super) static SELF_SUBJECT_RULES_REVIEW: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "spec", Nested(&SELF_SUBJECT_RULES_REVIEW_SPEC)),
    always(3, "status", Nested(&SUBJECT_RULES_REVIEW_STATUS)),
]);

static USER_INFO: Message = message(&[
    unless_zero(1, "username", Text),
    unless_zero(2, "uid", Text),
    many(3, "groups", Text),
    map(4, "extra", Texts),
]);

static SELF_SUBJECT_REVIEW_STATUS: Message = message(&[always(1, "userInfo", Nested(&USER_INFO))]);

pub(super) static SELF_SUBJECT_REVIEW: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "status", Nested(&SELF_SUBJECT_REVIEW_STATUS)),
]);

static TOKEN_REVIEW_SPEC: Message =
    message(&[unless_zero(1, "token", Text), many(2, "audiences", Text)]);

static TOKEN_REVIEW_STATUS: Message = message(&[
    unless_zero(1, "authenticated", Bool),
    always(2, "user", Nested(&USER_INFO)),
    unless_zero(3, "error", Text),
    many(4, "audiences", Text),
]);

pub(super) static TOKEN_REVIEW: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "spec", Nested(&TOKEN_REVIEW_SPEC)),
    always(3, "status", Nested(&TOKEN_REVIEW_STATUS)),
]);

static BOUND_OBJECT_REFERENCE: Message = message(&[
    unless_zero(1, "kind", Text),
    unless_zero(2, "apiVersion", Text),
    unless_zero(3, "name", Text),
    unless_zero(4, "uid", Text),
]);

static TOKEN_REQUEST_SPEC: Message = message(&[
    many_or_null(1, "audiences", Text),
    nullable(3, "boundObjectRef", Nested(&BOUND_OBJECT_REFERENCE)),
    nullable(4, "expirationSeconds", Int64),
]);

static TOKEN_REQUEST_STATUS: Message = message(&[
    always(1, "token", Text),
    always(2, "expirationTimestamp", Time),
]);

pub(super) static TOKEN_REQUEST: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "spec", Nested(&TOKEN_REQUEST_SPEC)),
    always(3, "status", Nested(&TOKEN_REQUEST_STATUS)),
]);

static POLICY_RULE: Message = message(&[
    many_or_null(1, "verbs", Text),
    many(2, "apiGroups", Text),
    many(3, "resources", Text),
    many(4, "resourceNames", Text),
    many(5, "nonResourceURLs", Text),
]);

pub(super) static ROLE: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    many_or_null(2, "rules", Nested(&POLICY_RULE)),
]);

static SUBJECT: Message = message(&[
    always(1, "kind", Text),
    unless_zero(2, "apiGroup", Text),
    always(3, "name", Text),
    unless_zero(4, "namespace", Text),
]);

static ROLE_REF: Message = message(&[
    always(1, "apiGroup", Text),
    always(2, "kind", Text),
    always(3, "name", Text),
]);

pub(super) static ROLE_BINDING: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    many(2, "subjects", Nested(&SUBJECT)),
    always(3, "roleRef", Nested(&ROLE_REF)),
]);

static AGGREGATION_RULE: Message =
    message(&[many(1, "clusterRoleSelectors", Nested(&LABEL_SELECTOR))]);

pub(super) static CLUSTER_ROLE: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    many_or_null(2, "rules", Nested(&POLICY_RULE)),
    optional(3, "aggregationRule", Nested(&AGGREGATION_RULE)),
]);

pub(super) static CLUSTER_ROLE_BINDING: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    many(2, "subjects", Nested(&SUBJECT)),
    always(3, "roleRef", Nested(&ROLE_REF)),
]);
