//! `machinist get`: objects as the API server's own tables, or as they are.

use kube::Error;
use serde_json::{Value, json};

use crate::{
    cli::{self, Shape},
    columns::align,
    connection::{self, Connection, refused},
    failure::{self, Outcome},
    kinds::{Kind, Kinds, escape},
};

/// Objects as rows, in the form that kubectl asks for.
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// Runs it.
pub(crate) async fn run(flags: cli::Get) -> Outcome {
    let connection = connection::open(&flags.target).await?;
    let kinds = Kinds::discover(&connection).await?;
    let (words, names) = named(&flags.kinds, &flags.names);
    let mut meant = Vec::new();
    for word in words.split(',').filter(|word| !word.is_empty()) {
        meant.extend(kinds.meant(word)?);
    }
    let question = Question {
        connection: &connection,
        names: &names,
        namespace: (!flags.all_namespaces).then_some(connection.namespace.as_str()),
        selector: flags.selector.as_deref(),
    };
    match flags.output {
        None | Some(Shape::Wide) => tables(&question, &meant, flags.output.is_some()).await,
        Some(Shape::Name) => {
            for kind in meant {
                for object in question.objects(kind).await? {
                    let name = object["metadata"]["name"].as_str().unwrap_or_default();
                    println!("{}", kind.object_name(name));
                }
            }
            Ok(())
        }
        Some(shape @ (Shape::Json | Shape::Yaml)) => {
            let mut objects = Vec::new();
            for kind in meant {
                objects.extend(question.objects(kind).await?);
            }
            let document = match (objects.len(), names.len()) {
                (1, 1) => objects.swap_remove(0),
                _ => json!({"apiVersion": "v1", "kind": "List", "items": objects}),
            };
            print_document(&document, shape)
        }
    }
}

/// `KIND/NAME` is one word for two.
pub(crate) fn named(kind: &str, names: &[String]) -> (String, Vec<String>) {
    match kind.split_once('/') {
        Some((kind, name)) => {
            let mut all = vec![name.to_owned()];
            all.extend(names.iter().cloned());
            (kind.to_owned(), all)
        }
        None => (kind.to_owned(), names.to_vec()),
    }
}

/// What is asked for.
pub(crate) struct Question<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) names: &'a [String],
    pub(crate) namespace: Option<&'a str>,
    pub(crate) selector: Option<&'a str>,
}

impl Question<'_> {
    fn paths(&self, kind: &Kind) -> Vec<String> {
        let own = self.connection.namespace.as_str();
        let one = |name: &String| kind.object_path(self.namespace.unwrap_or(own), name);
        match (self.names, self.selector) {
            ([], None) => vec![kind.path(self.namespace)],
            ([], Some(labels)) => vec![format!(
                "{}?labelSelector={}",
                kind.path(self.namespace),
                escape(labels)
            )],
            (names, _) => names.iter().map(one).collect(),
        }
    }

    async fn answers(&self, kind: &Kind, accept: &str) -> Outcome<Vec<Value>> {
        let mut answers = Vec::new();
        for path in self.paths(kind) {
            let answer = self.connection.read(&path, accept).await;
            answers.push(answer.map_err(|error| match error {
                Error::Api(status) if status.code == 404 => failure::user_plain(status.message),
                error => refused("could not read")(error),
            })?);
        }
        Ok(answers)
    }

    /// The objects, without what only the API server needs.
    pub(crate) async fn objects(&self, kind: &Kind) -> Outcome<Vec<Value>> {
        let mut objects = Vec::new();
        for answer in self.answers(kind, "application/json").await? {
            match answer["items"].as_array() {
                Some(items) => objects.extend(items.iter().cloned()),
                None => objects.push(answer),
            }
        }
        for object in &mut objects {
            if let Some(fields) = object.as_object_mut() {
                let version = match kind.group.as_str() {
                    "" => kind.version.clone(),
                    group => format!("{group}/{}", kind.version),
                };
                // A list says once what its items are.
                fields.entry("apiVersion").or_insert(version.into());
                fields.entry("kind").or_insert(kind.kind.as_str().into());
            }
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("managedFields");
            }
        }
        Ok(objects)
    }
}

async fn tables(question: &Question<'_>, kinds: &[&Kind], wide: bool) -> Outcome {
    let mut printed = 0;
    for kind in kinds {
        let mut rows = Vec::new();
        for answer in question.answers(kind, TABLE).await? {
            let (header, more) = table(&answer, kind, wide, question.namespace.is_none());
            if rows.is_empty() {
                rows.push(header);
            }
            rows.extend(more.into_iter().map(|mut row| {
                // Of several kinds, a name alone does not say which.
                let at = usize::from(question.namespace.is_none() && kind.namespaced);
                if let Some(name) = row.get_mut(at).filter(|_| kinds.len() > 1) {
                    *name = kind.object_name(name);
                }
                row
            }));
        }
        if rows.len() > 1 {
            let gap = if printed > 0 { "\n" } else { "" };
            print!("{gap}{}", align(&rows));
            printed += 1;
        }
    }
    if printed == 0 {
        match question
            .namespace
            .filter(|_| kinds.iter().any(|kind| kind.namespaced))
        {
            Some(namespace) => eprintln!("No objects found in namespace {namespace}."),
            None => eprintln!("No objects found."),
        }
    }
    Ok(())
}

/// The header and the rows of one answer.
fn table(answer: &Value, kind: &Kind, wide: bool, all: bool) -> (Vec<String>, Vec<Vec<String>>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let columns = list(&answer["columnDefinitions"]);
    let shown = |index: &usize| {
        wide || columns
            .get(*index)
            .is_none_or(|column| column["priority"].as_i64().unwrap_or(0) == 0)
    };
    let with_namespace = all && kind.namespaced;
    let pick = |cells: Vec<String>, first: String| {
        let cells = cells
            .into_iter()
            .enumerate()
            .filter(|(index, _)| shown(index));
        let first = with_namespace.then_some(first).into_iter();
        first.chain(cells.map(|(_, cell)| cell)).collect::<Vec<_>>()
    };
    let names = columns
        .iter()
        .map(|column| column["name"].as_str().unwrap_or_default().to_uppercase());
    let header = pick(names.collect(), "NAMESPACE".into());
    let rows = list(&answer["rows"]).into_iter().map(|row| {
        let cells = list(&row["cells"]).iter().map(cell).collect();
        let namespace = row["object"]["metadata"]["namespace"]
            .as_str()
            .unwrap_or_default();
        pick(cells, namespace.to_owned())
    });
    (header, rows.collect())
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.replace(['\n', '\r'], " "),
        other => other.to_string(),
    }
}

/// Prints a document as JSON or YAML.
pub(crate) fn print_document(document: &Value, shape: Shape) -> Outcome {
    match shape {
        Shape::Yaml => {
            let text = serde_saphyr::to_string(document)
                .map_err(|e| failure::internal("could not write YAML", e))?;
            print!("{text}");
            if !text.ends_with('\n') {
                println!();
            }
        }
        Shape::Json | Shape::Wide | Shape::Name => {
            let text = serde_json::to_string_pretty(document)
                .map_err(|e| failure::internal("could not write JSON", e))?;
            println!("{text}");
        }
    }
    Ok(())
}
