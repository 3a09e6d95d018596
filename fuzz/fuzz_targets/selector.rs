//! Any bytes as the door `selector` of the API server takes them.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some((_, target)) = machinist_apiserver::fuzzing::TARGETS
        .iter()
        .find(|(name, _)| *name == "selector")
    {
        target(bytes);
    }
});
