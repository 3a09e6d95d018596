//! The names under which a guest sees its volumes: the first free one of oda, odb, … unless given.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::list;

/// Gives every volume without a device one that no other volume has. A volume keeps the device
/// that it had, so that nothing is renamed in a guest when another volume goes.
pub(super) fn name(spec: &mut Map<String, Value>, old: Option<&Map<String, Value>>) {
    let mut taken: HashSet<String> = list(spec, "volumes")
        .filter_map(|volume| volume["device"].as_str().map(str::to_owned))
        .collect();
    for volume in list(spec, "volumes") {
        let Some(volume) = volume.as_object_mut() else {
            continue;
        };
        if volume.contains_key("device") {
            continue;
        }
        let kept = volume.get("name").and_then(|name| device_of(old?, name));
        let device = kept
            .filter(|device| !taken.contains(*device))
            .map(str::to_owned)
            .or_else(|| all().find(|device| !taken.contains(device)));
        if let Some(device) = device {
            taken.insert(device.clone());
            volume.insert("device".to_owned(), device.into());
        }
    }
}

/// The device of a volume of that name.
fn device_of<'a>(spec: &'a Map<String, Value>, name: &Value) -> Option<&'a str> {
    let volumes = spec.get("volumes")?.as_array()?;
    let volume = volumes.iter().find(|volume| &volume["name"] == name)?;
    volume["device"].as_str()
}

/// Every name, in the order in which they are given: one letter behind `od`, then two.
fn all() -> impl Iterator<Item = String> {
    let letters = || 'a'..='z';
    let one = letters().map(|letter| format!("od{letter}"));
    let two =
        letters().flat_map(move |first| letters().map(move |second| format!("od{first}{second}")));
    one.chain(two)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn named(volumes: &Value, old: &Value) -> Vec<String> {
        let mut spec = Map::from_iter([("volumes".to_owned(), volumes.clone())]);
        let old = Map::from_iter([("volumes".to_owned(), old.clone())]);
        name(&mut spec, Some(&old));
        let volumes = spec["volumes"].as_array().cloned().unwrap_or_default();
        let device = |volume: &Value| volume["device"].as_str().unwrap_or_default().to_owned();
        volumes.iter().map(device).collect()
    }

    #[test]
    fn the_first_free_name_is_given() {
        let none = json!([]);
        let three = json!([{"name": "a"}, {"name": "b", "device": "oda"}, {"name": "c"}]);
        assert_eq!(named(&three, &none), ["odb", "oda", "odc"]);
        let many: Vec<Value> = (0..28).map(|n| json!({"name": format!("v{n}")})).collect();
        let devices = named(&json!(many), &none);
        assert_eq!(devices[25..], ["odz", "odaa", "odab"]);
    }

    #[test]
    fn a_volume_keeps_its_name_when_another_goes() {
        let old = json!([{"name": "a", "device": "oda"}, {"name": "b", "device": "odb"}]);
        assert_eq!(named(&json!([{"name": "b"}]), &old), ["odb"]);
        // Unless somebody gave that name away.
        let taken = json!([{"name": "b"}, {"name": "c", "device": "odb"}]);
        assert_eq!(named(&taken, &old), ["oda", "odb"]);
    }
}
