//! Arbitrary objects of a kind, made from its schema, so that a new field needs no new generator.
//!
//! An object follows from a seed and a density: proptest shrinks the density, and with it the
//! number of fields. What rules between fields demand is left to the caller.

use std::cell::RefCell;
use std::collections::HashMap;

use machinist_api::crds;
use regex::Regex;
use serde_json::{Map, Value, json};

/// Texts that are something: those that fit a field's pattern or rule are its values.
const TEXTS: &[&str] = &[
    "a",
    "web",
    "t3.medium",
    "ubuntu",
    "22.04",
    "eth0",
    "root",
    "data",
    "sg-1",
    "subnet-1",
    "20Gi",
    "8Gi",
    "1Ti",
    "1536Mi",
    "8589934592",
    "100Gi",
    "5G",
    "0.5Ti",
    "128Mi",
    "1024Gi",
    "10.0.1.100",
    "2001:db8::1",
    "10.0.1.0/24",
    "fd00::/64",
    "https://pve.example.com:8006",
    "https://images.example.com/jammy.img",
    "pve.example.com",
    "52:54:00:12:34:56",
    "00-1B-44-11-3A-B7",
    "30s",
    "5m",
    "1h30m",
    "1.5",
    "2",
    "4.0",
    "10.5",
    "22",
    "80-443",
    "0 2 * * *",
    "@daily",
    "/var/lib/data",
    "/dev/sdb",
    "aGVsbG8=",
    "us-west-2",
    "us-central1-a",
    "#cloud-config\npackages: [nginx]\n",
    "MachineProvider",
    "vitistack.io/v1alpha1",
    "ssh-ed25519 AAAA",
    "Ready",
    "True",
];

/// A small generator of numbers: the same seed, the same object.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).unwrap_or(0)
    }

    /// Whether something of this many percent happens.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// The schema of a version of a kind.
pub(crate) fn schema(kind: &str, version: &str) -> Value {
    let all = crds();
    let crd = all.iter().find(|crd| {
        let served = crd.spec.versions.iter().any(|found| found.name == version);
        served && crd.spec.names.kind == kind && crd.spec.group == "vitistack.io"
    });
    let crd = crd.unwrap_or_else(|| panic!("{kind} {version} is not served"));
    let mut versions = crd.spec.versions.iter();
    let version = versions.find(|found| found.name == version).unwrap();
    let schema = serde_json::to_value(&version.schema).unwrap();
    schema["openAPIV3Schema"].clone()
}

/// An arbitrary value of a schema, with about `density` percent of its optional fields.
pub(crate) fn value(schema: &Value, dice: &mut Dice, density: usize) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words[dice.below(words.len())].clone();
    }
    match schema["type"].as_str() {
        Some("object") => object(schema, dice, density),
        Some("array") => array(schema, dice, density),
        Some("integer") => integer(schema, dice),
        Some("number") => json!(dice.below(100)),
        Some("boolean") => json!(dice.percent(50)),
        _ if schema["format"] == "date-time" => json!("2026-01-02T03:04:05Z"),
        _ => text(schema, dice),
    }
}

fn object(schema: &Value, dice: &mut Dice, density: usize) -> Value {
    let mut made = Map::new();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if required.contains(&json!(name)) || dice.percent(density) {
            made.insert(name.clone(), value(property, dice, density));
        }
    }
    let free = schema["x-kubernetes-preserve-unknown-fields"] == true;
    if schema["additionalProperties"].is_object() || free {
        let values = &schema["additionalProperties"];
        for name in ["alpha", "beta", "datacenter", "project"] {
            if dice.percent(density) {
                made.insert(name.to_owned(), value(values, dice, density));
            }
        }
    }
    Value::Object(made)
}

fn array(schema: &Value, dice: &mut Dice, density: usize) -> Value {
    let keys = schema["x-kubernetes-list-map-keys"].as_array();
    let mut items: Vec<Value> = Vec::new();
    for at in 0..dice.below(4) {
        let mut item = value(&schema["items"], dice, density);
        for key in keys.into_iter().flatten().filter_map(Value::as_str) {
            if item[key].is_string() {
                item[key] = format!("{}{at}", item[key].as_str().unwrap()).into();
            }
        }
        let set = schema["x-kubernetes-list-type"] == "set";
        if !(set && items.contains(&item)) {
            items.push(item);
        }
    }
    items.into()
}

fn integer(schema: &Value, dice: &mut Dice) -> Value {
    let bound = |key: &str, otherwise: f64| schema[key].as_f64().unwrap_or(otherwise);
    let least = bound("minimum", -1.0) as i64;
    let most = (bound("maximum", 1e9) as i64).max(least);
    let steps = usize::try_from(most - least).unwrap_or(1) + 1;
    match dice.below(4) {
        0 => json!(least),
        // Sizes in bytes are often whole.
        1 if schema["maximum"].is_null() && schema["format"] != "int32" => {
            json!((dice.below(64) as i64 + 1) << 30)
        }
        _ => json!(least + dice.below(steps) as i64),
    }
}

fn text(schema: &Value, dice: &mut Dice) -> Value {
    // Finding what fits costs more than everything else.
    thread_local!(static FITTING: RefCell<HashMap<String, Vec<&'static str>>> = RefCell::default());
    let fitting = FITTING.with_borrow_mut(|known| {
        let found = known.entry(schema.to_string());
        found.or_insert_with(|| fitting(schema)).clone()
    });
    assert!(!fitting.is_empty(), "no text fits {schema}");
    json!(fitting[dice.below(fitting.len())])
}

fn fitting(schema: &Value) -> Vec<&'static str> {
    let pattern = schema["pattern"]
        .as_str()
        .map(|text| Regex::new(text).unwrap());
    let rules = schema["x-kubernetes-validations"].to_string();
    let longest = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
    let fits = |text: &&&str| {
        let quantity: Result<machinist_api::quantity::Quantity, _> = text.parse();
        let address = text.contains(['.', ':']) && text.parse::<std::net::IpAddr>().is_ok();
        pattern
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(text))
            && text.len() as u64 <= longest
            && (!rules.contains("isQuantity") || quantity.is_ok())
            && (!rules.contains("128Mi") || ["8Gi", "128Mi", "1024Gi", "1536Mi"].contains(text))
            && (!rules.contains("100Ti") || ["20Gi", "1Ti", "1536Mi", "5G"].contains(text))
            && (!rules.contains("isIP(") || address)
            && (!rules.contains("isCIDR") || text.contains('/') && text.contains("0"))
            && (!rules.contains("isURL") || text.starts_with("https://"))
    };
    TEXTS.iter().filter(fits).copied().collect()
}

/// Metadata as an API server has it.
pub(crate) fn metadata(dice: &mut Dice) -> Value {
    let mut metadata = json!({
        "name": "web-1", "namespace": "default", "uid": "7f3a", "generation": 3,
        "resourceVersion": "42", "creationTimestamp": "2026-01-02T03:04:05Z",
    });
    if dice.percent(50) {
        metadata["labels"] = json!({ "vitistack.io/provider": "p" });
    }
    if dice.percent(50) {
        metadata["annotations"] = json!({ "example.com/note": "kept", "vitistack.io/x": "{}" });
    }
    if dice.percent(50) {
        metadata["finalizers"] = json!(["machinist.vitistack.io/machine"]);
        metadata["ownerReferences"] = json!([{ "kind": "Set", "name": "s", "uid": "1" }]);
    }
    metadata
}

/// An arbitrary object, whose spec has only fields that `wanted` lets through.
pub(crate) fn whole(
    kind: &str,
    version: &str,
    schema: &Value,
    dice: &mut Dice,
    density: usize,
    wanted: impl Fn(&str) -> bool,
) -> Value {
    let mut spec = value(&schema["properties"]["spec"], dice, density);
    if let Value::Object(spec) = &mut spec {
        spec.retain(|field, _| wanted(field));
    }
    let mut object = json!({
        "apiVersion": format!("vitistack.io/{version}"), "kind": kind,
        "metadata": metadata(dice), "spec": spec,
    });
    if dice.percent(70) {
        object["status"] = value(&schema["properties"]["status"], dice, density);
    }
    object
}
