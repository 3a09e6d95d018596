//! The reference: one Markdown page for each version of each kind, and an index of them.
//!
//! Pages are made from the CRDs, so that they say what `kubectl explain` says, and every kind that
//! [`crate::crds()`] knows has one. Reading examples and writing files is left to the caller.

mod fields;
mod rules;

use std::fmt::Write as _;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps,
};
use serde_json::Value;

pub use fields::{Field, fields};
pub use rules::{FieldRule, field_rules};

/// Name of the index page.
pub const INDEX: &str = "README.md";

/// A manifest that a page may show: the name of its file and its text.
pub type Example = (String, String);

/// Every page: file name (`<group>_<plural>_<version>.md`, and [`INDEX`]) and text.
///
/// The example of a page is the first of `examples` that is of its kind and version.
pub fn pages(crds: &[CustomResourceDefinition], examples: &[Example]) -> Vec<(String, String)> {
    let mut pages = vec![(INDEX.to_owned(), index(crds))];
    for crd in crds {
        for version in &crd.spec.versions {
            pages.push((file_name(crd, version), page(crd, version, examples)));
        }
    }
    pages
}

fn file_name(crd: &CustomResourceDefinition, version: &CustomResourceDefinitionVersion) -> String {
    let group = &crd.spec.group;
    format!("{group}_{}_{}.md", crd.spec.names.plural, version.name)
}

const NOTE: &str = "<!-- Generated from the types by `make generate`; do not edit. -->";

fn index(crds: &[CustomResourceDefinition]) -> String {
    let mut text = format!(
        "{NOTE}\n# Reference\n\nEvery kind that Machinist serves. The same sentences are shown by \
         `kubectl explain`, and the same\nschemas are in `schemas/`, for editors.\n\n\
         | kind | version | short names | scope | what it is |\n|---|---|---|---|---|\n"
    );
    for crd in crds {
        for version in &crd.spec.versions {
            let _ = writeln!(
                text,
                "| [{}]({}) | `{}/{}` | {} | {} | {} |",
                crd.spec.names.kind,
                file_name(crd, version),
                crd.spec.group,
                version.name,
                code_list(crd.spec.names.short_names.as_deref()),
                crd.spec.scope,
                cell(root(version).and_then(|root| root.description.as_deref())),
            );
        }
    }
    text
}

fn page(
    crd: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
    examples: &[Example],
) -> String {
    let names = &crd.spec.names;
    let api_version = format!("{}/{}", crd.spec.group, version.name);
    let mut text = format!("{NOTE}\n# {} ({api_version})\n\n", names.kind);
    let Some(root) = root(version) else {
        return text;
    };
    if let Some(description) = &root.description {
        let _ = writeln!(text, "{description}\n");
    }
    facts(&mut text, crd, version);
    if let Some((_, example)) = examples
        .iter()
        .find(|(_, example)| is_of(example, &api_version, &names.kind))
    {
        let _ = write!(text, "\n## Example\n\n```yaml\n{}\n```\n", example.trim());
    }
    let all = fields(root);
    for part in parts(&all) {
        let _ = writeln!(text, "\n## {}\n", heading(part));
        text.push_str("| field | type | required | default | allowed | meaning |\n|---|---|---|---|---|---|\n");
        for field in all.iter().filter(|field| field.part() == part) {
            text.push_str(&field.row());
        }
    }
    let rules = field_rules(root);
    if !rules.is_empty() {
        text.push_str("\n## Rules\n\nAn object is refused unless each of these holds.\n\n");
        for rule in rules {
            text.push_str(&rule.item());
        }
    }
    columns(&mut text, version);
    text
}

fn facts(
    text: &mut String,
    crd: &CustomResourceDefinition,
    version: &CustomResourceDefinitionVersion,
) {
    let names = &crd.spec.names;
    text.push_str("| | |\n|---|---|\n");
    let mut fact = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "| {name} | {value} |");
        }
    };
    fact("scope", crd.spec.scope.clone());
    fact("plural", format!("`{}`", names.plural));
    fact("short names", code_list(names.short_names.as_deref()));
    fact("categories", code_list(names.categories.as_deref()));
    let subresources = version.subresources.as_ref();
    let status = subresources
        .and_then(|sub| sub.status.as_ref())
        .map(|_| "status");
    let scale = subresources
        .and_then(|sub| sub.scale.as_ref())
        .map(|_| "scale");
    let served: Vec<String> = [status, scale]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .collect();
    fact("subresources", code_list(Some(&served)));
    let selectable: Option<Vec<String>> = version.selectable_fields.as_ref().map(|fields| {
        let path = |json_path: &str| json_path.trim_start_matches('.').to_owned();
        fields.iter().map(|field| path(&field.json_path)).collect()
    });
    fact(
        "field selectors",
        code_list(Some(&selectable.unwrap_or_default())),
    );
    if version.deprecated == Some(true) {
        let warning = version.deprecation_warning.clone();
        fact("deprecated", warning.unwrap_or_else(|| "yes".to_owned()));
    }
}

fn columns(text: &mut String, version: &CustomResourceDefinitionVersion) {
    let Some(columns) = &version.additional_printer_columns else {
        return;
    };
    text.push_str("\n## Columns\n\n| column | shown by | path |\n|---|---|---|\n");
    for column in columns {
        let shown = match column.priority {
            Some(priority) if priority > 0 => "`kubectl get -o wide`",
            _ => "`kubectl get`",
        };
        let path = cell(Some(&column.json_path));
        let _ = writeln!(text, "| {} | {shown} | `{path}` |", column.name);
    }
}

/// The parts of an object that have fields, in the order in which a manifest has them.
fn parts(fields: &[Field]) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::new();
    for field in fields {
        if !parts.contains(&field.part()) {
            parts.push(field.part());
        }
    }
    parts.sort_by_key(|part| (*part == "status", *part != "spec"));
    parts
}

fn heading(part: &str) -> String {
    let mut letters = part.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Whether a manifest is of this kind; what is no YAML is of none.
fn is_of(manifest: &str, api_version: &str, kind: &str) -> bool {
    serde_saphyr::from_str::<Value>(manifest)
        .is_ok_and(|value| value["apiVersion"] == api_version && value["kind"] == kind)
}

fn root(version: &CustomResourceDefinitionVersion) -> Option<&JSONSchemaProps> {
    version.schema.as_ref()?.open_api_v3_schema.as_ref()
}

fn code_list(words: Option<&[String]>) -> String {
    let words: Vec<String> = words
        .unwrap_or_default()
        .iter()
        .map(|word| format!("`{word}`"))
        .collect();
    words.join(", ")
}

/// Text that stands in a cell of a table: on one line, with its bars escaped.
fn cell(text: Option<&str>) -> String {
    let words: Vec<&str> = text.unwrap_or_default().split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}
