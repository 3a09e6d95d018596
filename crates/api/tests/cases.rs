//! The table of cases, as far as CEL, defaults and the webhook decide them; the schema's part needs
//! a server.
#![allow(
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

mod table;

use std::collections::BTreeMap;

use kube_cel::{CompiledSchema, Validator, apply_defaults, compile_schema};
use machinist_api::admission;
use serde_json::Value;
use table::{By, Case, Expect};

struct Kind {
    schema: Value,
    compiled: CompiledSchema,
}

/// Every served schema, by `apiVersion` and kind.
fn kinds() -> BTreeMap<(String, String), Kind> {
    let mut kinds = BTreeMap::new();
    for crd in machinist_api::crds() {
        for version in &crd.spec.versions {
            let schema = &version.schema.as_ref().unwrap().open_api_v3_schema;
            let schema = serde_json::to_value(schema).unwrap();
            let compiled = compile_schema(&schema);
            assert!(
                !compiled.has_errors(),
                "{:?}",
                compiled.compilation_errors()
            );
            let api_version = format!("{}/{}", crd.spec.group, version.name);
            let kind = crd.spec.names.kind.clone();
            kinds.insert((api_version, kind), Kind { schema, compiled });
        }
    }
    kinds
}

fn kind_of<'a>(kinds: &'a BTreeMap<(String, String), Kind>, manifest: &Value) -> &'a Kind {
    let part = |name: &str| manifest[name].as_str().unwrap().to_owned();
    &kinds[&(part("apiVersion"), part("kind"))]
}

/// A manifest with everything that a server and the webhook fill in.
fn stored(kind: &Kind, manifest: &Value, was: Option<&Value>) -> Value {
    let mut object = apply_defaults(&kind.schema, manifest);
    admission::complete(&mut object, was);
    object
}

/// What CEL has against a manifest, all messages in one text; none if a rule needs a function that
/// only a server has and nothing else speaks against the manifest.
fn objections(kind: &Kind, manifest: &Value, was: Option<&Value>) -> Option<String> {
    let was = was.map(|was| stored(kind, was, None));
    let manifest = stored(kind, manifest, was.as_ref());
    let Err(errors) = Validator::new().validate_compiled(&kind.compiled, &manifest, was.as_ref())
    else {
        return Some(String::new());
    };
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let (foreign, found): (Vec<String>, Vec<String>) = errors
        .into_iter()
        .partition(|error| error.contains("this kube-cel build does not support"));
    (foreign.is_empty() || !found.is_empty()).then(|| found.join("; "))
}

/// What is wrong with the verdict on a case; nothing when the case is not CEL's to decide.
fn wrong(kind: &Kind, case: &Case) -> Option<String> {
    if let Some(was) = &case.was {
        let said = objections(kind, was, None).unwrap_or_default();
        assert_eq!(said, "", "{}: what was is refused", case.name);
    }
    let was = case.was.as_ref().map(|was| stored(kind, was, None));
    let whole = stored(kind, &case.manifest, was.as_ref());
    let misses = case.misses(&whole);
    if !misses.is_empty() {
        return Some(misses.join("\n"));
    }
    let faults = admission::faults(&whole);
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let by_code = faults.join("; ");
    if case.by == Some(By::Code) {
        let message = case.refusal().unwrap_or_default();
        return (!by_code.contains(message)).then_some(by_code);
    }
    if case.refusal().is_none() && !by_code.is_empty() {
        return Some(by_code);
    }
    let said = objections(kind, &case.manifest, case.was.as_ref())?;
    let good = match (&case.expect, case.by) {
        (Expect::Reject(_), Some(By::Schema | By::Code)) => true,
        (Expect::Reject(message), _) => said.contains(message.as_str()),
        (Expect::Accept | Expect::Default(_), _) => said.is_empty(),
    };
    (!good).then_some(said)
}

#[test]
fn cel_and_defaults_decide_as_the_cases_say() {
    let kinds = kinds();
    let cases = table::cases();
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let said = wrong(kind_of(&kinds, &case.manifest), case)?;
            Some(format!("{}: {said:?}", case.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases.len() > 250, "only {} cases were found", cases.len());
}

#[test]
fn cel_accepts_every_documented_manifest() {
    let kinds = kinds();
    for (name, manifest) in table::manifests() {
        let said = objections(kind_of(&kinds, &manifest), &manifest, None);
        assert_eq!(said.unwrap_or_default(), "", "{name}");
    }
}
