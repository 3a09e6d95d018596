//! Any bytes as a manifest of ours: rules, conversion both ways, typed reading.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| machinist_api::fuzzing::manifest(bytes));
