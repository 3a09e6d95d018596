//! Manifests from files: read whole, judged whole, then applied.

use std::{
    fmt,
    io::Read,
    path::{Path, PathBuf},
};

use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams, ValidationDirective},
    core::GroupVersionKind,
    discovery::{self, Scope},
};
use serde_json::Value;

use crate::failure::{self, Outcome};

/// The field manager of what `-f` applies.
const MANAGER: &str = "machinist-up";

/// One object of a manifest.
#[derive(Debug, Clone)]
pub(crate) struct Manifest {
    origin: Origin,
    pub(crate) kind: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    pub(crate) object: Value,
    gvk: GroupVersionKind,
}

/// Where an object was written, for messages.
#[derive(Debug, Clone)]
struct Origin {
    file: PathBuf,
    document: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, document {}", self.file.display(), self.document)
    }
}

impl Manifest {
    /// Its group and kind.
    pub(crate) fn family(&self) -> (&str, &str) {
        (&self.gvk.group, &self.gvk.kind)
    }

    /// Its version, within its group.
    pub(crate) fn version(&self) -> &str {
        &self.gvk.version
    }

    /// Its group and version.
    pub(crate) fn api_version(&self) -> String {
        self.gvk.api_version()
    }

    /// Where it was written.
    pub(crate) fn origin(&self) -> String {
        self.origin.to_string()
    }
}

/// Reads every object of every file, or of every file of a directory; one that cannot be read fails all.
pub(crate) fn read(files: &[PathBuf]) -> Outcome<Vec<Manifest>> {
    let mut manifests = Vec::new();
    for file in &expand(files)? {
        let text = read_file(file)?;
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).map_err(|error| {
            failure::user_plain(format!("{} is not YAML: {error}", file.display()))
        })?;
        for (index, object) in documents.into_iter().enumerate() {
            if !object.is_null() {
                let origin = Origin {
                    file: file.clone(),
                    document: index + 1,
                };
                manifests.push(understand(origin, object)?);
            }
        }
    }
    if manifests.is_empty() && !files.is_empty() {
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        return Err(failure::user_plain(format!(
            "{} holds no object",
            names.join(", ")
        )));
    }
    Ok(manifests)
}

/// The manifests of a directory stand for it, in the order of their names.
fn expand(files: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let mut all = Vec::new();
    for file in files {
        if !file.is_dir() {
            all.push(file.clone());
            continue;
        }
        let failed = |e| failure::user(format!("could not read {}", file.display()), e);
        let mut found = Vec::new();
        for entry in std::fs::read_dir(file).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let ending = path.extension().and_then(std::ffi::OsStr::to_str);
            if ending.is_some_and(|ending| ["yaml", "yml", "json"].contains(&ending)) {
                found.push(path);
            }
        }
        found.sort();
        all.extend(found);
    }
    Ok(all)
}

fn read_file(file: &Path) -> Outcome<String> {
    let read = || {
        if file == Path::new("-") {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            return Ok(text);
        }
        std::fs::read_to_string(file)
    };
    read().map_err(|e| failure::user(format!("could not read {}", file.display()), e))
}

fn understand(origin: Origin, object: Value) -> Outcome<Manifest> {
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let missing = |field: &str| failure::user_plain(format!("{origin}: {field} is missing"));
    let api_version = text("/apiVersion").ok_or_else(|| missing("apiVersion"))?;
    let kind = text("/kind").ok_or_else(|| missing("kind"))?;
    let name = text("/metadata/name").ok_or_else(|| missing("metadata.name"))?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    Ok(Manifest {
        gvk: GroupVersionKind::gvk(group, version, &kind),
        namespace: text("/metadata/namespace"),
        origin,
        kind,
        name,
        object,
    })
}

/// Applies all, or nothing: every object is tried without effect first.
pub(crate) async fn apply(client: &Client, manifests: &mut [Manifest]) -> Outcome {
    let made: Vec<String> = manifests
        .iter()
        .filter(|manifest| manifest.kind == "Namespace")
        .map(|manifest| manifest.name.clone())
        .collect();
    for manifest in manifests.iter_mut() {
        // What lives in a namespace that is only about to be made cannot be tried before.
        let tryable = manifest
            .namespace
            .as_ref()
            .is_none_or(|ns| !made.contains(ns));
        if tryable {
            apply_one(client, manifest, true).await?;
        }
    }
    for manifest in manifests.iter_mut() {
        apply_one(client, manifest, false).await?;
    }
    Ok(())
}

async fn apply_one(client: &Client, manifest: &mut Manifest, dry_run: bool) -> Outcome {
    let (resource, capabilities) = discovery::pinned_kind(client, &manifest.gvk)
        .await
        .map_err(|_| {
            failure::user_plain(format!(
                "{}: there is no kind {} in {}",
                manifest.origin,
                manifest.kind,
                manifest.gvk.api_version()
            ))
        })?;
    let api: Api<DynamicObject> = match capabilities.scope {
        Scope::Cluster => Api::all_with(client.clone(), &resource),
        Scope::Namespaced => {
            let namespace = manifest.namespace.get_or_insert_with(|| "default".into());
            Api::namespaced_with(client.clone(), namespace, &resource)
        }
    };
    let mut params = PatchParams::apply(MANAGER).validation(ValidationDirective::Strict);
    params.dry_run = dry_run;
    match api
        .patch(&manifest.name, &params, &Patch::Apply(&manifest.object))
        .await
    {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) => Err(failure::refused_plain(format!(
            "{}: {}",
            manifest.origin, status.message
        ))),
        Err(error) => Err(failure::internal(manifest.origin.to_string(), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Outcome<Vec<Manifest>> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        read(&[file.path().to_owned()])
    }

    #[test]
    fn reads_every_document() {
        let manifests = read_text(
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\n---\n\
             apiVersion: vitistack.io/v1alpha1\nkind: Machine\nmetadata: {name: m, namespace: a}\n",
        )
        .expect("two objects");
        let names: Vec<_> = manifests
            .iter()
            .map(|m| (m.kind.as_str(), m.name.as_str()))
            .collect();
        assert_eq!(names, [("Namespace", "a"), ("Machine", "m")]);
        assert_eq!(manifests[1].gvk.group, "vitistack.io");
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        for (text, said) in [
            ("a: [", "is not YAML"),
            (
                "kind: Machine\nmetadata: {name: m}\n",
                "document 1: apiVersion is missing",
            ),
            ("apiVersion: v1\nkind: Secret\n", "metadata.name is missing"),
            ("# nothing\n", "holds no object"),
        ] {
            let error = read_text(text).expect_err(text).to_string();
            assert!(error.contains(said), "{text:?} gave {error:?}");
        }
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = read(&[PathBuf::from("/nowhere/m.yaml")])
            .expect_err("no file")
            .to_string();
        assert!(error.contains("/nowhere/m.yaml"), "{error}");
    }
}
