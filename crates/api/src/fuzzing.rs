//! A door for fuzzers: any bytes as a manifest. Nothing else uses this.

use serde_json::Value;

use crate::admission::{complete, faults, warnings};
use crate::convert::{CONVERTIBLE_KINDS, convert, drop_foreign};
use crate::unstructured::from_unstructured;
use crate::vitistack::{Machine, MachineProvider, v1beta1};

/// Reads bytes as a manifest and does with it whatever a server might: it may be refused, but
/// nothing panics, conversion loses nothing, and an error names a field.
pub fn manifest(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(mut object) = serde_saphyr::from_str::<Value>(text) else {
        return;
    };
    for fault in faults(&object) {
        assert!(!fault.field.is_empty(), "{fault:?}");
    }
    let _ = warnings(&object);
    let mut whole = object.clone();
    complete(&mut whole, Some(&object));
    let mut again = whole.clone();
    complete(&mut again, Some(&object));
    assert_eq!(again, whole, "what is complete stays as it is");
    for (from, to) in [("v1alpha1", "v1beta1"), ("v1beta1", "v1alpha1")] {
        for kind in CONVERTIBLE_KINDS {
            let Some(fields) = object.as_object_mut() else {
                return;
            };
            fields.insert(
                "apiVersion".to_owned(),
                format!("vitistack.io/{from}").into(),
            );
            fields.insert("kind".to_owned(), (*kind).into());
            // An annotation that somebody forged may be dropped on the way.
            fields.remove("metadata");
            let mut object = object.clone();
            drop_foreign(&mut object);
            let there = convert(&object, &format!("vitistack.io/{to}"));
            let back = there.and_then(|there| convert(&there, &format!("vitistack.io/{from}")));
            let same = back.map(|mut back| {
                if let Some(fields) = back.as_object_mut() {
                    fields.remove("metadata");
                }
                back == object
            });
            assert_eq!(same, Ok(true), "{object}");
        }
        let Ok(dynamic) = serde_json::from_value(object.clone()) else {
            continue;
        };
        let _ = from_unstructured::<Machine>(&dynamic);
        let _ = from_unstructured::<MachineProvider>(&dynamic);
        let _ = from_unstructured::<v1beta1::Machine>(&dynamic);
        let _ = from_unstructured::<v1beta1::MachineProvider>(&dynamic);
    }
}
