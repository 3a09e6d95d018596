//! Questions that others ask a schema: which node a field has, and how a list or map merges.

use serde_json::Value;

use super::{Schema, SchemaError, SchemaOrBool};

/// How the items of a list are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind<'a> {
    /// The list is one value.
    Atomic,
    /// Items are scalars and each is there at most once.
    Set,
    /// Items are objects, identified by these fields.
    Map(&'a [String]),
}

impl Schema {
    /// Reads a schema from an `openAPIV3Schema` document.
    ///
    /// # Errors
    /// When the document is no JSONSchemaProps.
    pub fn from_value(value: &Value) -> Result<Self, SchemaError> {
        Ok(<Self as serde::Deserialize>::deserialize(value)?)
    }

    /// The node of `field`: the property of that name, or what every unlisted field looks like.
    pub fn child(&self, field: &str) -> Option<&Schema> {
        self.properties.get(field).or_else(|| self.map_value())
    }

    /// The node of every value of a map, if this node is a map.
    pub fn map_value(&self) -> Option<&Schema> {
        match self.additional_properties.as_deref() {
            Some(SchemaOrBool::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The node of the items of a list.
    pub fn element(&self) -> Option<&Schema> {
        self.items.as_deref()
    }

    /// How the list at this node merges; a list that says nothing is atomic.
    pub fn list_kind(&self) -> ListKind<'_> {
        match self.list_type.as_deref() {
            Some("set") => ListKind::Set,
            Some("map") => ListKind::Map(&self.list_map_keys),
            _ => ListKind::Atomic,
        }
    }

    /// Whether there are whole objects at or below this node.
    pub(crate) fn embeds(&self) -> bool {
        let below = self.properties.values().chain(self.map_value());
        self.embedded_resource || below.chain(self.element()).any(Self::embeds)
    }

    /// Whether the object at this node is replaced whole.
    pub fn is_atomic_map(&self) -> bool {
        self.map_type.as_deref() == Some("atomic")
    }

    /// Whether unlisted fields have a place here, by `additionalProperties`.
    pub(crate) fn is_open(&self) -> bool {
        matches!(
            self.additional_properties.as_deref(),
            Some(SchemaOrBool::Schema(_) | SchemaOrBool::Bool(true))
        )
    }
}
