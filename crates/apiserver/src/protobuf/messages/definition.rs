//! The messages of a definition of custom resources, down to its schema.

use super::meta::OBJECT_META;
use crate::protobuf::message::Type::{
    Bool, Bytes, Double, Int32, Int64, Json, Nested, SchemaOrBool, SchemaOrSchemas, SchemaOrTexts,
    Text, Time,
};
use crate::protobuf::message::{
    Message, always, many, many_or_null, map, message, optional, unless_zero,
};

static CUSTOM_RESOURCE_DEFINITION_NAMES: Message = message(&[
    always(1, "plural", Text),
    unless_zero(2, "singular", Text),
    many(3, "shortNames", Text),
    always(4, "kind", Text),
    unless_zero(5, "listKind", Text),
    many(6, "categories", Text),
]);

static EXTERNAL_DOCUMENTATION: Message = message(&[
    unless_zero(1, "description", Text),
    unless_zero(2, "url", Text),
]);

static VALIDATION_RULE: Message = message(&[
    always(1, "rule", Text),
    unless_zero(2, "message", Text),
    unless_zero(3, "messageExpression", Text),
    optional(4, "reason", Text),
    unless_zero(5, "fieldPath", Text),
    optional(6, "optionalOldSelf", Bool),
]);

pub(in crate::protobuf) static JSON_SCHEMA_PROPS: Message = message(&[
    unless_zero(1, "id", Text),
    unless_zero(2, "$schema", Text),
    optional(3, "$ref", Text),
    unless_zero(4, "description", Text),
    unless_zero(5, "type", Text),
    unless_zero(6, "format", Text),
    unless_zero(7, "title", Text),
    optional(8, "default", Json),
    optional(9, "maximum", Double),
    unless_zero(10, "exclusiveMaximum", Bool),
    optional(11, "minimum", Double),
    unless_zero(12, "exclusiveMinimum", Bool),
    optional(13, "maxLength", Int64),
    optional(14, "minLength", Int64),
    unless_zero(15, "pattern", Text),
    optional(16, "maxItems", Int64),
    optional(17, "minItems", Int64),
    unless_zero(18, "uniqueItems", Bool),
    optional(19, "multipleOf", Double),
    many(20, "enum", Json),
    optional(21, "maxProperties", Int64),
    optional(22, "minProperties", Int64),
    many(23, "required", Text),
    optional(24, "items", SchemaOrSchemas),
    many(25, "allOf", Nested(&JSON_SCHEMA_PROPS)),
    many(26, "oneOf", Nested(&JSON_SCHEMA_PROPS)),
    many(27, "anyOf", Nested(&JSON_SCHEMA_PROPS)),
    optional(28, "not", Nested(&JSON_SCHEMA_PROPS)),
    map(29, "properties", Nested(&JSON_SCHEMA_PROPS)),
    optional(30, "additionalProperties", SchemaOrBool),
    map(31, "patternProperties", Nested(&JSON_SCHEMA_PROPS)),
    map(32, "dependencies", SchemaOrTexts),
    optional(33, "additionalItems", SchemaOrBool),
    map(34, "definitions", Nested(&JSON_SCHEMA_PROPS)),
    optional(35, "externalDocs", Nested(&EXTERNAL_DOCUMENTATION)),
    optional(36, "example", Json),
    unless_zero(37, "nullable", Bool),
    optional(38, "x-kubernetes-preserve-unknown-fields", Bool),
    unless_zero(39, "x-kubernetes-embedded-resource", Bool),
    unless_zero(40, "x-kubernetes-int-or-string", Bool),
    many(41, "x-kubernetes-list-map-keys", Text),
    optional(42, "x-kubernetes-list-type", Text),
    optional(43, "x-kubernetes-map-type", Text),
    many(44, "x-kubernetes-validations", Nested(&VALIDATION_RULE)),
]);

static CUSTOM_RESOURCE_VALIDATION: Message =
    message(&[optional(1, "openAPIV3Schema", Nested(&JSON_SCHEMA_PROPS))]);

static CUSTOM_RESOURCE_SUBRESOURCE_STATUS: Message = message(&[]);

static CUSTOM_RESOURCE_SUBRESOURCE_SCALE: Message = message(&[
    always(1, "specReplicasPath", Text),
    always(2, "statusReplicasPath", Text),
    optional(3, "labelSelectorPath", Text),
]);

static CUSTOM_RESOURCE_SUBRESOURCES: Message = message(&[
    optional(1, "status", Nested(&CUSTOM_RESOURCE_SUBRESOURCE_STATUS)),
    optional(2, "scale", Nested(&CUSTOM_RESOURCE_SUBRESOURCE_SCALE)),
]);

static CUSTOM_RESOURCE_COLUMN_DEFINITION: Message = message(&[
    always(1, "name", Text),
    always(2, "type", Text),
    unless_zero(3, "format", Text),
    unless_zero(4, "description", Text),
    unless_zero(5, "priority", Int32),
    always(6, "jsonPath", Text),
]);

static SELECTABLE_FIELD: Message = message(&[always(1, "jsonPath", Text)]);

static CUSTOM_RESOURCE_DEFINITION_VERSION: Message = message(&[
    always(1, "name", Text),
    always(2, "served", Bool),
    always(3, "storage", Bool),
    optional(4, "schema", Nested(&CUSTOM_RESOURCE_VALIDATION)),
    optional(5, "subresources", Nested(&CUSTOM_RESOURCE_SUBRESOURCES)),
    many(
        6,
        "additionalPrinterColumns",
        Nested(&CUSTOM_RESOURCE_COLUMN_DEFINITION),
    ),
    unless_zero(7, "deprecated", Bool),
    optional(8, "deprecationWarning", Text),
    many(9, "selectableFields", Nested(&SELECTABLE_FIELD)),
]);

static SERVICE_REFERENCE: Message = message(&[
    always(1, "namespace", Text),
    always(2, "name", Text),
    optional(3, "path", Text),
    optional(4, "port", Int32),
]);

static WEBHOOK_CLIENT_CONFIG: Message = message(&[
    optional(1, "service", Nested(&SERVICE_REFERENCE)),
    unless_zero(2, "caBundle", Bytes),
    optional(3, "url", Text),
]);

static WEBHOOK_CONVERSION: Message = message(&[
    optional(2, "clientConfig", Nested(&WEBHOOK_CLIENT_CONFIG)),
    many_or_null(3, "conversionReviewVersions", Text),
]);

static CUSTOM_RESOURCE_CONVERSION: Message = message(&[
    always(1, "strategy", Text),
    optional(2, "webhook", Nested(&WEBHOOK_CONVERSION)),
]);

static CUSTOM_RESOURCE_DEFINITION_SPEC: Message = message(&[
    always(1, "group", Text),
    always(3, "names", Nested(&CUSTOM_RESOURCE_DEFINITION_NAMES)),
    always(4, "scope", Text),
    many_or_null(7, "versions", Nested(&CUSTOM_RESOURCE_DEFINITION_VERSION)),
    optional(9, "conversion", Nested(&CUSTOM_RESOURCE_CONVERSION)),
    unless_zero(10, "preserveUnknownFields", Bool),
]);

static CUSTOM_RESOURCE_DEFINITION_CONDITION: Message = message(&[
    always(1, "type", Text),
    always(2, "status", Text),
    always(3, "lastTransitionTime", Time),
    unless_zero(4, "reason", Text),
    unless_zero(5, "message", Text),
    unless_zero(6, "observedGeneration", Int64),
]);

static CUSTOM_RESOURCE_DEFINITION_STATUS: Message = message(&[
    many_or_null(
        1,
        "conditions",
        Nested(&CUSTOM_RESOURCE_DEFINITION_CONDITION),
    ),
    always(
        2,
        "acceptedNames",
        Nested(&CUSTOM_RESOURCE_DEFINITION_NAMES),
    ),
    many_or_null(3, "storedVersions", Text),
    unless_zero(4, "observedGeneration", Int64),
]);

pub(super) static CUSTOM_RESOURCE_DEFINITION: Message = message(&[
    always(1, "metadata", Nested(&OBJECT_META)),
    always(2, "spec", Nested(&CUSTOM_RESOURCE_DEFINITION_SPEC)),
    always(3, "status", Nested(&CUSTOM_RESOURCE_DEFINITION_STATUS)),
]);
