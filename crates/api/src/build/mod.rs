//! Building objects in Rust: [`build!`](crate::build!) for the structs, [`Described`] for metadata.
//!
//! The macro writes out what it builds where it is used, so that no struct pays for it in compile
//! time, and it works for every struct of every family. A field that does not exist, or a value
//! of another type, does not compile. Judging the object is left to the server.
//!
//! ```
//! use machinist_api::build;
//! use machinist_api::build::Described as _;
//! use machinist_api::vitistack::machine::{Disk, Machine, MachineSpec, PowerState, ProviderRef};
//!
//! let machine = Machine::new("web", build!(MachineSpec {
//!     provider_ref: build!(ProviderRef { name: "proxmox-oslo" }),
//!     power_state: PowerState::Running,
//!     memory: 8 << 30,
//!     disks: [build!(Disk { name: "root", size_gb: 20, boot: true })],
//!     tags: [("team", "platform")],
//! }))
//! .in_namespace("default")
//! .labelled("tier", "front");
//! assert_eq!(machine.spec.disks[0].size_gb, Some(20));
//! ```

mod field;

use kube::Resource;

pub use field::IntoField;

/// Builds a struct from the fields that are given; the others are as the type's default has them.
///
/// Values are taken as they are written: no `Some`, no `to_owned`, arrays for lists and maps.
#[macro_export]
macro_rules! build {
    ($($type:ident)::+ { $($field:ident : $value:expr),* $(,)? }) => {{
        #[allow(
            clippy::needless_update,
            reason = "a struct may be given all of its fields"
        )]
        let built = $($type)::+ {
            $($field: $crate::build::IntoField::into_field($value),)*
            ..::core::default::Default::default()
        };
        built
    }};
}

/// Says more about an object, one thing after the other.
pub trait Described: Resource + Sized {
    /// The object in a namespace.
    #[must_use]
    fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.meta_mut().namespace = Some(namespace.into());
        self
    }

    /// The object with one more label.
    #[must_use]
    fn labelled(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let labels = self.meta_mut().labels.get_or_insert_default();
        labels.insert(name.into(), value.into());
        self
    }

    /// The object with one more annotation.
    #[must_use]
    fn annotated(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let annotations = self.meta_mut().annotations.get_or_insert_default();
        annotations.insert(name.into(), value.into());
        self
    }
}

impl<K: Resource> Described for K {}
