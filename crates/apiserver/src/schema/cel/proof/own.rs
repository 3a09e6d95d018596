//! The fields of `self` that the rules of a node name, looked up once for all of them: most rules
//! ask only which fields are there, and many ask for the same ones.

use serde_json::Value;

use super::Subject;
use super::value::{Seen, View};

/// The names of fields, each of them once.
#[derive(Debug, Default)]
pub(in super::super) struct Names(Vec<String>);

impl Names {
    /// The place of a name, which is plain.
    pub(super) fn place(&mut self, name: String) -> usize {
        let known = self.0.iter().position(|known| *known == name);
        known.unwrap_or_else(|| {
            self.0.push(name);
            self.0.len() - 1
        })
    }
}

/// What a value has under names; nothing at all when it has no fields.
#[derive(Debug)]
pub(in super::super) struct Own<'a>(Vec<Option<(&'a Value, View<'a>)>>);

impl<'a> Own<'a> {
    pub(in super::super) fn of(names: &Names, subject: Subject<'a>) -> Self {
        let view = View::Typed(subject.schema, subject.whole_object);
        let fields = Seen::of(subject.value, view).and_then(|seen| {
            let places = names.0.iter().map(|name| seen.place(name));
            places.collect::<Option<Vec<_>>>()
        });
        Self(fields.unwrap_or_default())
    }

    /// No field at all.
    pub(super) fn nothing() -> Self {
        Self(Vec::new())
    }

    /// The field at the place of its name, if rules see it.
    pub(super) fn get(&self, place: usize) -> Option<&Option<(&'a Value, View<'a>)>> {
        self.0.get(place)
    }
}
