//! Reads of a stored object only the fields that somebody wants to look at, and passes over the
//! rest: a selective list looks at every object, and takes few.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The object with nothing but what is on these paths; what is not there is left out. A path
/// that ends in an object or a list has all of it.
pub(super) fn glance(text: &[u8], paths: &[&str]) -> Result<Value, serde_json::Error> {
    let paths: Vec<Vec<&str>> = paths.iter().map(|path| path.split('.').collect()).collect();
    let mut reader = serde_json::Deserializer::from_slice(text);
    Glance(paths.iter().map(Vec::as_slice).collect()).deserialize(&mut reader)
}

/// What is wanted of one value, each as the path from there.
struct Glance<'a>(Vec<&'a [&'a str]>);

impl<'de> DeserializeSeed<'de> for Glance<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.0.iter().any(|path| path.is_empty()) {
            true => serde::Deserialize::deserialize(deserializer),
            false => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Glance<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut seen = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let below = self.0.iter().filter_map(|path| match path.split_first() {
                Some((first, rest)) if *first == key => Some(rest),
                _ => None,
            });
            let below: Vec<&[&str]> = below.collect();
            if below.is_empty() {
                map.next_value::<IgnoredAny>()?;
            } else {
                let value = map.next_value_seed(Glance(below))?;
                seen.insert(key, value);
            }
        }
        Ok(Value::Object(seen))
    }

    // Nothing is below these, so that no path leads on.

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E>(self, _: &str) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::meta::at_path;

    /// Mostly objects in objects, with so few names that a path leads somewhere.
    fn any_object() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c\"\\\\é]{0,3}".prop_map(Value::from),
        ];
        let map = |of| prop::collection::btree_map("[ab]", of, 1..3);
        let map = move |of| map(of).prop_map(|map| Value::Object(map.into_iter().collect()));
        let below = leaf.prop_recursive(4, 32, 2, move |inner| {
            prop_oneof![
                4 => map(inner.clone()),
                1 => prop::collection::vec(inner, 0..3).prop_map(Value::from),
            ]
        });
        map(below.boxed())
    }

    proptest! {
        #[test]
        fn it_shows_what_the_whole_object_shows(
            object in any_object(),
            paths in prop::collection::vec("[ab](\\.[ab]){0,3}", 0..4),
        ) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let seen = glance(object.to_string().as_bytes(), &paths).unwrap();
            for path in paths {
                prop_assert_eq!(at_path(&seen, path), at_path(&object, path), "{}", path);
            }
        }
    }

    #[test]
    fn only_what_is_asked_for() {
        let object = json!({
            "metadata": {"name": "a", "labels": {"x": "1"}, "managedFields": [{"f:spec": {}}]},
            "spec": {"list": [{"n": 1}], "n": 2.5, "flag": true},
        });
        let text = object.to_string();
        let seen = glance(
            text.as_bytes(),
            &["metadata.labels", "spec.list.n", "spec.n", "status"],
        );
        let wanted = json!({"metadata": {"labels": {"x": "1"}}, "spec": {"list": null, "n": 2.5}});
        assert_eq!(seen.unwrap(), wanted);
        assert!(glance(b"{\"metadata\":", &["spec"]).is_err());
    }
}
