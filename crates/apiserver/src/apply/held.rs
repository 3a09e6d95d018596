//! The fields that one manager holds, read as far as anybody asks.
//!
//! Most writes concern few managers: the fields of the others are neither taken apart nor put together
//! again, but kept as they lie in the object.

use std::cell::OnceCell;

use serde_json::Value;

use super::fields::{self, FieldsError};
use super::path::PathElement;
use super::set::Set;

/// The fields of a manager.
#[derive(Debug, Clone, Default)]
pub(super) struct Held<'v> {
    /// As they lie in the object, while they are just that.
    raw: Option<&'v Value>,
    set: OnceCell<Set>,
}

impl<'v> Held<'v> {
    /// Those of a `fieldsV1` value.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read(raw: &'v Value) -> Result<Held<'v>, FieldsError> {
        fields::check(raw)?;
        Ok(Held {
            raw: Some(raw),
            set: OnceCell::new(),
        })
    }

    pub(super) fn set(&self) -> &Set {
        // What was checked can be read.
        let read = || Set::from_fields_v1(self.raw.unwrap_or(&Value::Null)).unwrap_or_default();
        self.set.get_or_init(read)
    }

    pub(super) fn into_set(self) -> Set {
        self.set();
        self.set.into_inner().unwrap_or_default()
    }

    /// Whether there is a path in it that is this field or below it.
    pub(super) fn speaks_of(&self, name: &str) -> bool {
        match self.raw {
            Some(raw) => raw.get(format!("f:{name}")).is_some(),
            None => self.set().speaks_of(name),
        }
    }

    /// Whether it may have a path in common with a set; known by the fields that both begin with.
    pub(super) fn may_share(&self, other: &Set) -> bool {
        let mut firsts = other.members.iter().chain(other.children.keys());
        firsts.any(|first| match first {
            PathElement::Field(name) => self.speaks_of(name),
            PathElement::Key(_) | PathElement::Value(_) | PathElement::Index(_) => true,
        })
    }

    /// The paths that it has in common with a set.
    pub(super) fn intersection(&self, other: &Set) -> Set {
        match self.may_share(other) {
            true => self.set().intersection(other),
            false => Set::new(),
        }
    }

    /// Takes the paths of a set out.
    pub(super) fn subtract(&mut self, other: &Set) {
        if self.may_share(other) {
            let mut set = std::mem::take(self).into_set();
            set.subtract(other);
            *self = set.into();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let fields = self.raw.and_then(Value::as_object);
        // A field is a path, or has one below it.
        let has_field = fields.is_some_and(|all| all.keys().any(|key| key.starts_with("f:")));
        !has_field && self.set().is_empty()
    }

    pub(super) fn to_fields_v1(&self) -> Value {
        match self.raw {
            Some(raw) => raw.clone(),
            None => self.set().to_fields_v1(),
        }
    }
}

impl From<Set> for Held<'_> {
    fn from(set: Set) -> Self {
        Held {
            raw: None,
            set: set.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::apply::tests::laws::{any_json, any_set};

    #[test]
    fn what_cannot_be_read_is_said_at_once() {
        for bad in [
            json!(1),
            json!({"f:a": []}),
            json!({"a": {}}),
            json!({"f:a": {"v:{": {}}}),
        ] {
            assert!(Held::read(&bad).is_err(), "{bad}");
            assert!(Set::from_fields_v1(&bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

        #[test]
        fn it_is_the_set_that_it_was_read_from(ours in any_set(), theirs in any_set()) {
            let raw = ours.to_fields_v1();
            let mut held = Held::read(&raw).unwrap();
            prop_assert_eq!(held.is_empty(), ours.is_empty());
            prop_assert_eq!(held.to_fields_v1(), raw.clone());
            prop_assert_eq!(held.intersection(&theirs), ours.intersection(&theirs));
            prop_assert_eq!(held.clone().into_set(), ours.clone());
            held.subtract(&theirs);
            let left = ours.difference(&theirs);
            prop_assert_eq!(held.to_fields_v1(), left.to_fields_v1());
            prop_assert_eq!(held.is_empty(), left.is_empty());
        }

        #[test]
        fn what_is_found_right_can_be_read(json in any_json()) {
            let set = Set::from_fields_v1(&json);
            match Held::read(&json) {
                Ok(held) => prop_assert_eq!(held.is_empty(), set.unwrap().is_empty()),
                Err(_) => prop_assert!(set.is_err()),
            }
        }
    }
}
