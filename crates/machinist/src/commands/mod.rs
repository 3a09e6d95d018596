//! One file a verb.

pub(crate) mod backup;
pub(crate) mod console;
pub(crate) mod crds;
pub(crate) mod demo;
pub(crate) mod down;
pub(crate) mod operator;
pub(crate) mod restore;
pub(crate) mod up;
pub(crate) mod version;
