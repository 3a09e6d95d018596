//! `machinist why`: what an object waits for, since when, what was tried, what to do next.
//!
//! This gathers what the API server holds; the answer is `machinist_core::explain`.

mod text;

use std::process::ExitCode;

use jiff::Timestamp;
use machinist_api::{
    names,
    vitistack::{Machine, MachineProvider},
};
use machinist_core::{
    dialect::vitistack::provider_query,
    explain::{Answer, Happening, State, Surroundings, View, explain},
};
use serde_json::Value;

use crate::{
    cli,
    connection::{self, Connection, refused},
    failure::{self, Outcome},
    kinds::{Kind, Kinds, escape},
};

/// The exit code of an object that is not as declared, and that nobody works on.
const NOT_FINE: u8 = 5;
/// How many other objects an answer names.
const NAMED: usize = 10;

/// Runs it.
pub(crate) async fn run(flags: cli::Why) -> Outcome<ExitCode> {
    let connection = connection::open(&flags.target).await?;
    let answer = answer(&connection, &flags.what).await?;
    match flags.output {
        cli::Form::Text => print!("{}", text::render(&answer, Timestamp::now())),
        cli::Form::Json => {
            let text = serde_json::to_string_pretty(&answer)
                .map_err(|e| failure::internal("could not write the answer", e))?;
            println!("{text}");
        }
    }
    Ok(match answer.state {
        State::Fine | State::Working => ExitCode::SUCCESS,
        State::Waiting | State::Stuck => ExitCode::from(NOT_FINE),
    })
}

/// The answer for a person.
pub(crate) async fn explained(connection: &Connection, what: &[String]) -> Outcome<String> {
    let answer = answer(connection, what).await?;
    Ok(text::render(&answer, Timestamp::now()))
}

async fn answer(connection: &Connection, what: &[String]) -> Outcome<Answer> {
    let kinds = Kinds::discover(connection).await?;
    let (kind, name) = match what {
        [one] => one
            .split_once('/')
            .unwrap_or(("machines.vitistack.io", one)),
        [kind, name, ..] => (kind.as_str(), name.as_str()),
        [] => return Err(failure::user_plain("name an object")),
    };
    let kind = kinds.one(kind)?;
    let object = read(connection, kind, name).await?;
    let view = View::of(&object);
    let mut around = Surroundings {
        events: events(connection, &object).await?,
        ..Surroundings::default()
    };
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("vitistack.io", "Machine") => {
            let machine = connection
                .json(&stored(kind, &object))
                .await
                .map_err(refused("could not read the machine"))?;
            let providers = providers(connection, &kinds).await?;
            if let Some(provider) = provider_of(&machine, &providers) {
                let happened = events(connection, provider).await?;
                around.provider = Some((View::of(provider), happened));
            }
            around.others = providers
                .iter()
                .take(NAMED)
                .map(describe_provider)
                .collect();
        }
        ("vitistack.io", "MachineProvider") => {
            around.others = users(connection, &kinds, &object).await?;
        }
        _ => {}
    }
    Ok(explain(&view, around))
}

async fn read(connection: &Connection, kind: &Kind, name: &str) -> Outcome<Value> {
    let path = kind.object_path(&connection.namespace, name);
    match connection.json(&path).await {
        Ok(object) => Ok(object),
        Err(kube::Error::Api(status)) if status.code == 404 => {
            let place = match kind.namespaced {
                true => format!(" in namespace {:?}", connection.namespace),
                false => String::new(),
            };
            let kind_name = kind.kind.to_lowercase();
            Err(
                failure::user_plain(format!("there is no {kind_name} {name:?}{place}")).hint(
                    format!(
                        "`machinist get {} -A` lists those that there are.",
                        kind.plural
                    ),
                ),
            )
        }
        Err(error) => Err(refused("could not read the object")(error)),
    }
}

/// The same object in the version that the engine reads.
fn stored(kind: &Kind, object: &Value) -> String {
    let kind = kind.at("v1alpha1");
    let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
    kind.object_path(text("namespace"), text("name"))
}

/// What happened to an object.
pub(crate) async fn events(connection: &Connection, object: &Value) -> Outcome<Vec<Happening>> {
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
    let namespace = object["metadata"]["namespace"]
        .as_str()
        .unwrap_or("default");
    let path = format!(
        "/api/v1/namespaces/{}/events?fieldSelector={}",
        escape(namespace),
        escape(&format!("involvedObject.uid={uid}"))
    );
    match connection.json(&path).await {
        Ok(list) => {
            let items = list["items"].as_array().cloned().unwrap_or_default();
            Ok(items.iter().map(Happening::of).collect())
        }
        // Who may read the object but not its events still gets an answer.
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(Vec::new()),
        Err(error) => Err(refused("could not read the events")(error)),
    }
}

/// Every provider, as the engine reads it.
pub(crate) async fn providers(connection: &Connection, kinds: &Kinds) -> Outcome<Vec<Value>> {
    let kind = kinds.one("machineproviders.vitistack.io")?;
    let kind = kind.at("v1alpha1");
    // Where one may not look into other namespaces, one's own is what there is.
    let list = match connection.json(&kind.path(None)).await {
        Err(kube::Error::Api(status)) if status.code == 403 => {
            connection
                .json(&kind.path(Some(&connection.namespace)))
                .await
        }
        answer => answer,
    };
    let list = list.map_err(refused("could not list the providers"))?;
    let mut items = list["items"].as_array().cloned().unwrap_or_default();
    for item in &mut items {
        item["kind"] = "MachineProvider".into();
    }
    Ok(items)
}

/// The provider that a machine is bound to, or else the one that it means.
pub(crate) fn provider_of<'a>(machine: &Value, providers: &'a [Value]) -> Option<&'a Value> {
    let text = |object: &Value, key: &str| object["metadata"][key].as_str().map(str::to_owned);
    let bound = machine["metadata"]["annotations"][names::PROVIDER_ANNOTATION].as_str();
    if let Some((namespace, name)) = bound.and_then(|bound| bound.split_once('/')) {
        return providers.iter().find(|provider| {
            text(provider, "namespace").as_deref() == Some(namespace)
                && text(provider, "name").as_deref() == Some(name)
        });
    }
    let machine: Machine = serde_json::from_value(machine.clone()).ok()?;
    let query = provider_query(&machine).ok()?;
    let own = machine.metadata.namespace.unwrap_or_default();
    query.namespaces(&own).iter().find_map(|place| {
        providers.iter().find(|provider| {
            let typed = serde_json::from_value::<MachineProvider>((*provider).clone());
            text(provider, "namespace").as_deref() == Some(place)
                && typed.is_ok_and(|provider| query.matches(&provider))
        })
    })
}

fn describe_provider(provider: &Value) -> String {
    let text = |pointer: &str| provider.pointer(pointer).and_then(Value::as_str);
    let of = [text("/spec/type"), text("/spec/region")];
    let of: Vec<&str> = of.into_iter().flatten().collect();
    format!(
        "{}/{} ({})",
        text("/metadata/namespace").unwrap_or_default(),
        text("/metadata/name").unwrap_or_default(),
        of.join(", ")
    )
}

/// The machines that are bound to a provider.
async fn users(connection: &Connection, kinds: &Kinds, provider: &Value) -> Outcome<Vec<String>> {
    let text = |value: &Value, key: &str| {
        value["metadata"][key]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let wanted = format!("{}/{}", text(provider, "namespace"), text(provider, "name"));
    let kind = kinds.one("machines.vitistack.io")?;
    let list = match connection.json(&kind.path(None)).await {
        Ok(list) => list,
        Err(kube::Error::Api(status)) if status.code == 403 => return Ok(Vec::new()),
        Err(error) => return Err(refused("could not list the machines")(error)),
    };
    let items = list["items"].as_array().cloned().unwrap_or_default();
    let bound = items.iter().filter(|machine| {
        machine["metadata"]["annotations"][names::PROVIDER_ANNOTATION] == wanted.as_str()
    });
    let name =
        |machine: &Value| format!("{}/{}", text(machine, "namespace"), text(machine, "name"));
    Ok(bound.map(name).take(NAMED).collect())
}
