//! `machinist version`.

use crate::failure::Outcome;

/// Prints the version.
pub(crate) fn run() -> Outcome {
    println!("machinist {}", env!("CARGO_PKG_VERSION"));
    Ok(())
}
