//! The shape of `metadata`, which no custom resource describes and every object has.

use std::sync::LazyLock;

use crate::schema::{Schema, SchemaOrBool};

static OBJECT_META: LazyLock<Schema> = LazyLock::new(build);

/// The schema of `metadata`, as far as merging goes.
pub(super) fn object_meta() -> &'static Schema {
    &OBJECT_META
}

fn build() -> Schema {
    let time = || Schema {
        format: Some("date-time".into()),
        ..of_type("string")
    };
    object([
        ("annotations", map_of(of_type("string"))),
        ("creationTimestamp", time()),
        ("deletionGracePeriodSeconds", of_type("integer")),
        ("deletionTimestamp", time()),
        ("finalizers", list("set", of_type("string"))),
        ("generateName", of_type("string")),
        ("generation", of_type("integer")),
        ("labels", map_of(of_type("string"))),
        ("managedFields", list("atomic", object_of_anything())),
        ("name", of_type("string")),
        ("namespace", of_type("string")),
        ("ownerReferences", keyed_list("uid", owner_reference())),
        ("resourceVersion", of_type("string")),
        ("selfLink", of_type("string")),
        ("uid", of_type("string")),
    ])
}

fn owner_reference() -> Schema {
    let fields = object([
        ("apiVersion", of_type("string")),
        ("blockOwnerDeletion", of_type("boolean")),
        ("controller", of_type("boolean")),
        ("kind", of_type("string")),
        ("name", of_type("string")),
        ("uid", of_type("string")),
    ]);
    Schema {
        map_type: Some("atomic".into()),
        ..fields
    }
}

fn of_type(ty: &str) -> Schema {
    Schema {
        ty: Some(ty.into()),
        ..Schema::default()
    }
}

fn object<const N: usize>(fields: [(&str, Schema); N]) -> Schema {
    let properties = fields
        .into_iter()
        .map(|(name, schema)| (name.into(), schema))
        .collect();
    Schema {
        properties,
        ..of_type("object")
    }
}

fn object_of_anything() -> Schema {
    Schema {
        preserve_unknown_fields: true,
        ..of_type("object")
    }
}

fn map_of(values: Schema) -> Schema {
    Schema {
        additional_properties: Some(Box::new(SchemaOrBool::Schema(values))),
        ..of_type("object")
    }
}

fn list(list_type: &str, items: Schema) -> Schema {
    Schema {
        list_type: Some(list_type.into()),
        items: Some(Box::new(items)),
        ..of_type("array")
    }
}

fn keyed_list(key: &str, items: Schema) -> Schema {
    Schema {
        list_map_keys: vec![key.into()],
        ..list("map", items)
    }
}
