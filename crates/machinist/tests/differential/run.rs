//! Runs a scenario at both servers, call by call, and tells where the answers differ.

use std::{fmt::Write as _, fs};

use serde_json::{Value, json};

use crate::{
    compare::differences,
    exchange::{Answer, Side},
    mask::Mask,
    scenario::{Call, Known, Scenario},
    servers::Servers,
    support::peers,
};

/// What came of a scenario.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The calls that were compared.
    pub compared: usize,
    /// What differs and should not, for people; empty when all is well.
    pub report: String,
}

/// The differences that are meant to be, and which of them were seen.
struct Expected<'a>(Vec<(&'a Known, bool)>);

impl<'a> Expected<'a> {
    fn new(known: &'a [Known]) -> Expected<'a> {
        Expected(known.iter().map(|known| (known, false)).collect())
    }

    /// What is listed and does not differ: the list has to shrink when the server gets better.
    fn unseen(&self) -> impl Iterator<Item = String> {
        let unseen = self.0.iter().filter(|(_, seen)| !seen);
        unseen.map(|(known, _)| {
            let Known { at, why } = known;
            format!("{at} is listed as known ({why}), but does not differ")
        })
    }
}

/// Runs one scenario.
pub async fn run(servers: &Servers, scenario: &Scenario) -> Outcome {
    let [mut real, mut embedded] = servers.sides(scenario);
    let mut masks = [Mask::default(), Mask::default()];
    let mut outcome = Outcome::default();
    let mut everywhere = Expected::new(&scenario.known);
    prepare(&mut real, &mut embedded, scenario).await;
    for (number, call) in scenario.calls.iter().enumerate() {
        if call.compact {
            servers.compact().await;
            continue;
        }
        let (Some(of_real), Some(of_embedded)) = both(&mut real, &mut embedded, call).await else {
            continue;
        };
        outcome.compared += 1;
        let of_real = look(call, masks[0].answer(&of_real, &real.variables));
        let of_embedded = look(call, masks[1].answer(&of_embedded, &embedded.variables));
        let mut here = Expected::new(&call.known);
        let mut report = String::new();
        for difference in differences(&of_real, &of_embedded) {
            let mut known = false;
            for (expected, seen) in here.0.iter_mut().chain(&mut everywhere.0) {
                if expected.covers(&difference) {
                    *seen = true;
                    known = true;
                }
            }
            if !known {
                write!(report, "{difference}").unwrap();
            }
        }
        for line in here.unseen() {
            writeln!(report, "    {line}").unwrap();
        }
        if !report.is_empty() {
            let (name, line) = (&scenario.name, title(call));
            writeln!(outcome.report, "{name}, call {}: {line}", number + 1).unwrap();
            if let Some(body) = &call.body {
                writeln!(outcome.report, "  body: {}", shortened(&body.to_string())).unwrap();
            }
            writeln!(outcome.report, "  real:     {}", show(&of_real)).unwrap();
            writeln!(outcome.report, "  embedded: {}", show(&of_embedded)).unwrap();
            writeln!(outcome.report, "{report}").unwrap();
        }
    }
    for line in everywhere.unseen() {
        writeln!(outcome.report, "{}: {line}", scenario.name).unwrap();
    }
    outcome
}

async fn both(
    real: &mut Side,
    embedded: &mut Side,
    call: &Call,
) -> (Option<Answer>, Option<Answer>) {
    futures::join!(real.answer(call), embedded.answer(call))
}

/// Makes the scenario's namespace, and its kinds served.
async fn prepare(real: &mut Side, embedded: &mut Side, scenario: &Scenario) {
    let namespace = json!({
        "do": "POST /api/v1/namespaces",
        "body": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "${ns}"}},
    });
    let mut calls = vec![call(&namespace)];
    for file in &scenario.define {
        let path = peers::tree().join("tests/differential").join(file);
        let text =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text = real.variables.fill(&text);
        let definition: Value = serde_saphyr::from_str(&text).unwrap();
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        calls.push(call(
            &json!({"do": format!("POST {crds}"), "body": definition}),
        ));
        let spec = &definition["spec"];
        for version in spec["versions"].as_array().unwrap() {
            let path = format!(
                "GET /apis/{}/{}/{}",
                spec["group"].as_str().unwrap(),
                version["name"].as_str().unwrap(),
                spec["names"]["plural"].as_str().unwrap()
            );
            calls.push(call(&json!({"do": path, "until": {"code": 200}})));
        }
    }
    for call in &calls {
        let (of_real, of_embedded) = both(real, embedded, call).await;
        for (name, answer) in [("real", of_real), ("embedded", of_embedded)] {
            let answer = answer.unwrap();
            assert!(
                answer.code < 300,
                "{}: {} at the {name} server: {answer:#?}",
                scenario.name,
                call.line
            );
        }
    }
}

fn call(value: &Value) -> Call {
    serde_json::from_value(value.clone()).unwrap()
}

/// Only what the call wants to have compared.
fn look(call: &Call, mut answer: Answer) -> Answer {
    if call.look.is_empty() {
        return answer;
    }
    for body in &mut answer.bodies {
        let parts = call.look.iter().map(|pointer| {
            let part = body.pointer(pointer).cloned().unwrap_or(Value::Null);
            (pointer.clone(), part)
        });
        *body = Value::Object(parts.collect());
    }
    answer
}

fn title(call: &Call) -> String {
    match &call.collect {
        Some(name) => format!("events of {name}"),
        None => format!("{} {}", call.line, call.form.as_deref().unwrap_or("")),
    }
}

fn show(answer: &Answer) -> String {
    let bodies: Vec<String> = answer.bodies.iter().map(Value::to_string).collect();
    shortened(&format!(
        "{} {:?} {}",
        answer.code,
        answer.headers,
        bodies.join(" ")
    ))
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 1500;
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
        None => text.to_owned(),
    }
}
