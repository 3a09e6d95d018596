//! Replays `testdata/vectors.json`: sequences of writes with what the reference implementation
//! (structured-merge-diff v6 under apimachinery's managedfields, as the API server uses them for
//! custom resources) made of each.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::apply::{ApplyError, Manager, PathElement, Set, apply, track_update};
use crate::patch::merge_patch;
use crate::schema::Schema;

#[derive(Deserialize)]
struct Vectors {
    schemas: BTreeMap<String, Schema>,
    scenarios: Vec<Scenario>,
}

#[derive(Deserialize)]
struct Scenario {
    name: String,
    schema: String,
    live: Option<Value>,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    op: String,
    manager: String,
    #[serde(default = "first_version")]
    api_version: String,
    #[serde(default)]
    subresource: String,
    #[serde(default)]
    force: bool,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    object: Value,
    patch: Option<Value>,
    expect: Expect,
}

#[derive(Deserialize)]
struct Expect {
    object: Option<Value>,
    message: Option<String>,
    conflicts: Option<Vec<Cause>>,
}

#[derive(Deserialize, PartialEq)]
struct Cause {
    message: String,
    field: String,
}

fn first_version() -> String {
    "example.io/v1".into()
}

#[test]
fn answers_as_the_reference_implementation() {
    let vectors: Vectors = serde_json::from_str(include_str!("../testdata/vectors.json")).unwrap();
    let mut failures = Vec::new();
    let mut steps = 0;
    for scenario in &vectors.scenarios {
        let mut live = scenario.live.clone();
        for (i, step) in scenario.steps.iter().enumerate() {
            steps += 1;
            let result = run(&vectors.schemas[&scenario.schema], live.as_ref(), step, i);
            if let Err(why) = check(&result, &step.expect) {
                failures.push(format!("{}, step {i}: {why}", scenario.name));
            }
            // The next step starts from what the reference made, so that each is judged alone.
            if let Some(object) = &step.expect.object {
                let mut object = object.clone();
                object["metadata"]["uid"] = json!("u1");
                live = Some(object);
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {steps}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(steps > 300, "only {steps} steps were read");
}

fn run(
    schema: &Schema,
    live: Option<&Value>,
    step: &Step,
    index: usize,
) -> Result<Value, ApplyError> {
    let now = format!("2001-01-01T00:00:{:02}Z", index + 1);
    let manager = Manager {
        name: &step.manager,
        api_version: &step.api_version,
        subresource: &step.subresource,
        now: &now,
    };
    let mut ignore = Set::new();
    for path in &step.ignore {
        let path: Vec<_> = path.split('.').map(PathElement::field).collect();
        ignore.insert(&path);
    }
    let object = match &step.patch {
        Some(patch) => merge_patch(live.unwrap(), patch),
        None => step.object.clone(),
    };
    match step.op.as_str() {
        "apply" => apply(schema, live, &object, &manager, step.force, &ignore),
        _ => track_update(schema, live, object, &manager, &ignore),
    }
}

fn check(result: &Result<Value, ApplyError>, expect: &Expect) -> Result<(), String> {
    match (result, expect) {
        (
            Ok(got),
            Expect {
                object: Some(want), ..
            },
        ) => {
            if without_version(got) == as_here(without_version(want), &without_version(got)) {
                return Ok(());
            }
            Err(format!("\n  got  {got}\n  want {want}"))
        }
        (
            Err(err),
            Expect {
                message: Some(want),
                conflicts,
                ..
            },
        ) => {
            let fits = match err {
                ApplyError::Conflicts(all) => {
                    let causes = all.iter().map(|c| Cause {
                        message: c.cause_message(),
                        field: c.path.clone(),
                    });
                    let mut causes: Vec<_> = causes.collect();
                    causes.sort_by_key(|cause| format!("{}{}", cause.message, cause.field));
                    conflicts.as_ref() == Some(&causes) && err.to_string() == *want
                }
                ApplyError::Invalid { path, .. } => want.contains(&format!("): {path}: ")),
                ApplyError::WrongType { found, .. } => want.contains(found),
                _ => err.to_string() == *want,
            };
            if fits {
                Ok(())
            } else {
                Err(format!("\n  got  {err}\n  want {want}"))
            }
        }
        (Ok(got), Expect { message, .. }) => Err(format!("\n  got  {got}\n  want {message:?}")),
        (Err(err), _) => Err(format!("unexpected {err}")),
    }
}

/// What the reference gave, with the nulls that it leaves where everything was taken out of a
/// stated object or list replaced by the empty object or list that this module leaves.
fn as_here(want: Value, got: &Value) -> Value {
    match (want, got) {
        (Value::Null, Value::Object(fields)) if fields.is_empty() => got.clone(),
        (Value::Null, Value::Array(items)) if items.is_empty() => got.clone(),
        (Value::Object(want), Value::Object(got)) => {
            let field = |(name, field): (String, Value)| {
                let field = as_here(field, got.get(&name).unwrap_or(&Value::Null));
                (name, field)
            };
            Value::Object(want.into_iter().map(field).collect())
        }
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => Value::Array(
            want.into_iter()
                .zip(got)
                .map(|(want, got)| as_here(want, got))
                .collect(),
        ),
        (want, _) => want,
    }
}

/// The reference converts its result to the storage version, which this module does not know,
/// and merges a null creation time, which its server then restores.
fn without_version(object: &Value) -> Value {
    let mut object = object.clone();
    object.as_object_mut().unwrap().remove("apiVersion");
    let metadata = object["metadata"].as_object_mut().unwrap();
    if metadata.get("creationTimestamp") == Some(&Value::Null) {
        metadata.remove("creationTimestamp");
    }
    object
}
