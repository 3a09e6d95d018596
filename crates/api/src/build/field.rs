//! What may be written for a field of a given type.

use std::collections::BTreeMap;

/// A value that can stand for a field of the type `F`.
pub trait IntoField<F> {
    /// The field's value.
    fn into_field(self) -> F;
}

/// An optional field is given by its value.
impl<T, U: Into<T>> IntoField<Option<T>> for U {
    fn into_field(self) -> Option<T> {
        Some(self.into())
    }
}

/// A list is given by an array.
impl<T, U: Into<T>, const N: usize> IntoField<Vec<T>> for [U; N] {
    fn into_field(self) -> Vec<T> {
        self.into_iter().map(Into::into).collect()
    }
}

/// A list is given by a list.
impl<T> IntoField<Vec<T>> for Vec<T> {
    fn into_field(self) -> Vec<T> {
        self
    }
}

/// A map is given by an array of pairs.
impl<K: Into<String>, T, U: Into<T>, const N: usize> IntoField<BTreeMap<String, T>>
    for [(K, U); N]
{
    fn into_field(self) -> BTreeMap<String, T> {
        let pairs = self.into_iter();
        pairs
            .map(|(key, value)| (key.into(), value.into()))
            .collect()
    }
}

/// A map is given by a map.
impl<T> IntoField<BTreeMap<String, T>> for BTreeMap<String, T> {
    fn into_field(self) -> BTreeMap<String, T> {
        self
    }
}

/// Text is given by anything that becomes text.
impl<U: Into<String>> IntoField<String> for U {
    fn into_field(self) -> String {
        self.into()
    }
}

/// A plain field is given by its value.
macro_rules! plain {
    ($($type:ty),+) => {
        $(impl IntoField<$type> for $type {
            fn into_field(self) -> $type {
                self
            }
        })+
    };
}

plain!(bool, i32, i64, u16, u32, u64);
