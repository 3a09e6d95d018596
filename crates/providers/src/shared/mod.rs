//! What several drivers need: files that are never half written, guest images, HTTP that goes only
//! where it may and to whom it is meant for, and tokens.

pub mod files;
pub mod http;
pub mod images;
pub mod oauth2;
pub mod way;
