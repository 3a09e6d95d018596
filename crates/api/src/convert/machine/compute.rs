//! How large a machine is: `cpu`, `memory` and `resources` of v1alpha1, `resources` of v1beta1.

use serde_json::Value;

use super::super::concept::{Concept, Fields};
use super::super::value::{
    bytes_to_quantity, copy, copy_back, object, objects, quantity_to_bytes, set, set_list,
    set_object, text,
};

pub(super) const CONCEPTS: &[Concept] = &[Concept::spec(
    "resources",
    &["cpu", "memory", "resources"],
    &["resources"],
    up,
    down,
)];

const CPU: &[(&str, &str)] = &[
    ("cores", "cores"),
    ("threadsPerCore", "threadsPerCore"),
    ("sockets", "sockets"),
];
const GPU: &[(&str, &str)] = &[("type", "vendor"), ("model", "model"), ("count", "count")];

fn up(alpha: &Fields) -> Fields {
    let nested = object(alpha, "resources").unwrap_or_default();
    let mut cpu = Fields::new();
    if let Some(given) = object(alpha, "cpu") {
        copy(&given, &mut cpu, CPU);
    } else if let Some(given) = object(&nested, "cpu") {
        copy(&given, &mut cpu, CPU);
        copy(&given, &mut cpu, &[("threads", "threadsPerCore")]);
    }
    let memory = match alpha.get("memory") {
        Some(bytes) => bytes_to_quantity(bytes),
        None => object(&nested, "memory").and_then(|memory| text(&memory, "size")),
    };
    let mut gpus: Vec<Value> = Vec::new();
    if let Some(given) = object(&nested, "gpu") {
        let mut gpu = Fields::new();
        copy(&given, &mut gpu, GPU);
        gpus.push(Value::Object(gpu));
    }
    let mut resources = Fields::new();
    set_object(&mut resources, "cpu", cpu);
    set(&mut resources, "memory", memory);
    set_list(&mut resources, "gpus", gpus);
    let mut beta = Fields::new();
    set_object(&mut beta, "resources", resources);
    beta
}

fn down(beta: &Fields) -> Fields {
    let resources = object(beta, "resources").unwrap_or_default();
    let mut alpha = Fields::new();
    if let Some(given) = object(&resources, "cpu") {
        let mut cpu = Fields::new();
        copy_back(&given, &mut cpu, CPU);
        alpha.insert("cpu".to_owned(), Value::Object(cpu));
    }
    let memory = text(&resources, "memory").and_then(|memory| quantity_to_bytes(&memory));
    // v1alpha1 counts in 64 bits with a sign.
    set(
        &mut alpha,
        "memory",
        memory.filter(|bytes| i64::try_from(*bytes).is_ok()),
    );
    if let Some(given) = objects(&resources, "gpus").first() {
        let mut gpu = Fields::new();
        copy_back(given, &mut gpu, GPU);
        let mut nested = Fields::new();
        nested.insert("gpu".to_owned(), Value::Object(gpu));
        set_object(&mut alpha, "resources", nested);
    }
    alpha
}
