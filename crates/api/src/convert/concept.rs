//! Concepts: the pieces of a kind that are converted on their own.

use serde_json::{Map, Value};

use crate::vitistack::{VERSION as V1ALPHA1, v1beta1::VERSION as V1BETA1};

/// Fields of one part of an object.
pub(super) type Fields = Map<String, Value>;

/// Which way a conversion goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// From v1alpha1 to v1beta1.
    Up,
    /// From v1beta1 to v1alpha1.
    Down,
}

impl Direction {
    pub(super) fn towards(version: &str) -> Self {
        if version == V1BETA1 {
            Self::Up
        } else {
            Self::Down
        }
    }

    pub(super) const fn from(self) -> &'static str {
        self.reversed().to()
    }

    pub(super) const fn to(self) -> &'static str {
        match self {
            Self::Up => V1BETA1,
            Self::Down => V1ALPHA1,
        }
    }

    pub(super) const fn reversed(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }
}

/// One concept: the fields that say it in each version, and the functions between them.
pub(super) struct Concept {
    /// Name under which it is kept; unique within the kind.
    pub(super) name: &'static str,
    /// `spec` or `status`.
    pub(super) part: &'static str,
    /// Fields of v1alpha1 that say it.
    pub(super) alpha: &'static [&'static str],
    /// Fields of v1beta1 that say it.
    pub(super) beta: &'static [&'static str],
    /// From the fields of v1alpha1 to those of v1beta1.
    pub(super) up: fn(&Fields) -> Fields,
    /// From the fields of v1beta1 to those of v1alpha1.
    pub(super) down: fn(&Fields) -> Fields,
    /// Whether any change of the part, and not only of these fields, outdates what was kept.
    pub(super) of_whole_part: bool,
}

impl Concept {
    /// A concept of the spec.
    pub(super) const fn spec(
        name: &'static str,
        alpha: &'static [&'static str],
        beta: &'static [&'static str],
        up: fn(&Fields) -> Fields,
        down: fn(&Fields) -> Fields,
    ) -> Self {
        Self {
            name,
            part: "spec",
            alpha,
            beta,
            up,
            down,
            of_whole_part: false,
        }
    }

    /// A concept of the status.
    pub(super) const fn status(
        name: &'static str,
        alpha: &'static [&'static str],
        beta: &'static [&'static str],
        up: fn(&Fields) -> Fields,
        down: fn(&Fields) -> Fields,
    ) -> Self {
        Self {
            part: "status",
            ..Self::spec(name, alpha, beta, up, down)
        }
    }

    /// Fields of v1alpha1's status that say again, in other words, what the rest of it says.
    pub(super) const fn repeated(alpha: &'static [&'static str]) -> Self {
        Self {
            of_whole_part: true,
            ..Self::status("repeated", alpha, &[], nothing, nothing)
        }
    }

    pub(super) fn keys(&self, version: &str) -> &'static [&'static str] {
        if version == V1ALPHA1 {
            self.alpha
        } else {
            self.beta
        }
    }

    /// The fields of this concept in an object of a version.
    pub(super) fn of(&self, object: &Value, version: &str) -> Fields {
        let Some(part) = object.get(self.part).and_then(Value::as_object) else {
            return Fields::new();
        };
        let keys = self.keys(version).iter();
        keys.filter_map(|key| Some(((*key).to_owned(), part.get(*key)?.clone())))
            .collect()
    }

    pub(super) fn map(&self, fields: &Fields, direction: Direction) -> Fields {
        match direction {
            Direction::Up => (self.up)(fields),
            Direction::Down => (self.down)(fields),
        }
    }
}

fn nothing(_: &Fields) -> Fields {
    Fields::new()
}

/// All concepts of a kind. Fields that no concept names are the same in both versions.
pub(super) struct KindTable {
    /// Lists of concepts, so that they can be declared where their functions are.
    pub(super) concepts: &'static [&'static [Concept]],
    /// Fills in what v1alpha1 requires and v1beta1 does not.
    pub(super) complete: fn(&mut Value),
}

impl KindTable {
    pub(super) fn concepts(&self) -> impl Iterator<Item = &'static Concept> {
        self.concepts.iter().copied().flatten()
    }
}
