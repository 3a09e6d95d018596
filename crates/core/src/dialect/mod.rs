//! Dialects: how a family of kinds is understood, and how it is answered.
//!
//! A dialect *lowers* its objects into the domain model and *raises* what was observed
//! into its own status. Nothing but a dialect knows a family's field names.

pub mod vitistack;
