//! Packing loses nothing but who wrote what, whatever the machine.

#[path = "../../../api/tests/support/arbitrary.rs"]
#[allow(unreachable_pub, reason = "shared with the tests of the types")]
mod arbitrary;

use std::sync::LazyLock;

use arbitrary::{Dice, schema, whole};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema("Machine", "v1alpha1"));

/// An arbitrary machine as a server shows it.
fn shown(seed: u64, density: usize) -> Value {
    let mut dice = Dice(seed);
    let mut object = whole("Machine", "v1alpha1", &SCHEMA, &mut dice, density, |_| true);
    if dice.percent(50) {
        object["metadata"]["deletionTimestamp"] = json!("2026-01-02T03:04:06Z");
        object["metadata"]["deletionGracePeriodSeconds"] = json!(0);
        object["metadata"]["generateName"] = json!("web-");
    }
    if dice.percent(50) {
        object["metadata"]["annotations"][names::PROVIDER_ANNOTATION] = json!("default/local");
    }
    object["metadata"]["managedFields"] = json!([{
        "manager": "kubectl", "operation": "Apply", "apiVersion": "vitistack.io/v1alpha1",
        "time": "2026-01-02T03:04:05Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}},
    }]);
    object
}

fn check_event(object: Value) {
    let mut machine: Machine = serde_json::from_value(object.clone()).unwrap();
    machine.metadata.managed_fields = None;
    let event = json!({ "type": "ADDED", "object": object }).to_string();
    let event: kube::core::WatchEvent<Packed> = serde_json::from_str(&event).unwrap();
    let kube::core::WatchEvent::Added(packed) = event else {
        panic!("another event");
    };
    assert_eq!(packed.unpack().unwrap(), machine);
    assert_eq!(packed.declared(), declared(&machine.metadata));
    assert_eq!(packed.take(), take(&machine));
    assert_eq!(packed.used(), Used::by(&machine));
    let status = machine.status.as_ref();
    assert_eq!(packed.phase(), status.and_then(|status| status.phase));
    let provider = machine.annotations().get(names::PROVIDER_ANNOTATION);
    assert_eq!(packed.provider(), provider.map(String::as_str));
    assert_eq!(packed.name_any(), machine.name_any());
    assert_eq!(packed.namespace(), machine.namespace());
    assert_eq!(packed.uid(), machine.uid());
    assert_eq!(packed.resource_version(), machine.resource_version());
    assert_eq!(reference(&packed), ObjectRef::from_obj(&packed));
    assert_eq!(reference(&packed), reference(&machine));
}

proptest! {
    #[test]
    fn a_machine_is_the_same_when_it_is_unpacked(seed: u64, density in 0..=100_usize) {
        check_event(shown(seed, density));
    }

    #[test]
    fn what_is_no_packed_text_is_an_error(noise: Vec<u8>, seed: u64) {
        let mut packed = Packed::new(machine(shown(seed, 30))).unwrap();
        let size = 64_u32.to_le_bytes();
        Arc::make_mut(&mut packed.0).text = Text::claimed([size.as_slice(), &noise].concat());
        prop_assert!(packed.unpack().is_err());
    }
}

fn machine(object: Value) -> Machine {
    serde_json::from_value(object).unwrap()
}

#[test]
fn managed_fields_are_not_even_read() {
    let mut object = shown(1, 50);
    object["metadata"]["managedFields"] = json!("who knows");
    let text = object.to_string();
    assert!(serde_json::from_str::<Machine>(&text).is_err());
    let Bare(bare) = serde_json::from_str(&text).unwrap();
    let packed: Packed = serde_json::from_str(&text).unwrap();
    assert_eq!(packed.unpack().unwrap(), bare);
}

const TYPICAL: &str = include_str!("typical.json");

#[test]
fn the_typical_machine_is_written_as_all_others_are() {
    let machine: Machine = serde_json::from_str(TYPICAL).unwrap();
    let written = serde_json::to_string(&PartsOf::from(&machine)).unwrap();
    assert_eq!(written, TYPICAL.trim_end());
}

#[test]
fn a_machine_like_others_takes_little() {
    let text = TYPICAL
        .replace("web-1", "db-17")
        .replace("2026-01", "2027-11");
    let packed: Packed = serde_json::from_str(&text).unwrap();
    let kept = packed.0.text.size();
    assert!(kept * 8 < text.len(), "{kept} of {}", text.len());
    assert!(packed.unpack().unwrap().status.is_some());
}

#[test]
fn a_text_that_is_like_none_grows_little() {
    let noise: Vec<u8> = (0..4096_u32).map(|n| (n * n % 251) as u8).collect();
    let packed = Text::pack(&noise);
    assert!(packed.size() < noise.len() + noise.len() / 16 + 16);
    assert_eq!(packed.unpack().unwrap(), noise);
}

/// Whatever others of a fleet declare as well costs each of them next to nothing.
#[test]
fn the_machines_of_a_fleet_are_like_each_other() {
    let text = |fleet: usize, number: usize| {
        let own: String = (0..200)
            .map(|n| format!("{}, ", n * 7919 * (fleet + 3)))
            .collect();
        let user_data = format!("#cloud-config\\nruncmd: [{own}]\\n");
        TYPICAL
            .replace("#cloud-config\\n", &user_data)
            .replace("web-1", &format!("m-{number}"))
    };
    let examples = text::Examples::new();
    // More fleets than are remembered.
    for fleet in 0..20 {
        let mut small = 0;
        for number in 0..300 {
            let text = text(fleet, number);
            let packed = Text::pack_among(&examples, text.as_bytes());
            assert_eq!(packed.unpack().unwrap(), text.as_bytes());
            small += usize::from(packed.size() * 8 <= text.len());
        }
        // The first is like none, and of many that are like none few become examples.
        assert!((160..300).contains(&small), "{small} of fleet {fleet}");
    }
}
