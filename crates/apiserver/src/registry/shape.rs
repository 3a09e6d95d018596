//! The schema of one version of a kind, read when it is first needed.
//!
//! Most kinds of a server are not used between two starts. What is kept of such a kind is the
//! text that lies in the store anyway; the tree of its schema, and its patterns and rules made
//! ready to run, are made by the first who asks. Whether a definition is acceptable is decided
//! when it is written, and not here.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use crate::schema::{Schema, SchemaError, Validator};

/// A schema with what is made of it.
#[derive(Debug, Default)]
pub struct Shape {
    source: Source,
    schema: OnceLock<Read>,
    validator: OnceLock<Validator>,
}

/// Where the text of a schema is.
#[derive(Debug, Default)]
enum Source {
    /// There is none: nothing is known of the objects.
    #[default]
    None,
    /// It stands alone.
    Text(Box<str>),
    /// It is that of the version at this place of a stored definition.
    Definition(Bytes, usize),
}

/// A schema that was read, or what stands for one that cannot be.
#[derive(Debug)]
struct Read {
    schema: Arc<Schema>,
    /// Whether there are objects within its objects.
    embeds: bool,
    fault: Option<String>,
}

/// As much of a stored definition as holds schemas.
#[derive(Deserialize)]
struct Definition {
    spec: Spec,
}

#[derive(Deserialize)]
struct Spec {
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    schema: VersionSchema,
}

#[derive(Default, Deserialize)]
struct VersionSchema {
    #[serde(rename = "openAPIV3Schema")]
    open_api: Option<Schema>,
}

impl Shape {
    /// The shape of a version of a built-in kind.
    pub(super) fn of_builtin(schema: Option<&Value>) -> Self {
        Self::of(match schema {
            None => Source::None,
            Some(schema) => Source::Text(schema.to_string().into()),
        })
    }

    /// The shape of the version at a place of a definition, from its bytes in the store.
    pub(super) fn of_definition(stored: &Bytes, version: usize) -> Self {
        Self::of(Source::Definition(stored.clone(), version))
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            schema: OnceLock::new(),
            validator: OnceLock::new(),
        }
    }

    /// The schema; from now on it is there.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.known().schema
    }

    /// Whether there are objects within its objects.
    pub(crate) fn embeds(&self) -> bool {
        self.known().embeds
    }

    /// The schema for one use that leaves nothing behind.
    pub(crate) fn glance(&self) -> Arc<Schema> {
        match self.schema.get() {
            Some(known) => known.schema.clone(),
            None => Arc::new(self.read().unwrap_or_default()),
        }
    }

    /// The schema, ready to judge objects. One that cannot be used refuses them all.
    pub fn validator(&self) -> &Validator {
        self.validator.get_or_init(|| {
            let Read { schema, fault, .. } = self.known();
            let made = match fault {
                None => Validator::new(schema.clone()).map_err(|error| error.to_string()),
                Some(fault) => Err(fault.clone()),
            };
            made.unwrap_or_else(|fault| {
                // Admission refuses such a definition, so only an older server can have stored it.
                tracing::error!(fault, "a stored schema cannot be used");
                Validator::refusing(schema.clone(), fault)
            })
        })
    }

    /// Whether two schemas say the same, whatever the text around them.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        matches!((self.read(), other.read()), (Ok(one), Ok(two)) if one == two)
    }

    fn known(&self) -> &Read {
        self.schema.get_or_init(|| match self.read() {
            Ok(schema) => Read {
                embeds: schema.embeds(),
                schema: Arc::new(schema),
                fault: None,
            },
            // Nothing of an object is dropped on its account, and nothing is taken either.
            Err(error) => Read {
                schema: Arc::new(Schema {
                    preserve_unknown_fields: true,
                    ..Schema::default()
                }),
                embeds: false,
                fault: Some(error.to_string()),
            },
        })
    }

    fn read(&self) -> Result<Schema, SchemaError> {
        match &self.source {
            Source::None => Ok(Schema::default()),
            Source::Text(text) => Ok(serde_json::from_str(text)?),
            Source::Definition(stored, version) => {
                let definition: Definition = serde_json::from_slice(stored)?;
                let mut versions = definition.spec.versions.into_iter();
                let found = versions.nth(*version).and_then(|v| v.schema.open_api);
                Ok(found.unwrap_or_default())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(schemas: &[Value]) -> Bytes {
        let versions: Vec<Value> = schemas
            .iter()
            .map(|schema| json!({"name": "v", "schema": {"openAPIV3Schema": schema}}))
            .collect();
        let text = json!({"metadata": {}, "spec": {"versions": versions}}).to_string();
        Bytes::from(text.into_bytes())
    }

    #[test]
    fn a_shape_is_that_of_its_version_and_is_made_on_demand() {
        let stored = definition(&[json!({"type": "string"}), json!({"type": "object"})]);
        let shape = Shape::of_definition(&stored, 1);
        assert_eq!(shape.glance().ty.as_deref(), Some("object"));
        assert!(shape.schema.get().is_none(), "a glance leaves nothing");
        assert_eq!(shape.schema().ty.as_deref(), Some("object"));
        assert!(shape.schema.get().is_some() && shape.validator.get().is_none());
        assert!(!shape.validator().validate(&json!("text"), None).is_empty());
        assert!(shape.validator().validate(&json!({}), None).is_empty());
        assert!(shape.is_same(&Shape::of_builtin(Some(&json!({"type": "object"})))));
        assert!(!shape.is_same(&Shape::of_definition(&stored, 0)));
    }

    #[test]
    fn what_cannot_be_used_refuses_every_object_and_drops_nothing() {
        for schema in [
            json!({"type": 3}),
            json!({"type": "object", "x-kubernetes-validations": [{"rule": "self.("}]}),
            json!({"type": "object", "pattern": "("}),
        ] {
            let shape = Shape::of_definition(&definition(std::slice::from_ref(&schema)), 0);
            let errors = shape.validator().validate(&json!({"a": 1}), None);
            assert_eq!(errors.len(), 1, "{schema}");
        }
        let shape = Shape::of_definition(&definition(&[json!({"type": 3})]), 0);
        assert!(shape.schema().preserve_unknown_fields);
    }
}
