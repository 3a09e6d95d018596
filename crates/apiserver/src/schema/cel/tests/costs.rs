//! What rules cost at most, held against the figures of kube-apiserver's own packages
//! (`tests/kube/celcost` makes them).

use serde::Deserialize;
use serde_json::Value;

use crate::schema::cel::examine;
use crate::schema::{Rule, Schema};

/// Rules at one node, each with its cost, or with none when it is refused.
#[derive(Deserialize)]
struct Vectors {
    schema: Value,
    rules: Vec<(String, Option<u64>)>,
}

#[test]
fn estimates_are_those_of_kubernetes() {
    let vectors: Vectors = serde_json::from_str(include_str!("../testdata/costs.json")).unwrap();
    let schema = Schema::from_value(&vectors.schema).unwrap();
    assert!(vectors.rules.len() > 200);
    let mut wrong = Vec::new();
    for (text, expected) in vectors.rules {
        let rule = Rule {
            rule: text.clone(),
            ..Rule::default()
        };
        let found = examine(&rule, &schema, false);
        let got = found.faults.is_empty().then_some(found.cost);
        if got != expected {
            wrong.push(format!(
                "{text}: {got:?}, not {expected:?} {:?}",
                found.faults
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of them:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
