//! From a CustomResourceDefinition, or a built-in written in the same form, to [`Kind`]s.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::kind::{Hook, Kind, Scale, api_version};
use super::shape::Shape;
use super::strategic::Strategic;
use crate::conversion::Conversion;
use crate::schema::{Schema, SchemaError, Validator};
use crate::table::{Column, Columns, TableError};

/// Why a definition cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    /// The spec does not have the form of a CustomResourceDefinition's.
    #[error("the definition is malformed")]
    Malformed(#[from] serde_json::Error),
    /// There is not exactly one stored version.
    #[error("must have exactly one version marked as storage version")]
    StorageVersion,
    /// A version's schema cannot be used.
    #[error("the schema of version {version} cannot be used: {source}")]
    Schema {
        /// The version.
        version: String,
        /// What is wrong with it.
        source: SchemaError,
    },
    /// A printer column cannot be used.
    #[error(transparent)]
    Column(#[from] TableError),
}

/// The `spec` of a definition, as far as it is used. Schemas are passed over: each is read when
/// its kind is used.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Spec {
    pub(crate) group: String,
    pub(crate) names: Names,
    pub(crate) scope: String,
    pub(crate) versions: Vec<Version>,
    #[serde(default)]
    pub(crate) conversion: Value,
    #[serde(default)]
    rules: Rules,
}

/// The names that a definition asks for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Names {
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) list_kind: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
}

/// One version of a definition.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Version {
    pub(crate) name: String,
    pub(crate) served: bool,
    pub(crate) storage: bool,
    #[serde(default)]
    deprecated: bool,
    deprecation_warning: Option<String>,
    #[serde(default)]
    subresources: Subresources,
    #[serde(default)]
    additional_printer_columns: Vec<Column>,
    #[serde(default)]
    selectable_fields: Vec<SelectableField>,
    /// Only in built-ins.
    #[serde(default)]
    renames: Vec<(String, String)>,
}

#[derive(Debug, Default, Deserialize)]
struct Subresources {
    status: Option<Value>,
    scale: Option<ScaleSpec>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScaleSpec {
    spec_replicas_path: String,
    status_replicas_path: String,
    label_selector_path: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SelectableField {
    json_path: String,
}

/// What sets a built-in apart; a definition of a user never has it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Rules {
    generation: bool,
    unconditional_update: bool,
    read_only: bool,
    returns_deleted: bool,
    hook: Hook,
    prefix: Option<String>,
    stored_api_version: Option<String>,
}

/// The shapes of the versions of a definition, by `apiVersion`.
pub(crate) type Shapes = BTreeMap<String, Arc<Shape>>;

impl Default for Rules {
    fn default() -> Self {
        Self {
            generation: true,
            unconditional_update: false,
            read_only: false,
            returns_deleted: false,
            hook: Hook::None,
            prefix: None,
            stored_api_version: None,
        }
    }
}

impl Spec {
    /// Reads the spec of a definition of a user.
    pub(crate) fn of_user<'a>(
        spec: impl serde::Deserializer<'a, Error = serde_json::Error>,
    ) -> Result<Self, DefinitionError> {
        Ok(Self::deserialize(spec)?.into_users())
    }

    /// The same without what only a built-in may say.
    pub(super) fn into_users(mut self) -> Self {
        self.rules = Rules::default();
        for version in &mut self.versions {
            version.renames.clear();
        }
        self.names.complete();
        self
    }

    /// Reads a built-in.
    pub(super) fn of_builtin(spec: &Value) -> Result<Self, DefinitionError> {
        let mut spec = Self::deserialize(spec)?;
        spec.names.complete();
        Ok(spec)
    }

    /// The shapes of all versions, by `apiVersion`; `shape` makes that of the version at a place.
    pub(super) fn shapes(&self, shape: impl Fn(usize) -> Shape) -> Shapes {
        let all = self.versions.iter().enumerate();
        let named = |version: &Version| api_version(&self.group, &version.name);
        all.map(|(at, version)| (named(version), Arc::new(shape(at))))
            .collect()
    }

    /// The kinds of the served versions.
    pub(crate) fn kinds(
        self,
        builtin: bool,
        terminating: bool,
        shapes: &Shapes,
        conversion: Conversion,
    ) -> Result<Vec<Kind>, DefinitionError> {
        let mut stored = self.versions.iter().filter(|v| v.storage);
        let storage = match (stored.next(), stored.next()) {
            (Some(one), None) => one.name.clone(),
            _ => return Err(DefinitionError::StorageVersion),
        };
        let Self {
            group,
            names,
            scope,
            versions,
            conversion: _,
            rules,
        } = self;
        let prefix = rules.prefix.unwrap_or_else(|| {
            let folder = if group.is_empty() { "core" } else { &group };
            format!("/{folder}/{}/", names.plural)
        });
        let stored_api_version = rules
            .stored_api_version
            .unwrap_or_else(|| api_version(&group, &storage));
        let conversion = Arc::new(conversion);
        let mut kinds = Vec::new();
        for version in versions.into_iter().filter(|v| v.served) {
            let shape = shapes.get(&api_version(&group, &version.name)).cloned();
            let deprecation = version.deprecated.then(|| {
                version.deprecation_warning.unwrap_or_else(|| {
                    format!("{}/{} {} is deprecated", group, version.name, names.kind)
                })
            });
            kinds.push(Kind {
                group: group.clone(),
                version: version.name,
                kind: names.kind.clone(),
                list_kind: names.list_kind.clone(),
                plural: names.plural.clone(),
                singular: names.singular.clone(),
                short_names: names.short_names.clone(),
                categories: names.categories.clone(),
                namespaced: scope == "Namespaced",
                shape: shape.unwrap_or_default(),
                status: version.subresources.status.is_some(),
                scale: version.subresources.scale.map(|s| Scale {
                    spec_replicas: s.spec_replicas_path,
                    status_replicas: s.status_replicas_path,
                    label_selector: s.label_selector_path,
                }),
                columns: if builtin {
                    Columns::builtin(&version.additional_printer_columns)?
                } else {
                    Columns::new(&version.additional_printer_columns)?
                },
                selectable: version
                    .selectable_fields
                    .into_iter()
                    .map(|f| f.json_path)
                    .collect(),
                prefix: prefix.clone(),
                stored_api_version: stored_api_version.clone(),
                renames: version.renames,
                conversion: conversion.clone(),
                generation: rules.generation,
                unconditional_update: rules.unconditional_update,
                read_only: rules.read_only,
                returns_deleted: rules.returns_deleted,
                strategic: if builtin {
                    Strategic::ByTable
                } else {
                    Strategic::Refused
                },
                hook: rules.hook,
                deprecation,
                builtin,
                schema_since: 0,
                terminating,
            });
        }
        Ok(kinds)
    }
}

/// Tries every schema of a definition as its kinds would use it.
pub(crate) fn try_schemas(spec: &Value) -> Result<(), DefinitionError> {
    for version in spec["versions"].as_array().into_iter().flatten() {
        let schema = version.pointer("/schema/openAPIV3Schema");
        Schema::from_value(schema.unwrap_or(&Value::Null))
            .and_then(|schema| Validator::new(Arc::new(schema)))
            .map_err(|source| DefinitionError::Schema {
                version: version["name"].as_str().unwrap_or_default().to_owned(),
                source,
            })?;
    }
    Ok(())
}

impl Names {
    /// Fills in what a definition may leave out.
    pub(crate) fn complete(&mut self) {
        if self.singular.is_empty() {
            self.singular = self.kind.to_lowercase();
        }
        if self.list_kind.is_empty() {
            self.list_kind = format!("{}List", self.kind);
        }
    }

    /// The names in the form of a definition's spec and status.
    pub(crate) fn to_value(&self) -> Value {
        let mut names = serde_json::json!({
            "plural": self.plural,
            "singular": self.singular,
            "kind": self.kind,
            "listKind": self.list_kind,
        });
        if !self.short_names.is_empty() {
            names["shortNames"] = self.short_names.clone().into();
        }
        if !self.categories.is_empty() {
            names["categories"] = self.categories.clone().into();
        }
        names
    }
}
