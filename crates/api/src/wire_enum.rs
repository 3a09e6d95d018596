//! One macro for every closed set of words on the wire.
//!
//! It keeps the spelling of a word in one place: serde, `Display`, `FromStr` and the CRD's `enum`
//! all come from the same literal.

/// A word that is not one of those that a field allows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is not one of {allowed}")]
pub struct UnknownWord {
    /// The word that was given.
    pub word: String,
    /// The words that are allowed, separated by commas.
    pub allowed: String,
}

/// Declares an enum whose variants are words on the wire.
macro_rules! wire_enum {
    (
        $(#[$meta:meta])*
        $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal ),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize,
        )]
        pub enum $name {
            $( $(#[$variant_meta])* #[serde(rename = $word)] $variant ),+
        }

        impl $name {
            /// Every variant, in the order in which the documents list them.
            pub const ALL: &[Self] = &[ $( Self::$variant ),+ ];

            /// The word that stands for this variant on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $word ),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::wire_enum::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $( $word => Ok(Self::$variant), )+
                    _ => Err($crate::wire_enum::UnknownWord {
                        word: word.to_owned(),
                        allowed: [ $( $word ),+ ].join(", "),
                    }),
                }
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": [ $( $word ),+ ] })
            }
        }
    };
}

pub(crate) use wire_enum;
