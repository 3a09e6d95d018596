//! The CustomResourceDefinitions of every kind, as objects, as YAML and as JSON schemas for editors.
//!
//! Take them from here and not from `Machine::crd()`: only here are they sanitised into the form
//! that an API server accepts and that committed files are compared with.

mod editor;
mod kinds;
mod object_name;
mod sanitize;
mod verify;
mod versions;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSON, JSONSchemaProps,
};
use serde_json::Value;

pub use editor::editor_schema;
pub use sanitize::sanitize;
pub use verify::violations;
pub use versions::{serve_every_version, serve_stored_version};

use crate::kupenstack::VM_SHORT_NAME;

/// Why a CRD could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CrdError {
    /// The object has no form in JSON.
    #[error("cannot represent the CRD {name} as JSON")]
    Json {
        /// Name of the CRD.
        name: String,
        /// What serde said.
        source: serde_json::Error,
    },
    /// The object has no form in YAML.
    #[error("cannot write the CRD {name} as YAML")]
    Write {
        /// Name of the CRD.
        name: String,
        /// What the YAML library said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The text is not a CRD.
    #[error("the text is not a CustomResourceDefinition in YAML")]
    Read {
        /// What the YAML library said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

/// What an installation may choose about the CRDs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrdOptions {
    /// Leave the short name `vm` to KubeVirt, whose VirtualMachine has it as well.
    pub without_vm_short_name: bool,
}

/// Every CRD, sanitised, in the order of their names.
pub fn crds() -> Vec<CustomResourceDefinition> {
    crds_with(CrdOptions::default())
}

/// Every CRD, sanitised, in the order of their names, as an installation chose them.
pub fn crds_with(options: CrdOptions) -> Vec<CustomResourceDefinition> {
    let mut kinds = kinds::all();
    kinds.sort_by(|(a, _), (b, _)| a.metadata.name.cmp(&b.metadata.name));
    kinds
        .into_iter()
        .map(|(mut crd, born)| {
            sanitize(&mut crd);
            object_name::move_rules(&mut crd);
            born_with(&mut crd, born);
            choose(&mut crd, options);
            crd
        })
        .collect()
}

/// The CRD as an installation chose it.
pub fn choose(crd: &mut CustomResourceDefinition, options: CrdOptions) {
    if options.without_vm_short_name
        && let Some(names) = &mut crd.spec.names.short_names
    {
        names.retain(|name| name != VM_SHORT_NAME);
    }
}

/// Gives every new object a status that says so: nobody has looked at it yet. A generation that
/// was never observed keeps tools that wait for readiness from taking silence for success.
fn born_with(crd: &mut CustomResourceDefinition, status: Option<Value>) {
    for version in &mut crd.spec.versions {
        if let Some(property) = property(version, "status") {
            property.default = status.clone().map(JSON);
        }
    }
}

/// A property at the root of a version's schema.
fn property<'a>(
    version: &'a mut CustomResourceDefinitionVersion,
    name: &str,
) -> Option<&'a mut JSONSchemaProps> {
    let root = version.schema.as_mut()?.open_api_v3_schema.as_mut()?;
    root.properties.as_mut()?.get_mut(name)
}

/// The CRD as YAML: keys in alphabetical order, so that the text changes only when the CRD does.
pub fn crd_yaml(crd: &CustomResourceDefinition) -> Result<String, CrdError> {
    let name = || crd.metadata.name.clone().unwrap_or_default();
    let value = serde_json::to_value(crd).map_err(|source| CrdError::Json {
        name: name(),
        source,
    })?;
    serde_saphyr::to_string(&canonical(value)).map_err(|source| CrdError::Write {
        name: name(),
        source: Box::new(source),
    })
}

/// Reads a CRD from YAML.
pub fn crd_from_yaml(text: &str) -> Result<CustomResourceDefinition, CrdError> {
    // By way of a plain value, because k8s-openapi's own reader wants JSON's data model.
    let value: Value = serde_saphyr::from_str(text).map_err(|source| CrdError::Read {
        source: Box::new(source),
    })?;
    serde_json::from_value(value).map_err(|source| CrdError::Read {
        source: Box::new(source),
    })
}

/// File name of a CRD's YAML: `<group>_<plural>.yaml`.
pub fn crd_file_name(crd: &CustomResourceDefinition) -> String {
    format!("{}_{}.yaml", crd.spec.group, crd.spec.names.plural)
}

/// The schemas of all versions of a CRD, by version.
fn schemas(crd: &CustomResourceDefinition) -> impl Iterator<Item = (&str, &JSONSchemaProps)> {
    crd.spec.versions.iter().filter_map(|version| {
        let schema = version.schema.as_ref()?.open_api_v3_schema.as_ref()?;
        Some((version.name.as_str(), schema))
    })
}

/// The value with sorted keys, and with whole numbers written as such.
fn canonical(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().collect();
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(
                entries
                    .into_iter()
                    .map(|(key, value)| (key, canonical(value)))
                    .collect(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        Value::Number(number) => whole(&number).map_or(Value::Number(number), Value::from),
        other => other,
    }
}

/// The number as an integer, if it is a float without a fraction: bounds of a schema are floats.
fn whole(number: &serde_json::Number) -> Option<i64> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    let exact = float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0;
    exact.then_some(float as i64)
}
