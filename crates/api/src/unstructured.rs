//! Typed objects and unstructured ones ([`DynamicObject`]) become each other.
//!
//! An error names the path of the field and what was expected there. Between versions of a kind
//! see [`crate::convert`].

use kube::Resource;
use kube::core::DynamicObject;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why an object cannot be read or written as what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum UnstructuredError {
    /// The object is of another kind or version.
    #[error("the object is a {found}, not a {wanted}")]
    OtherKind {
        /// Kind and version that were asked for.
        wanted: String,
        /// Kind and version that the object has.
        found: String,
    },
    /// A field does not hold what its type demands.
    #[error("{path}: {source}")]
    Field {
        /// Path of the field, such as `spec.disks[1].sizeGB`.
        path: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// Makes an unstructured object of a typed one.
///
/// # Errors
/// When a field has no form in JSON; the error names it.
pub fn to_unstructured<K>(object: &K) -> Result<DynamicObject, UnstructuredError>
where
    K: Resource<DynamicType = ()> + Serialize,
{
    let mut value = to_value(object)?;
    // Not every type writes what it is.
    value["apiVersion"] = K::api_version(&()).into();
    value["kind"] = K::kind(&()).into();
    from_value(value)
}

/// Makes a typed object of an unstructured one.
///
/// # Errors
/// When it is of another kind or version, or when a field does not fit; the error names it.
pub fn from_unstructured<K>(object: &DynamicObject) -> Result<K, UnstructuredError>
where
    K: Resource<DynamicType = ()> + DeserializeOwned,
{
    let wanted = format!("{} of {}", K::kind(&()), K::api_version(&()));
    let found = match &object.types {
        Some(types) => format!("{} of {}", types.kind, types.api_version),
        None => "value without a kind".to_owned(),
    };
    if found != wanted {
        return Err(UnstructuredError::OtherKind { wanted, found });
    }
    from_value(to_value(object)?)
}

fn to_value(object: &impl Serialize) -> Result<Value, UnstructuredError> {
    serde_path_to_error::serialize(object, serde_json::value::Serializer).map_err(field)
}

fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, UnstructuredError> {
    serde_path_to_error::deserialize(value).map_err(field)
}

fn field(error: serde_path_to_error::Error<serde_json::Error>) -> UnstructuredError {
    UnstructuredError::Field {
        path: error.path().to_string(),
        source: error.into_inner(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::vitistack::{Machine, v1beta1};

    fn dynamic(value: Value) -> DynamicObject {
        from_value(value).unwrap_or_else(|_| DynamicObject {
            types: None,
            metadata: kube::core::ObjectMeta::default(),
            data: Value::Null,
        })
    }

    #[test]
    fn there_and_back_is_the_same() {
        let object = dynamic(json!({
            "apiVersion": "vitistack.io/v1alpha1", "kind": "Machine",
            "metadata": { "name": "web", "labels": { "a": "b" } },
            "spec": { "memory": 1, "disks": [{ "name": "root", "sizeGB": 20 }] },
        }));
        let typed: Machine = from_unstructured(&object).unwrap_or_default();
        assert_eq!(typed.spec.disks[0].size_gb, Some(20));
        assert_eq!(to_unstructured(&typed).ok(), Some(object));
    }

    #[test]
    fn errors_name_the_path() {
        for (value, why) in [
            (
                json!({"apiVersion": "vitistack.io/v1alpha1", "kind": "Machine", "metadata": {}, "spec": {"disks": [{"name": "a"}, {"name": "b", "sizeGB": "20"}]}}),
                "spec.disks[1].sizeGB: invalid type: string \"20\", expected i32",
            ),
            (
                json!({"apiVersion": "vitistack.io/v1alpha1", "kind": "Machine", "metadata": {}, "spec": {"powerState": "Off"}}),
                "spec.powerState: unknown variant `Off`, expected `Running` or `Stopped`",
            ),
            (
                json!({"apiVersion": "vitistack.io/v1beta1", "kind": "Machine", "metadata": {}, "spec": {}}),
                "the object is a Machine of vitistack.io/v1beta1, not a Machine of vitistack.io/v1alpha1",
            ),
            (
                json!({"metadata": {}}),
                "the object is a value without a kind, not a Machine of vitistack.io/v1alpha1",
            ),
        ] {
            let said = from_unstructured::<Machine>(&dynamic(value)).map_err(|e| e.to_string());
            assert_eq!(said.err().as_deref(), Some(why));
        }
        let beta: Result<v1beta1::Machine, _> = from_unstructured(&dynamic(json!({
            "apiVersion": "vitistack.io/v1beta1", "kind": "Machine", "metadata": {},
            "spec": { "interfaces": [{ "name": 7 }] },
        })));
        let said = beta
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(
            said.starts_with("spec.interfaces[0].name: invalid type"),
            "{said}"
        );
    }
}
