//! What several drivers need: files that are never half written, and guest images.

pub mod files;
pub mod images;
