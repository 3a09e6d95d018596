//! The recorded calls: what the files below `tests/differential` say, and the variables in them.
//!
//! What an answer is, and whether two of them are equal, is left to others.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    path::Path,
};

use serde::Deserialize;
use serde_json::Value;

/// A named sequence of calls in a namespace of its own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[serde(rename = "scenario")]
    pub name: String,
    /// Definitions, by file, whose kinds are served before the first call.
    #[serde(default)]
    pub define: Vec<String>,
    pub calls: Vec<Call>,
    /// Differences that any call may show.
    #[serde(default)]
    pub known: Vec<Known>,
}

/// One request, and what of its answer matters.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// `METHOD PATH?QUERY`.
    #[serde(rename = "do", default)]
    pub line: String,
    /// The kind of body: `merge`, `json`, `strategic`, `apply`, `yaml`, or a content type.
    #[serde(rename = "as")]
    pub form: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// A body that is sent as JSON.
    pub body: Option<Value>,
    /// A body that is sent as it stands.
    pub text: Option<String>,
    /// Parts of the answer that later calls refer to, by JSON pointer.
    #[serde(default)]
    pub save: BTreeMap<String, String>,
    /// Ask again until the answer has this: `code`, or a JSON pointer, and the value there.
    #[serde(default)]
    pub until: BTreeMap<String, Value>,
    /// The parts of the answer that are compared, by JSON pointer; all of it when empty.
    #[serde(default)]
    pub look: Vec<String>,
    /// Begins a watch under this name and goes on with the next call.
    pub open: Option<String>,
    /// Reads the watch of this name to its end.
    pub collect: Option<String>,
    /// Forgets the history of both servers.
    #[serde(default)]
    pub compact: bool,
    /// Differences that this call may show.
    #[serde(default)]
    pub known: Vec<Known>,
}

/// A difference that is meant to be.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The path of what differs, `*` for any one part of it; what is below differs too.
    pub at: String,
    pub why: String,
}

/// Every scenario of every file, in the order of their names.
pub fn load(directory: &Path) -> Vec<Scenario> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "yaml"))
        .collect();
    files.sort();
    let mut scenarios: Vec<Scenario> = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let read: Vec<Scenario> = serde_saphyr::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        scenarios.extend(read);
    }
    let mut names = HashMap::new();
    for scenario in &scenarios {
        assert!(
            names.insert(&scenario.name, ()).is_none(),
            "two scenarios are called {}",
            scenario.name
        );
    }
    scenarios
}

/// What the variables of a scenario stand for at one of the servers.
#[derive(Debug, Clone, Default)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Those that every scenario has: a namespace and an API group of its own.
    pub fn of(scenario: &Scenario) -> Variables {
        let name = &scenario.name;
        let pairs = [
            ("ns", name.clone()),
            ("group", format!("{name}.example.com")),
        ];
        Variables(pairs.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// Gives a variable a value.
    pub fn set(&mut self, name: &str, value: String) {
        self.0.insert(name.to_owned(), value);
    }

    /// The variables that were saved from answers.
    pub fn saved(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.0.iter().map(|(name, value)| (&**name, &**value));
        pairs.filter(|(name, _)| !matches!(*name, "ns" | "group"))
    }

    /// Text with `${name}` replaced by its value, and `${x*9}` by nine times `x`.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            filled.push_str(before);
            match (self.0.get(name), name.rsplit_once('*')) {
                (Some(value), _) => filled.push_str(value),
                (None, Some((word, count))) => {
                    filled.push_str(&word.repeat(count.parse().unwrap()));
                }
                (None, None) => panic!("nothing was saved as {name}: {text}"),
            }
            rest = after;
        }
        filled.push_str(rest);
        filled
    }
}
