//! What became of the specs: against the list, for the terminal, and as a document.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write as _},
};

use anyhow::{Context, Result};
use serde_json::Value;

use super::specs::Spec;

/// The state of every spec that ran, by its name.
pub(super) type Results = BTreeMap<String, String>;

/// Reads ginkgo's report.
pub(super) fn read(text: &str) -> Result<Results> {
    let report: Value = serde_json::from_str(text).context("the report is not JSON")?;
    let suite = report.get(0).and_then(|suite| suite.get("SpecReports"));
    let specs = suite.and_then(Value::as_array);
    let specs = specs.context("the report holds no specs: a process of the tests ended early")?;
    Ok(specs.iter().filter_map(ran).collect())
}

fn ran(spec: &Value) -> Option<(String, String)> {
    let state = spec.get("State")?.as_str()?;
    if spec.get("LeafNodeType")?.as_str()? != "It" || state == "skipped" {
        return None;
    }
    let containers = spec.get("ContainerHierarchyTexts")?.as_array()?;
    let texts = containers.iter().chain(spec.get("LeafNodeText"));
    let name: Vec<&str> = texts.filter_map(Value::as_str).collect();
    Some((name.join(" "), state.to_owned()))
}

/// Every spec of the list with what became of it.
pub(super) struct Outcome {
    lines: Vec<(String, String)>,
    passed: usize,
    failed: usize,
    left_out: usize,
    /// Specs that ran and are in no list.
    strangers: BTreeSet<String>,
}

impl Outcome {
    /// Whether everything that should pass did.
    pub(super) fn is_good(&self) -> bool {
        self.failed == 0 && self.strangers.is_empty()
    }
}

/// Holds the results against the list.
pub(super) fn compare(specs: &[Spec], results: &Results) -> Outcome {
    let mut outcome = Outcome {
        lines: Vec::new(),
        passed: 0,
        failed: 0,
        left_out: 0,
        strangers: results.keys().cloned().collect(),
    };
    for spec in specs {
        outcome.strangers.remove(&spec.name);
        let state = match (&spec.left_out, results.get(&spec.name)) {
            (Some(reason), _) => {
                outcome.left_out += 1;
                format!("left out: {reason}")
            }
            (None, Some(state)) if state == "passed" => {
                outcome.passed += 1;
                "passed".to_owned()
            }
            (None, Some(state)) => {
                outcome.failed += 1;
                state.to_uppercase()
            }
            (None, None) => {
                outcome.failed += 1;
                "DID NOT RUN".to_owned()
            }
        };
        outcome.lines.push((spec.name.clone(), state));
    }
    outcome
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, state) in &self.lines {
            writeln!(f, "{name}\n    {state}")?;
        }
        for name in &self.strangers {
            writeln!(f, "{name}\n    NOT IN THE LIST")?;
        }
        writeln!(
            f,
            "\n{} passed, {} failed, {} left out",
            self.passed, self.failed, self.left_out
        )
    }
}

/// The document of a run in which everything passed that should.
pub(super) fn document(specs: &[Spec]) -> String {
    let (left_out, passed): (Vec<&Spec>, Vec<&Spec>) =
        specs.iter().partition(|spec| spec.left_out.is_some());
    let mut out = format!(
        "# Conformance\n\n\
         `make conformance` builds the end-to-end tests of Kubernetes 1.36.4 from their pinned Go\n\
         module, unchanged, and runs those that need no node against `machinist up`. The list is\n\
         every `[sig-api-machinery]` spec and those of other groups that are about kinds served\n\
         here; it is kept in `tests/conformance/specs.json`. This page is written by a run in which\n\
         every listed spec passed. Clients that others wrote: [clients.md](clients.md).\n\n\
         **{} passed, {} left out.**\n\n## Passed\n\n",
        passed.len(),
        left_out.len()
    );
    for spec in passed {
        let _ = writeln!(out, "- {}", spec.name);
    }
    out.push_str("\n## Left out\n");
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for spec in left_out {
        let reason = spec.left_out.as_deref().unwrap_or_default();
        reasons.entry(reason).or_default().push(&spec.name);
    }
    for (reason, names) in reasons {
        let _ = write!(out, "\n### Because it {reason}\n\n");
        for name in names {
            let _ = writeln!(out, "- {name}");
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed assumption is a failed test")]
mod tests {
    use super::*;
    use crate::{conformance::specs, tree};

    #[test]
    fn the_document_is_that_of_the_list() {
        let specs = specs::load().unwrap();
        let path = tree::folder("docs").unwrap().join("conformance.md");
        let written = std::fs::read_to_string(path).unwrap();
        assert_eq!(written, document(&specs), "run `make conformance`");
        let names: BTreeSet<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names.len(), specs.len(), "a spec stands twice in the list");
        let passing = specs.iter().filter(|spec| spec.left_out.is_none()).count();
        assert!(passing >= 45, "only {passing} specs apply");
    }

    #[test]
    fn a_failure_and_a_stranger_are_seen() {
        let report = r#"[{"SpecReports": [
            {"LeafNodeType": "It", "State": "failed", "ContainerHierarchyTexts": ["a"], "LeafNodeText": "b"},
            {"LeafNodeType": "It", "State": "passed", "ContainerHierarchyTexts": [], "LeafNodeText": "c"},
            {"LeafNodeType": "It", "State": "skipped", "ContainerHierarchyTexts": [], "LeafNodeText": "d"},
            {"LeafNodeType": "BeforeSuite", "State": "passed"}]}]"#;
        let results = read(report).unwrap();
        let spec = |name: &str| Spec {
            name: name.into(),
            left_out: None,
        };
        assert!(!compare(&[spec("a b"), spec("c")], &results).is_good());
        assert!(!compare(&[spec("a b")], &results).strangers.is_empty());
        assert_eq!(compare(&[spec("c"), spec("d")], &results).failed, 1);
        assert!(read("[]").is_err());
    }
}
