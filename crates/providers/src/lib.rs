//! The platforms: one folder a driver, and the conformance suite that all of them pass.
