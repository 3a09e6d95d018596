//! `machinist restore`: a control plane from a backup.
//!
//! Everything is read and checked, and written beside what there is, before anything that is
//! there is touched; then one rename decides. What a kill leaves after that is finished by
//! whoever uses the directory next (`DataDir::claim`).

use std::{fs, io, os::unix::fs::DirBuilderExt, path::Path};

use machinist_store::{Revision, SnapshotHead, Store};

use crate::{
    backup_file::{Backup, Kept},
    cli,
    data_dir::{self, DataDir},
    failure::{self, Outcome},
    staged_restore,
};

/// How far ahead of the backup the restored store goes on. After the backup was made the old one
/// went on as well, and its clients may come back with what they saw then; nobody makes so many
/// changes between a backup and its use. etcd's own advice is the same number.
const AHEAD: u64 = 1_000_000_000;

/// Runs it.
pub(crate) async fn run(flags: cli::Restore) -> Outcome {
    let dir = DataDir::resolve(&flags.data)?;
    let file = &flags.file;
    let refused = |error| {
        failure::user(
            format!("could not use the backup {}", file.display()),
            error,
        )
        .hint("Nothing was changed.")
    };
    let mut backup = Backup::open(file).map_err(refused)?;
    let _claim = dir.claim()?;
    let present = [dir.store(), dir.pki()]
        .into_iter()
        .find(|path| path.exists());
    if let Some(present) = present.filter(|_| !flags.force) {
        return Err(failure::user_plain(format!(
            "there is a control plane in {} already: {} exists",
            dir.root().display(),
            present.display()
        ))
        .hint(
            "Choose an empty --data-dir, or give --force: what is there is then kept beside it.",
        ));
    }
    let staged = dir.new_restore()?;
    let restored = stage(&mut backup, &staged);
    let head = match restored {
        Ok(head) => head,
        Err(failure) => {
            let _ = fs::remove_dir_all(&staged);
            return Err(failure.hint("Nothing was changed."));
        }
    };
    let aside = dir.commit_restore(&staged)?;
    println!(
        "{} objects of {} are restored to {}",
        head.entries,
        backup.head.created,
        dir.root().display()
    );
    for path in aside {
        println!("  what was there before is in {}", path.display());
    }
    Ok(())
}

/// Writes everything into a directory of its own.
fn stage(backup: &mut Backup, staged: &Path) -> Outcome<SnapshotHead> {
    for kept in &backup.kept {
        write_kept(staged, kept)
            .map_err(|e| failure::configuration("could not write a file", e))?;
    }
    let snapshot = backup
        .snapshot()
        .map_err(|e| failure::user("could not use the backup", e))?;
    let ahead = |head: &SnapshotHead| Revision(head.revision.0.saturating_add(AHEAD));
    let store = staged.join("store");
    private_directory(&store)
        .map_err(|e| failure::configuration("could not make a directory", e))?;
    let head = Store::restore(&store, snapshot, ahead)
        .map_err(|e| failure::user("could not restore the store", e))?;
    staged_restore::sync(staged)
        .map_err(|e| failure::configuration("could not sync a directory", e))?;
    Ok(head)
}

fn write_kept(staged: &Path, Kept { name, content }: &Kept) -> io::Result<()> {
    let path = staged.join(name);
    if let Some(parent) = path.parent() {
        private_directory(parent)?;
    }
    data_dir::write_file(&path, content)?;
    path.parent().map_or(Ok(()), staged_restore::sync)
}

fn private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}
