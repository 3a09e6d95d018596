//! `machinist plan`: what applying manifests would do, field by field, before anything is applied.
//!
//! The API server judges each manifest without effect (defaults, schema, rules, webhooks);
//! `machinist_core::preview` says how what differs would be carried out. Nothing is changed.

mod apply;
mod text;

use std::process::ExitCode;

use machinist_api::{convert, vitistack::MachineProvider};
use machinist_core::{
    explain::View,
    preview::{self, FieldChange, MachineChange, Verdict},
    provider::Capabilities,
    redact::{self, Secrets},
};
use serde::Serialize;
use serde_json::Value;

use self::apply::Tried;
use super::why::{provider_of, providers};
use crate::{
    cli,
    connection::{self, Connection},
    failure::{self, Outcome},
    kinds::Kinds,
    manifests::{self, Manifest},
};

/// The exit code when something would change, as of `terraform plan -detailed-exitcode`.
const CHANGES: u8 = 2;
/// The exit code when something cannot be planned, or would be refused.
const FAULT: u8 = 1;
/// The version that the engine reads.
const STORED: &str = "vitistack.io/v1alpha1";

/// What would happen to one object.
#[derive(Debug, Serialize)]
struct Planned {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    name: String,
    /// Where it is declared.
    origin: String,
    verdict: Verdict,
    /// What is wrong, or what a person should know.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    fields: Vec<FieldChange>,
}

/// Runs it. Every failure has one exit code: the others have a meaning of their own.
pub(crate) async fn run(flags: cli::Plan) -> Outcome<ExitCode> {
    plan(flags).await.map_err(|failure| failure.ending(FAULT))
}

async fn plan(flags: cli::Plan) -> Outcome<ExitCode> {
    let mut manifests = manifests::read(&flags.filename)?;
    let connection = connection::open(&flags.target).await?;
    let kinds = Kinds::discover(&connection).await?;
    let made: Vec<String> = manifests
        .iter()
        .filter(|manifest| manifest.kind == "Namespace")
        .map(|manifest| manifest.name.clone())
        .collect();
    let mut tried = Vec::new();
    for manifest in &mut manifests {
        let question = apply::Question {
            connection: &connection,
            kinds: &kinds,
            made: &made,
            manager: flags.field_manager.as_deref(),
        };
        let outcome = apply::attempt(&question, manifest).await?;
        tried.push((manifest.clone(), outcome));
    }
    let providers = known_providers(&connection, &kinds, &tried).await?;
    let planned: Vec<Planned> = tried
        .into_iter()
        .map(|(manifest, tried)| judge(&manifest, tried, &providers))
        .collect();
    match flags.output {
        cli::Form::Text => print!("{}", text::render(&planned)),
        cli::Form::Json => {
            let worst = planned.iter().map(|planned| planned.verdict).max();
            let document = serde_json::json!({
                "verdict": worst.unwrap_or(Verdict::NoChange),
                "objects": planned,
            });
            let text = serde_json::to_string_pretty(&document)
                .map_err(|e| failure::internal("could not write the plan", e))?;
            println!("{text}");
        }
    }
    Ok(match planned.iter().map(|planned| planned.verdict).max() {
        None | Some(Verdict::NoChange) => ExitCode::SUCCESS,
        Some(Verdict::Refused) => ExitCode::from(FAULT),
        Some(_) => ExitCode::from(CHANGES),
    })
}

/// The providers as they would be: those of the manifests count before those that there are.
async fn known_providers(
    connection: &Connection,
    kinds: &Kinds,
    tried: &[(Manifest, Tried)],
) -> Outcome<Vec<Value>> {
    let is_machine = |(manifest, _): &(Manifest, Tried)| manifest.kind == "Machine";
    if !tried.iter().any(is_machine) {
        return Ok(Vec::new());
    }
    let mut all: Vec<Value> = Vec::new();
    for (manifest, tried) in tried {
        if let (("vitistack.io", "MachineProvider"), Tried::Taken { after, .. }) =
            (manifest.family(), tried)
        {
            all.extend(stored(after));
        }
    }
    let id = |object: &Value| {
        let text = |key: &str| object["metadata"][key].as_str().map(str::to_owned);
        (text("namespace"), text("name"))
    };
    for provider in providers(connection, kinds).await? {
        match all.iter_mut().find(|known| id(known) == id(&provider)) {
            // What it can do is known of the one that there is.
            Some(known) => known["status"] = provider["status"].clone(),
            None => all.push(provider),
        }
    }
    Ok(all)
}

fn stored(object: &Value) -> Option<Value> {
    match object["apiVersion"] == STORED {
        true => Some(object.clone()),
        false => convert::convert(object, STORED).ok(),
    }
}

fn judge(manifest: &Manifest, tried: Tried, providers: &[Value]) -> Planned {
    let is_machine = manifest.family() == ("vitistack.io", "Machine");
    let (verdict, note, fields) = match tried {
        Tried::Refused(fault) => (Verdict::Refused, Some(fault), Vec::new()),
        Tried::Untried(note) => (Verdict::Create, Some(note), Vec::new()),
        Tried::Taken {
            before: None,
            after,
        } => match is_machine {
            true => created(&after, providers),
            false => (Verdict::Create, None, Vec::new()),
        },
        Tried::Taken {
            before: Some(before),
            after,
        } => {
            let fields = match is_machine {
                true => changed(&before, &after, providers),
                false => preview::plain_changes(&before, &after),
            };
            let worst = fields.iter().map(|field| field.verdict).max();
            let going = View::of(&before)
                .deleting
                .map(|_| "It is being deleted.".to_owned());
            (worst.unwrap_or(Verdict::NoChange), going, fields)
        }
    };
    let fields = fields
        .into_iter()
        .map(|field| without_secrets(&manifest.kind, field))
        .collect();
    Planned {
        kind: manifest.kind.clone(),
        namespace: manifest.namespace.clone(),
        name: manifest.name.clone(),
        origin: manifest.origin(),
        verdict,
        note,
        fields,
    }
}

/// A plan is shown to others; that a secret changes is enough to know.
fn without_secrets(kind: &str, mut field: FieldChange) -> FieldChange {
    for value in [&mut field.before, &mut field.after].into_iter().flatten() {
        match redact::hides(kind, &field.path) {
            true => *value = redact::REMOVED.into(),
            false => Secrets::default().clean(value),
        }
    }
    field
}

/// A machine that is new: whether its declaration has a meaning on its provider.
fn created(after: &Value, providers: &[Value]) -> (Verdict, Option<String>, Vec<FieldChange>) {
    let Some(machine) = stored(after) else {
        return (Verdict::Create, None, Vec::new());
    };
    let Some(provider) = typed(provider_of(&machine, providers)) else {
        let waits = "It waits: the MachineProvider that it names does not exist yet.";
        return (Verdict::Create, Some(waits.into()), Vec::new());
    };
    match preview::understand(&machine, &provider) {
        Ok(_) => (Verdict::Create, None, Vec::new()),
        Err(fault) => (Verdict::Refused, Some(fault), Vec::new()),
    }
}

/// A machine that there is: how each field is carried out. Paths are those of the version in which
/// the engine reads it.
fn changed(before: &Value, after: &Value, providers: &[Value]) -> Vec<FieldChange> {
    let plain = || preview::plain_changes(before, after);
    let (Some(old), Some(new)) = (stored(before), stored(after)) else {
        return plain();
    };
    let found = provider_of(&old, providers);
    let can = found.and_then(capabilities);
    match typed(found) {
        None => plain(),
        Some(provider) => preview::machine_changes(MachineChange {
            before: &old,
            after: &new,
            provider: &provider,
            can,
        }),
    }
}

fn typed(provider: Option<&Value>) -> Option<MachineProvider> {
    serde_json::from_value(provider?.clone()).ok()
}

/// What a provider said that it can do.
fn capabilities(provider: &Value) -> Option<Capabilities> {
    let words = provider
        .pointer("/status/capabilities/verified")?
        .as_array()?;
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    Some(Capabilities::from_words(&words))
}
