//! The paths of a document: what can be asked of a kind, and with which parameters.
//!
//! kubectl finds out here which kind an address belongs to, and whether a server understands
//! `dryRun` and `fieldValidation`: it looks for them in the parameters of PATCH.

use serde_json::{Map, Value, json};

use super::definitions::{meta_ref, reference, scale_ref};
use super::parameters::{of_action, path_parameter, query};
use super::{OpenApiKind, group_version_path};

const JSON_AND_YAML: [&str; 2] = ["application/json", "application/yaml"];
const PATCHES: [&str; 3] = [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
];

/// What an operation takes and gives.
struct Operation<'a> {
    /// The HTTP method, in lower case.
    method: &'a str,
    /// The verb that the kind must allow.
    verb: &'a str,
    /// The verb as the document names it.
    action: &'a str,
    /// The first word of the operation's name, and what it says it does.
    words: (&'a str, &'a str),
    body: Option<Value>,
    result: Value,
    codes: &'a [&'a str],
}

/// The paths of one kind, with everything below them.
pub(super) fn of_kind(kind: &OpenApiKind<'_>) -> Map<String, Value> {
    let object = || reference(&kind.definition_name());
    let list = || reference(&kind.list_definition_name());
    let root = format!("/{}", group_version_path(kind.group, kind.version));
    let collection = if kind.namespaced {
        format!("{root}/namespaces/{{namespace}}/{}", kind.plural)
    } else {
        format!("{root}/{}", kind.plural)
    };
    let read_list = Operation {
        method: "get",
        verb: "list",
        action: "list",
        words: ("list", "list objects of kind"),
        body: None,
        result: list(),
        codes: &["200"],
    };

    let mut paths = Map::new();
    if kind.namespaced {
        let all = format!("{root}/{}", kind.plural);
        add_path(&mut paths, kind, &all, "ForAllNamespaces", &[&read_list]);
    }
    let create = Operation {
        method: "post",
        verb: "create",
        action: "post",
        words: ("create", "create a"),
        body: Some(object()),
        result: object(),
        codes: &["200", "201", "202"],
    };
    let delete_all = Operation {
        method: "delete",
        verb: "deletecollection",
        action: "deletecollection",
        words: ("deletecollection", "delete collection of"),
        body: None,
        result: meta_ref("Status"),
        codes: &["200"],
    };
    add_path(
        &mut paths,
        kind,
        &collection,
        "",
        &[&read_list, &create, &delete_all],
    );

    let one = format!("{collection}/{{name}}");
    let delete = Operation {
        method: "delete",
        verb: "delete",
        action: "delete",
        words: ("delete", "delete a"),
        body: Some(meta_ref("DeleteOptions")),
        result: meta_ref("Status"),
        codes: &["200", "202"],
    };
    let [read, replace, patch] = on_one(object());
    add_path(
        &mut paths,
        kind,
        &one,
        "",
        &[&read, &replace, &delete, &patch],
    );
    if kind.status {
        let [read, replace, patch] = on_one(object());
        let path = format!("{one}/status");
        add_path(
            &mut paths,
            kind,
            &path,
            "Status",
            &[&read, &replace, &patch],
        );
    }
    if kind.scale {
        let [read, replace, patch] = on_one(scale_ref());
        let path = format!("{one}/scale");
        add_path(&mut paths, kind, &path, "Scale", &[&read, &replace, &patch]);
    }
    paths
}

/// Reading and writing one object or one of its subresources.
fn on_one(object: Value) -> [Operation<'static>; 3] {
    [
        Operation {
            method: "get",
            verb: "get",
            action: "get",
            words: ("read", "read the specified"),
            body: None,
            result: object.clone(),
            codes: &["200"],
        },
        Operation {
            method: "put",
            verb: "update",
            action: "put",
            words: ("replace", "replace the specified"),
            body: Some(object.clone()),
            result: object.clone(),
            codes: &["200", "201"],
        },
        Operation {
            method: "patch",
            verb: "patch",
            action: "patch",
            words: ("patch", "partially update the specified"),
            body: Some(meta_ref("Patch")),
            result: object,
            codes: &["200", "201"],
        },
    ]
}

fn add_path(
    paths: &mut Map<String, Value>,
    kind: &OpenApiKind<'_>,
    path: &str,
    suffix: &str,
    operations: &[&Operation<'_>],
) {
    let mut item = Map::new();
    for operation in operations {
        if kind.may(operation.verb) {
            item.insert(
                operation.method.to_string(),
                render(kind, path, suffix, operation),
            );
        }
    }
    if item.is_empty() {
        return;
    }
    let mut shared = Vec::new();
    if path.contains("{name}") {
        shared.push(path_parameter(
            "name",
            &format!("name of the {}", kind.kind),
        ));
    }
    if path.contains("{namespace}") {
        shared.push(path_parameter(
            "namespace",
            "object name and auth scope, such as for teams and projects",
        ));
    }
    shared.push(query(
        "pretty",
        "string",
        "Whether the answer is laid out for people.",
    ));
    item.insert("parameters".into(), Value::Array(shared));
    paths.insert(path.to_string(), Value::Object(item));
}

fn render(kind: &OpenApiKind<'_>, path: &str, suffix: &str, operation: &Operation<'_>) -> Value {
    let scope = if kind.namespaced { "Namespaced" } else { "" };
    let (word, description) = operation.words;
    let group: String = kind
        .group
        .split('.')
        .map(capitalized)
        .collect::<Vec<_>>()
        .concat();
    let name = match suffix {
        "ForAllNamespaces" => format!("{}{suffix}", kind.kind),
        suffix => format!("{scope}{}{suffix}", kind.kind),
    };
    let mut json = json!({
        "tags": [tag(kind)],
        "description": format!("{description} {}", kind.kind),
        "operationId": format!("{word}{group}{}{name}", capitalized(kind.version)),
        "responses": responses(operation),
        "x-kubernetes-action": operation.action,
        "x-kubernetes-group-version-kind": kind.gvk(kind.kind),
    });
    // An empty list would not survive a round trip through the Go types.
    let parameters = of_action(operation.action);
    if !parameters.is_empty() {
        json["parameters"] = parameters.into();
    }
    if path.ends_with("/scale") {
        json["x-kubernetes-group-version-kind"] =
            json!({ "group": "autoscaling", "version": "v1", "kind": "Scale" });
    }
    if let Some(body) = &operation.body {
        let types: &[&str] = if operation.action == "patch" {
            &PATCHES
        } else {
            &JSON_AND_YAML
        };
        json["requestBody"] = json!({
            "content": content(types, body),
            "required": operation.action != "delete",
        });
    }
    json
}

fn tag(kind: &OpenApiKind<'_>) -> String {
    let name = match kind.group {
        "" => "core".to_string(),
        group => group
            .split('.')
            .enumerate()
            .map(|(index, part)| match index {
                0 => part.to_string(),
                _ => capitalized(part),
            })
            .collect(),
    };
    format!("{name}_{}", kind.version)
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

fn responses(operation: &Operation<'_>) -> Value {
    let mut all: Map<String, Value> = operation
        .codes
        .iter()
        .map(|code| {
            let description = match *code {
                "201" => "Created",
                "202" => "Accepted",
                _ => "OK",
            };
            let response = json!({
                "description": description,
                "content": content(&JSON_AND_YAML, &operation.result),
            });
            ((*code).to_string(), response)
        })
        .collect();
    all.insert("401".into(), json!({ "description": "Unauthorized" }));
    Value::Object(all)
}

fn content(types: &[&str], schema: &Value) -> Value {
    types
        .iter()
        .map(|media_type| ((*media_type).to_string(), json!({ "schema": schema })))
        .collect::<Map<_, _>>()
        .into()
}
