//! Every rule of the documents has a case that is accepted and one that is refused, as `docs/rules.md` lists them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The cells of every row of the page's tables, without their heads.
fn rows() -> Vec<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let text = fs::read_to_string(root).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| "));
    let rows = rows.filter(|line| !line.starts_with("| rule |"));
    rows.map(|row| {
        let cells = row.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

#[test]
fn every_documented_rule_has_a_case_on_each_side() {
    let cases = table::cases();
    let refused: BTreeMap<&str, bool> = cases
        .iter()
        .map(|case| (case.name.as_str(), case.refusal().is_some()))
        .collect();
    let mut wrong = Vec::new();
    let rows = rows();
    for row in &rows {
        let [rule, files, accepted, rejected] = row.as_slice() else {
            panic!("{row:?} has not four cells");
        };
        for (name, expected) in [(accepted, false), (rejected, true)] {
            let verdicts: Vec<bool> = files
                .split(" / ")
                .filter_map(|file| refused.get(format!("{file}.yaml: {name}").as_str()))
                .copied()
                .collect();
            if verdicts != [expected] {
                let side = if expected { "refused" } else { "accepted" };
                wrong.push(format!(
                    "{rule}: {name:?} is no case in {files} that is {side}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows.len() > 120, "only {} rules are listed", rows.len());
}
