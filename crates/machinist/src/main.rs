//! The `machinist` binary.
fn main() {}
