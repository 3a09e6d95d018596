//! Definitions against kube-apiserver 1.36: `cases.json` holds what it said to each.

use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Case {
    name: String,
    definition: Value,
    /// Reason, field and message of each cause; none for a definition that is accepted.
    causes: Vec<[String; 3]>,
}

/// Cases whose words differ although the verdict is the same: the parsers of regular expressions
/// and of CEL word their errors in their own ways.
const OWN_WORDS: [&str; 3] = [
    "bad pattern",
    "rule: syntax",
    "rule: message expression syntax",
];

/// Where in an expression the fault is: upstream knows exactly, we look for it in the text.
fn without_place(message: &str) -> String {
    let mark = "ERROR: <input>:";
    let Some((before, rest)) = message.split_once(mark) else {
        return message.to_owned();
    };
    let what = rest.splitn(3, ':').nth(2).unwrap_or_default();
    let what = what.lines().next().unwrap_or_default();
    format!("{before}{what}")
}

#[test]
fn definitions_fare_as_they_do_upstream() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("cases.json")).unwrap();
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for case in cases {
        let own_words = OWN_WORDS.contains(&case.name.as_str());
        let simple = |reason: &str, field: &str, message: &str| {
            let message = if own_words {
                String::new()
            } else {
                without_place(message)
            };
            format!("{field}: {message} ({reason})")
        };
        // The name of the object is judged with the metadata.
        let by_metadata =
            |field: &str, message: &str| field == "metadata.name" && message.contains("RFC 1123");
        let mut want: Vec<String> = case
            .causes
            .iter()
            .filter(|[_, field, message]| !by_metadata(field, message))
            .map(|[reason, field, message]| simple(reason, field, message))
            .collect();
        let mut got: Vec<String> = super::validate(&case.definition)
            .iter()
            .map(|cause| simple(&cause.reason, &cause.field, &cause.message))
            .collect();
        refused += usize::from(!case.causes.is_empty());
        want.sort();
        got.sort();
        got.dedup();
        want.dedup();
        if got != want {
            wrong.push(format!("{}\n  got  {got:#?}\n  want {want:#?}", case.name));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(refused > 100, "{refused} definitions are refused");
}

#[test]
fn our_own_definitions_are_accepted() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crds");
    let mut seen = 0;
    for file in std::fs::read_dir(dir).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|e| e == "yaml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let definition: Value = serde_saphyr::from_str(&text).unwrap();
            let causes = super::validate(&definition);
            assert!(causes.is_empty(), "{}: {causes:#?}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 2);
}
