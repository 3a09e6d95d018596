//! `machinist backup`: everything that a control plane knows, in one file.
//!
//! A control plane that runs is asked for a snapshot over its API, and goes on; the store of one
//! that does not run is read straight from its files. Disks of machines are not part of it.

use std::{fs, path::Path};

use futures::AsyncReadExt;
use machinist_apiserver::BACKUP_PATH;
use machinist_store::{SnapshotHead, Store};

use super::down::connect;
use crate::{
    backup_file::{BackupError, Draft, Head, Kept},
    cli,
    data_dir::DataDir,
    failure::{self, Outcome},
};

/// How much is read from the control plane at once.
const PIECE: usize = 128 << 10;

/// Runs it.
pub(crate) async fn run(flags: cli::Backup) -> Outcome {
    let dir = DataDir::resolve(&flags.data)?;
    if !dir.store().exists() {
        return Err(failure::user_plain(format!(
            "there is no control plane in {}",
            dir.root().display()
        ))
        .hint("Give the --data-dir of the control plane."));
    }
    let file = &flags.file;
    let failed = |error: BackupError| {
        failure::configuration(
            format!("could not write the backup {}", file.display()),
            error,
        )
    };
    let head = match dir.holder() {
        Some(_) => from_running(&dir, file).await?,
        None => {
            let _claim = dir.claim()?;
            let options = machinist_store::Options::default();
            let store = Store::open(&dir.store(), options)
                .map_err(|e| failure::configuration("could not open the store", e))?;
            let written = from_store(&dir, &store, file).map_err(failed);
            store.close().await;
            written?
        }
    };
    println!(
        "{} holds {} objects at revision {}",
        file.display(),
        head.entries,
        head.revision
    );
    println!("It also holds Secrets and the keys of the control plane: keep it safe.");
    Ok(())
}

fn from_store(dir: &DataDir, store: &Store, file: &Path) -> Result<SnapshotHead, BackupError> {
    let mut draft = begin(dir, file)?;
    for piece in store.snapshot() {
        draft.add(&piece)?;
    }
    draft.finish()
}

async fn from_running(dir: &DataDir, file: &Path) -> Outcome<SnapshotHead> {
    let failed = |error: BackupError| {
        failure::configuration(
            format!("could not write the backup {}", file.display()),
            error,
        )
    };
    let refused =
        |error| failure::refused("could not get a snapshot from the control plane", error);
    let client = connect(dir).await?;
    let request = axum::http::Request::get(BACKUP_PATH)
        .body(Vec::new())
        .map_err(|e| failure::internal("could not make a request", e))?;
    let mut stream = Box::pin(client.request_stream(request).await.map_err(refused)?);
    let mut draft = begin(dir, file).map_err(failed)?;
    let mut piece = vec![0; PIECE];
    loop {
        let size = stream.read(&mut piece).await;
        let size = size.map_err(|e| failure::refused("the snapshot broke off", e))?;
        if size == 0 {
            return draft.finish().map_err(failed);
        }
        draft.add(&piece[..size]).map_err(|e| failed(e.into()))?;
    }
}

fn begin(dir: &DataDir, file: &Path) -> Result<Draft, BackupError> {
    let head = Head {
        created: jiff::Timestamp::now().to_string(),
        program: env!("CARGO_PKG_VERSION").into(),
    };
    Ok(Draft::new(file, &head, &kept(dir)?)?)
}

/// The files that clients rely on: what is restored without them is another control plane.
fn kept(dir: &DataDir) -> std::io::Result<Vec<Kept>> {
    let mut kept = Vec::new();
    let mut left = vec![dir.pki()];
    while let Some(path) = left.pop() {
        let mut names: Vec<_> = fs::read_dir(path)?.collect::<Result<_, _>>()?;
        names.sort_by_key(fs::DirEntry::file_name);
        for found in names {
            let path = found.path();
            if found.file_type()?.is_dir() {
                left.push(path);
            } else if let Some(name) = path.strip_prefix(dir.root()).ok().and_then(Path::to_str) {
                let name = name.to_owned();
                let content = fs::read(&path)?;
                kept.push(Kept { name, content });
            }
        }
    }
    Ok(kept)
}
