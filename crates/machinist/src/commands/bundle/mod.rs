//! `machinist bundle`: what others need to help, in one file, with secrets removed.
//!
//! Everything is read first, so that every secret is known before anything is written; then each
//! text is cleaned of all of them (`machinist_core::redact`), wherever it is quoted.

mod archive;
mod gather;

use std::path::PathBuf;

use jiff::Timestamp;
use machinist_core::redact::Secrets;
use serde_json::Value;

use self::archive::Archive;
use crate::{
    cli, connection,
    failure::{self, Outcome},
};

/// What a bundle says of itself.
const ABOUT: &str = "This is a diagnostic bundle of Machinist.

objects/   every object of its kinds, and the Secrets beside them without their values
events.yaml, why/   what happened to them, and what those that are not ready wait for
server/    the API server's version, health and metrics
logs/      the last lines of operators and of local hypervisors
missing.txt   what could not be read

Secrets were removed: values of Secrets, first-boot data (userData, cloudInit), settings that only a
platform understands, whatever is called password, token, key or the like, and each of these wherever
it was quoted. What guests print on their consoles is not in it. Look through it before you hand it on.
";

/// Something that was read, by the name of its file.
enum Part {
    /// Objects, which become YAML.
    Objects(String, Value),
    /// Text.
    Text(String, String),
}

/// Runs it.
pub(crate) async fn run(flags: cli::Bundle) -> Outcome {
    let connection = connection::open(&flags.target).await?;
    let only = flags.target.namespace.as_deref();
    let dir = flags.target.data_dir.as_deref();
    let gathered = gather::gather(&connection, only, dir).await?;
    let now = Timestamp::now();
    let stem = format!("machinist-bundle-{}", now.strftime("%Y%m%dT%H%M%SZ"));
    let file = flags
        .file
        .unwrap_or_else(|| PathBuf::from(format!("{stem}.tar.gz")));
    let failed = |e| failure::configuration(format!("could not write {}", file.display()), e);
    let mut archive = Archive::create(&file, &stem, now).map_err(failed)?;
    archive.add("README.txt", ABOUT).map_err(failed)?;
    let count = gathered.parts.len();
    for part in gathered.parts {
        let (name, text) = cleaned(part, &gathered.secrets)?;
        archive.add(&name, &text).map_err(failed)?;
    }
    let missing = gathered.secrets.clean_text(&gathered.missing.join("\n"));
    archive.add("missing.txt", &missing).map_err(failed)?;
    archive.finish().map_err(failed)?;
    println!(
        "{} holds {count} files; secrets are removed.",
        file.display()
    );
    for line in &gathered.missing {
        eprintln!("not in it: {line}");
    }
    Ok(())
}

fn cleaned(part: Part, secrets: &Secrets) -> Outcome<(String, String)> {
    match part {
        Part::Text(name, text) => Ok((name, secrets.clean_text(&text))),
        Part::Objects(name, mut objects) => {
            secrets.clean(&mut objects);
            let text = serde_saphyr::to_string(&objects)
                .map_err(|e| failure::internal("could not write YAML", e))?;
            Ok((name, text))
        }
    }
}
