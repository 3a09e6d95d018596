//! A restore in the data directory: written beside what is there, decided by one rename, and
//! then moved into place, by whoever comes next if need be.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use crate::{
    data_dir::DataDir,
    failure::{self, Outcome},
};

/// What is not decided yet; it may be removed at any time.
const PART: &str = "restore.part";
/// What is decided; it must be finished before the directory is used.
const READY: &str = "restore.ready";

impl DataDir {
    /// An empty directory to write a restore into. The caller holds the claim.
    pub(crate) fn new_restore(&self) -> Outcome<PathBuf> {
        let path = self.root().join(PART);
        let made = remove(&path).and_then(|()| DirBuilder::new().mode(0o700).create(&path));
        made.map_err(|e| failure::configuration(format!("could not make {}", path.display()), e))?;
        Ok(path)
    }

    /// Decides for a restore that is written and synced, and moves it into place; gives where
    /// what was there before is now.
    pub(crate) fn commit_restore(&self, staged: &Path) -> Outcome<Vec<PathBuf>> {
        let decided = fs::rename(staged, self.root().join(READY)).and_then(|()| sync(self.root()));
        decided.map_err(|e| failure::configuration("could not put the restore in place", e))?;
        self.finish_restore()
    }

    /// Finishes a restore that was decided for. The caller holds the claim.
    pub(crate) fn finish_restore(&self) -> Outcome<Vec<PathBuf>> {
        self.move_into_place().map_err(|e| {
            let what = format!("could not finish the restore in {}", self.root().display());
            failure::configuration(what, e)
        })
    }

    fn move_into_place(&self) -> io::Result<Vec<PathBuf>> {
        remove(&self.root().join(PART))?;
        let ready = self.root().join(READY);
        let mut aside = Vec::new();
        if !ready.try_exists()? {
            return Ok(aside);
        }
        for found in fs::read_dir(&ready)? {
            let name = found?.file_name();
            let target = self.root().join(&name);
            if target.try_exists()? {
                let kept = unused(&target)?;
                fs::rename(&target, &kept)?;
                aside.push(kept);
            }
            fs::rename(ready.join(&name), &target)?;
        }
        sync(self.root())?;
        fs::remove_dir(&ready)?;
        Ok(aside)
    }
}

/// The first name for what is kept that nothing has.
fn unused(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut number = 1;
    loop {
        let kept = path.with_file_name(format!("{name}.before-restore-{number}"));
        if !kept.try_exists()? {
            return Ok(kept);
        }
        number += 1;
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Makes the names in a directory durable.
pub(crate) fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with an old store, and a restore that was written.
    fn scene() -> (tempfile::TempDir, DataDir, PathBuf) {
        let temporary = tempfile::tempdir().expect("a temporary directory");
        let root = temporary.path().join("data");
        let dir = DataDir::at(root.clone(), Some(temporary.path()));
        for (name, text) in [("store", "old"), ("pki", "old")] {
            fs::create_dir_all(root.join(name)).expect("made");
            fs::write(root.join(name).join("content"), text).expect("written");
        }
        let staged = dir.new_restore().expect("made");
        for name in ["store", "pki"] {
            fs::create_dir(staged.join(name)).expect("made");
            fs::write(staged.join(name).join("content"), "new").expect("written");
        }
        (temporary, dir, staged)
    }

    fn content(dir: &DataDir, name: &str) -> String {
        fs::read_to_string(dir.root().join(name).join("content")).expect("there")
    }

    #[test]
    fn before_the_decision_nothing_and_after_it_everything_is_restored() {
        let (_temporary, dir, staged) = scene();
        assert_eq!(
            dir.finish_restore().expect("nothing to do"),
            [] as [PathBuf; 0]
        );
        assert!(!staged.exists(), "what was not decided is removed");
        assert_eq!(
            (content(&dir, "store"), content(&dir, "pki")),
            ("old".into(), "old".into())
        );

        let (_temporary, dir, staged) = scene();
        let aside = dir.commit_restore(&staged).expect("restored");
        assert_eq!(
            (content(&dir, "store"), content(&dir, "pki")),
            ("new".into(), "new".into())
        );
        assert_eq!(aside.len(), 2);
        assert_eq!(content(&dir, "store.before-restore-1"), "old");
    }

    #[test]
    fn a_kill_after_any_step_is_finished_later() {
        // The steps after the decision: each directory aside, each directory in.
        for killed_after in 0..4 {
            let (_temporary, dir, staged) = scene();
            let root = dir.root().to_owned();
            fs::rename(&staged, root.join(READY)).expect("decided");
            let steps = [
                ("pki", true),
                ("pki", false),
                ("store", true),
                ("store", false),
            ];
            for (name, is_aside) in steps.into_iter().take(killed_after) {
                let (from, to) = match is_aside {
                    true => (
                        root.join(name),
                        root.join(format!("{name}.before-restore-1")),
                    ),
                    false => (root.join(READY).join(name), root.join(name)),
                };
                fs::rename(from, to).expect("moved");
            }
            dir.finish_restore().expect("finished");
            for name in ["store", "pki"] {
                assert_eq!(content(&dir, name), "new", "killed after {killed_after}");
                assert_eq!(content(&dir, &format!("{name}.before-restore-1")), "old");
            }
            assert!(!root.join(READY).exists());
        }
    }
}
