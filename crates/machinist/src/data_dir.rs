//! The data directory: its layout, its version, and who uses it now.

use std::{
    fs::{self, File, OpenOptions, Permissions, TryLockError},
    io::{Read, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::{
    cli,
    failure::{self, Outcome},
};

/// The layout that this binary writes. A directory of a later one is refused.
const FORMAT: u32 = 1;

/// A data directory.
#[derive(Debug, Clone)]
pub(crate) struct DataDir {
    root: PathBuf,
    images: PathBuf,
}

/// Proof that nobody else uses the data directory; released when dropped or when the process ends.
#[derive(Debug)]
pub(crate) struct Claim {
    file: File,
}

/// Who uses a data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) pid: i32,
    pub(crate) url: String,
}

impl DataDir {
    /// The directory that the flags name, or the user's own.
    pub(crate) fn resolve(flags: &cli::DataDir) -> Outcome<DataDir> {
        let root = match &flags.data_dir {
            Some(dir) => dir.clone(),
            None => own_data()?,
        };
        let root = std::path::absolute(&root)
            .map_err(|e| failure::configuration(format!("data directory {}", root.display()), e))?;
        Ok(DataDir::at(root, flags.images.as_deref()))
    }

    /// A directory at a given place.
    pub(crate) fn at(root: PathBuf, images: Option<&Path>) -> DataDir {
        let images = images.map(Path::to_owned);
        let images = images.unwrap_or_else(|| usual_images(&root));
        DataDir { root, images }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.root.join("store")
    }

    pub(crate) fn pki(&self) -> PathBuf {
        self.root.join("pki")
    }

    /// Where the authority of the webhooks is kept.
    pub(crate) fn webhook(&self) -> PathBuf {
        self.root.join("webhook")
    }

    pub(crate) fn qemu(&self) -> PathBuf {
        self.root.join("qemu")
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.root.join("kubeconfig")
    }

    /// Where images are looked for by name.
    pub(crate) fn image_dirs(&self) -> Vec<PathBuf> {
        vec![self.root.join("images"), self.images.clone()]
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join("lock")
    }

    /// Makes the directory when it is missing, refuses one of a later version, and claims it.
    pub(crate) fn claim(&self) -> Outcome<Claim> {
        let at = |what: &str| format!("could not {what} data directory {}", self.root.display());
        fs::create_dir_all(&self.root).map_err(|e| failure::configuration(at("make"), e))?;
        fs::set_permissions(&self.root, Permissions::from_mode(0o700))
            .map_err(|e| failure::configuration(at("protect"), e))?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.lock_file())
            .map_err(|e| failure::configuration(at("open"), e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(self.in_use()),
            Err(TryLockError::Error(e)) => return Err(failure::configuration(at("lock"), e)),
        }
        self.check_format()?;
        self.finish_restore()?;
        Ok(Claim { file })
    }

    fn in_use(&self) -> failure::Failure {
        let who = match self.holder() {
            Some(Holder { pid, url }) => format!("machinist (pid {pid}) at {url}"),
            None => "another machinist".into(),
        };
        failure::configuration_plain(format!(
            "data directory {} is in use by {who}",
            self.root.display()
        ))
        .hint("Stop that one (Ctrl-C, or `machinist down`), or choose another --data-dir.")
    }

    /// Who uses the directory now, if anybody does.
    pub(crate) fn holder(&self) -> Option<Holder> {
        let mut file = File::open(self.lock_file()).ok()?;
        if file.try_lock_shared().is_ok() {
            return None;
        }
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        let (pid, url) = text.trim().split_once(' ')?;
        Some(Holder {
            pid: pid.parse().ok()?,
            url: url.to_owned(),
        })
    }

    fn check_format(&self) -> Outcome {
        let path = self.root.join("version");
        let found = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return write_private(&path, format!("{FORMAT}\n").as_bytes());
            }
            Err(e) => return Err(failure::configuration(path.display().to_string(), e)),
        };
        match found.trim().parse::<u32>() {
            Ok(version) if version <= FORMAT => Ok(()),
            Ok(version) => Err(failure::configuration_plain(format!(
                "data directory {} has format {version}, and this machinist knows formats up to {FORMAT}",
                self.root.display()
            ))
            .hint("Use the newer machinist that wrote it, or choose another --data-dir.")),
            Err(_) => Err(failure::configuration_plain(format!(
                "{} holds {:?}, and a format number was expected",
                path.display(),
                found.trim()
            ))
            .hint("This is not a data directory of Machinist, or it is damaged; choose another --data-dir.")),
        }
    }
}

impl Claim {
    /// Writes down who holds the claim, for the message that others get.
    pub(crate) fn announce(&mut self, url: &str) -> Outcome {
        let text = format!("{} {url}\n", std::process::id());
        self.file
            .set_len(0)
            .and_then(|()| self.file.write_all(text.as_bytes()))
            .map_err(|e| failure::configuration("could not write the lock file", e))
    }
}

/// Writes a file that only its owner may read, whole or not at all.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> Outcome {
    write_file(path, content)
        .map_err(|e| failure::configuration(format!("could not write {}", path.display()), e))
}

/// The same for callers with words of their own.
pub(crate) fn write_file(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let temporary = path.with_extension("new");
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

fn own_data() -> Outcome<PathBuf> {
    let home = home("XDG_DATA_HOME", ".local/share").ok_or_else(|| {
        let nobody = "there is no home directory, and XDG_DATA_HOME is not set";
        failure::configuration_plain(nobody.to_owned()).hint("Give --data-dir.")
    })?;
    Ok(home.join("machinist"))
}

/// Where images are looked for unless told otherwise. Who has no home, such as the user of a container,
/// has them in the data directory alone.
fn usual_images(root: &Path) -> PathBuf {
    match home("XDG_CACHE_HOME", ".cache") {
        Some(cache) => cache.join("machinist/images"),
        None => root.join("images"),
    }
}

fn home(variable: &str, below_home: &str) -> Option<PathBuf> {
    match std::env::var_os(variable).filter(|dir| !dir.is_empty()) {
        Some(dir) => Some(dir.into()),
        None => Some(std::env::home_dir()?.join(below_home)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory() -> (tempfile::TempDir, DataDir) {
        let temporary = tempfile::tempdir().expect("a temporary directory");
        let root = temporary.path().join("data");
        let images = temporary.path().join("images");
        (temporary, DataDir { root, images })
    }

    #[test]
    fn a_second_claim_names_the_first() {
        let (_temporary, dir) = directory();
        let mut claim = dir.claim().expect("the first claim");
        claim.announce("https://127.0.0.1:7443").expect("announced");
        let refused = dir.claim().expect_err("the second claim").to_string();
        assert!(refused.contains("https://127.0.0.1:7443"), "{refused}");
        assert!(
            refused.contains(&std::process::id().to_string()),
            "{refused}"
        );
        drop(claim);
        dir.claim().expect("a claim after the first was let go");
    }

    #[test]
    fn a_later_format_is_refused_and_left_alone() {
        let (_temporary, dir) = directory();
        drop(dir.claim().expect("made"));
        fs::write(dir.root().join("version"), "2\n").expect("written");
        let refused = dir.claim().expect_err("a later format").to_string();
        assert!(refused.contains("format 2"), "{refused}");
        let kept = fs::read_to_string(dir.root().join("version")).expect("read");
        assert_eq!(kept, "2\n");
    }

    #[test]
    fn nobody_else_can_read_it() {
        let (_temporary, dir) = directory();
        let _claim = dir.claim().expect("made");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(dir.root()), 0o700);
        assert_eq!(mode(&dir.root().join("version")), 0o600);
    }
}
