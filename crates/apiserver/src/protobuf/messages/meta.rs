//! The messages that every group shares: object metadata, selectors and the options of a deletion.

use crate::protobuf::message::Type::{Bool, Int64, Json, Nested, Text, Time};
use crate::protobuf::message::{Message, always, many, map, message, optional, unless_zero};

static PRECONDITIONS: Message = message(&[
    optional(1, "uid", Text),
    optional(2, "resourceVersion", Text),
]);

pub(super) static DELETE_OPTIONS: Message = message(&[
    optional(1, "gracePeriodSeconds", Int64),
    optional(2, "preconditions", Nested(&PRECONDITIONS)),
    optional(3, "orphanDependents", Bool),
    optional(4, "propagationPolicy", Text),
    many(5, "dryRun", Text),
    optional(6, "ignoreStoreReadErrorWithClusterBreakingPotential", Bool),
]);

static OWNER_REFERENCE: Message = message(&[
    always(1, "kind", Text),
    always(3, "name", Text),
    always(4, "uid", Text),
    always(5, "apiVersion", Text),
    optional(6, "controller", Bool),
    optional(7, "blockOwnerDeletion", Bool),
]);

static MANAGED_FIELDS_ENTRY: Message = message(&[
    unless_zero(1, "manager", Text),
    unless_zero(2, "operation", Text),
    unless_zero(3, "apiVersion", Text),
    optional(4, "time", Time),
    unless_zero(6, "fieldsType", Text),
    optional(7, "fieldsV1", Json),
    unless_zero(8, "subresource", Text),
]);

pub(super) static OBJECT_META: Message = message(&[
    unless_zero(1, "name", Text),
    unless_zero(2, "generateName", Text),
    unless_zero(3, "namespace", Text),
    unless_zero(4, "selfLink", Text),
    unless_zero(5, "uid", Text),
    unless_zero(6, "resourceVersion", Text),
    unless_zero(7, "generation", Int64),
    unless_zero(8, "creationTimestamp", Time),
    optional(9, "deletionTimestamp", Time),
    optional(10, "deletionGracePeriodSeconds", Int64),
    map(11, "labels", Text),
    map(12, "annotations", Text),
    many(13, "ownerReferences", Nested(&OWNER_REFERENCE)),
    many(14, "finalizers", Text),
    many(17, "managedFields", Nested(&MANAGED_FIELDS_ENTRY)),
]);

pub(super) static FIELD_SELECTOR_REQUIREMENT: Message = message(&[
    always(1, "key", Text),
    always(2, "operator", Text),
    many(3, "values", Text),
]);

pub(super) static LABEL_SELECTOR_REQUIREMENT: Message = message(&[
    always(1, "key", Text),
    always(2, "operator", Text),
    many(3, "values", Text),
]);

pub(super) static LABEL_SELECTOR: Message = message(&[
    map(1, "matchLabels", Text),
    many(2, "matchExpressions", Nested(&LABEL_SELECTOR_REQUIREMENT)),
]);
