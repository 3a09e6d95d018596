//! One file a verb.

pub(crate) mod backup;
pub(crate) mod bundle;
pub(crate) mod completion;
pub(crate) mod console;
pub(crate) mod crds;
pub(crate) mod demo;
pub(crate) mod describe;
pub(crate) mod down;
pub(crate) mod get;
pub(crate) mod operator;
pub(crate) mod plan;
pub(crate) mod restore;
pub(crate) mod up;
pub(crate) mod version;
pub(crate) mod why;
