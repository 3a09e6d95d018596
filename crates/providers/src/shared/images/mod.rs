//! Guest images: what a reference means, and a cache of the files behind it.
//!
//! A local file is linked (or copied, on another file system) into the cache, so that
//! disks made from it keep working when the original is replaced. A URL is fetched once.
//! What a disk is made from an image is left to the drivers.

mod checksum;
mod download;
mod error;
mod format;

use std::{
    collections::{BTreeMap, HashMap},
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::{FutureExt, future::BoxFuture, future::Shared};
use machinist_core::machine::Image;
use reqwest::Url;
use tokio::sync::watch;

use crate::shared::{
    files,
    http::{self, Reach},
};
pub use checksum::Sha256;
pub use download::Progress;
pub use error::ImageError;
pub use format::{Format, inspect};

/// Transfers that are going on, by URL.
pub type Transfers = BTreeMap<String, Progress>;

type Fetching = Shared<BoxFuture<'static, Result<PathBuf, Arc<ImageError>>>>;

/// Where images come from and where they are kept.
pub struct ImageStore {
    dir: PathBuf,
    search: Vec<PathBuf>,
    names: BTreeMap<String, String>,
    reach: Reach,
    fetching: Mutex<HashMap<String, Fetching>>,
    transfers: watch::Sender<Transfers>,
}

/// A reference that was understood: where the bytes are, and their place in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    source: Source,
    checksum: Option<Sha256>,
    /// Name of the file in the cache.
    pub file_name: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    File(PathBuf),
    Url(String),
}

/// What the name of an image may leave out.
const ENDINGS: [&str; 4] = ["", ".qcow2", ".raw", ".img"];

/// Cache entries made from local files start with this; they cost nothing to make again.
const LOCAL: &str = "local-";

impl ImageStore {
    /// Opens a cache in `dir`; `search` are directories of images by name, `names` gives
    /// names to references.
    pub fn new(dir: PathBuf, search: Vec<PathBuf>, names: BTreeMap<String, String>) -> ImageStore {
        ImageStore {
            dir,
            search,
            names,
            reach: Reach::Usual,
            fetching: Mutex::default(),
            transfers: watch::Sender::default(),
        }
    }

    /// The same store, whose images may come from these places.
    #[must_use]
    pub fn reaching(self, reach: Reach) -> ImageStore {
        ImageStore { reach, ..self }
    }

    /// Follows the transfers that are going on.
    pub fn transfers(&self) -> watch::Receiver<Transfers> {
        self.transfers.subscribe()
    }

    /// Understands a reference; looks at the file system but changes nothing.
    ///
    /// # Errors
    /// When nothing carries the name or the checksum has no known form.
    pub fn resolve(&self, image: &Image) -> Result<Resolved, ImageError> {
        let named = self.names.get(&image.reference);
        let reference = named.unwrap_or(&image.reference);
        let declared = image.checksum.as_deref().map(Sha256::parse).transpose()?;
        if reference.starts_with("http://") || reference.starts_with("https://") {
            let (url, pinned) = match reference.split_once('#') {
                Some((url, fragment)) => (url, fragment.strip_prefix("sha256=")),
                None => (reference.as_str(), None),
            };
            let pinned = pinned.map(Sha256::parse).transpose()?;
            if let Ok(url) = Url::parse(url) {
                http::check(&url, self.reach).map_err(ImageError::Forbidden)?;
            }
            return Ok(Resolved {
                source: Source::Url(url.to_owned()),
                checksum: declared.or(pinned),
                file_name: format!("url-{}", &Sha256::of(url.as_bytes()).hex()[..32]),
            });
        }
        let path = self.local(reference)?;
        // Followed to the file itself: a link to a symbolic link would point nowhere.
        let path = fs::canonicalize(&path).unwrap_or(path);
        let stat = fs::metadata(&path).map_err(|source| ImageError::Io {
            what: "look at",
            path: path.clone(),
            source,
        })?;
        // Another content, size or file gives another entry: a disk that was made from
        // the old one is not pulled from under its guest.
        let identity = format!(
            "{}\0{}\0{}\0{}\0{}\0{}",
            path.display(),
            stat.dev(),
            stat.ino(),
            stat.len(),
            stat.mtime(),
            stat.mtime_nsec(),
        );
        Ok(Resolved {
            source: Source::File(path),
            checksum: declared,
            file_name: format!("{LOCAL}{}", &Sha256::of(identity.as_bytes()).hex()[..32]),
        })
    }

    /// The images that there are, by what a machine may name them by, with their names for people:
    /// those that have a name, where a file is behind it or none is expected, and the files of the
    /// directories that are searched.
    pub fn offered(&self) -> BTreeMap<String, String> {
        let mut offered = BTreeMap::new();
        let files = self.search.iter().filter_map(|dir| fs::read_dir(dir).ok());
        for entry in files.flatten().flatten().filter(|e| e.path().is_file()) {
            let file = entry.file_name().to_string_lossy().into_owned();
            let ending = ENDINGS.iter().skip(1).find(|end| file.ends_with(**end));
            if let Some(name) = ending.and_then(|ending| file.strip_suffix(ending))
                && !name.is_empty()
                && !name.starts_with('.')
            {
                offered.insert(name.to_owned(), name.to_owned());
            }
        }
        for (name, reference) in &self.names {
            let image = Image {
                reference: name.clone(),
                checksum: None,
            };
            if self.resolve(&image).is_ok() {
                offered.insert(reference.clone(), name.clone());
            }
        }
        offered
    }

    fn local(&self, reference: &str) -> Result<PathBuf, ImageError> {
        let plain = reference.strip_prefix("file://").unwrap_or(reference);
        let mut looked = Vec::new();
        let candidates: Vec<PathBuf> = if plain.starts_with('/') {
            vec![PathBuf::from(plain)]
        } else if plain.is_empty() || plain.split('/').any(|part| part == "..") {
            Vec::new()
        } else {
            let of = |dir: &PathBuf| ENDINGS.map(|ending| dir.join(format!("{plain}{ending}")));
            self.search.iter().flat_map(of).collect()
        };
        if !plain.starts_with('/') {
            let names: Vec<&str> = self.names.keys().map(String::as_str).collect();
            looked.push(match names.is_empty() {
                true => "a name listed by the provider (it lists none)".to_owned(),
                false => format!("a name listed by the provider ({})", names.join(", ")),
            });
        }
        for candidate in candidates {
            if candidate.is_file() {
                // A link may be turned to another image while disks still stand on this one.
                return Ok(fs::canonicalize(&candidate).unwrap_or(candidate));
            }
            looked.push(candidate.display().to_string());
        }
        Err(ImageError::NotFound { looked })
    }

    /// The file in the cache, fetched or linked when it is not there yet. Callers that ask
    /// for the same image at the same time share one transfer, which goes on when they
    /// stop waiting.
    ///
    /// # Errors
    /// When the image cannot be had, or its content is not what the checksum says.
    pub async fn fetch(&self, resolved: &Resolved) -> Result<PathBuf, Arc<ImageError>> {
        let path = self.path(&resolved.file_name);
        let fetching = {
            let mut running = self.running();
            match running.get(&resolved.file_name) {
                Some(fetching) if fetching.peek().is_none() => fetching.clone(),
                _ => {
                    let fetching = start(resolved, path, self.transfers.clone(), self.reach);
                    running.insert(resolved.file_name.clone(), fetching.clone());
                    fetching
                }
            }
        };
        let outcome = fetching.await;
        self.running().retain(|_, other| other.peek().is_none());
        outcome
    }

    /// How far the transfer of this image is, when there is one.
    pub fn progress(&self, resolved: &Resolved) -> Option<Progress> {
        match &resolved.source {
            Source::Url(url) => self.transfers.borrow().get(url).copied(),
            Source::File(_) => None,
        }
    }

    /// Where a cache entry is kept.
    pub fn path(&self, file_name: &str) -> PathBuf {
        self.dir.join(file_name)
    }

    /// Removes entries made from local files that no machine uses any more.
    pub fn prune(&self, is_used: impl Fn(&str) -> bool) {
        let Ok(entries) = fs::read_dir(&self.dir) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(LOCAL) && !is_used(&name) {
                // Only space is at stake, and the next removal tries again.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Fetching>> {
        self.fetching.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(
    resolved: &Resolved,
    path: PathBuf,
    transfers: watch::Sender<Transfers>,
    reach: Reach,
) -> Fetching {
    let Resolved {
        source, checksum, ..
    } = resolved.clone();
    let work = async move {
        match source {
            Source::Url(url) => {
                download::download((&url, reach), checksum, &path, &transfers).await?;
            }
            Source::File(original) => {
                let target = path.clone();
                tokio::task::spawn_blocking(move || link(&original, checksum, &target))
                    .await
                    .unwrap_or_else(|gone| {
                        Err(ImageError::Io {
                            what: "link",
                            path: path.clone(),
                            source: io::Error::other(gone),
                        })
                    })?;
            }
        }
        Ok(path)
    };
    let task = tokio::spawn(work);
    async move {
        match task.await {
            Ok(outcome) => outcome.map_err(Arc::new),
            Err(gone) => Err(Arc::new(ImageError::Io {
                what: "fetch into",
                path: PathBuf::new(),
                source: io::Error::other(gone),
            })),
        }
    }
    .boxed()
    .shared()
}

fn link(original: &Path, checksum: Option<Sha256>, target: &Path) -> Result<(), ImageError> {
    let fault = |what, source| ImageError::Io {
        what,
        path: original.to_owned(),
        source,
    };
    if let Some(expected) = checksum {
        expected.check(original)?;
    }
    if target.exists() {
        return Ok(());
    }
    match fs::hard_link(original, target) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        // Another file system, or one without links: a copy serves as well.
        Err(_) => {}
    }
    let needed = fs::metadata(original)
        .map_err(|source| fault("look at", source))?
        .len();
    let parent = target.parent().unwrap_or(target);
    let (_, free) = files::space(parent).map_err(|source| fault("find room for", source))?;
    if needed > free {
        return Err(ImageError::Full {
            path: parent.to_owned(),
            needed,
            free,
        });
    }
    let temporary = files::temporary_beside(target);
    let copied = fs::copy(original, &temporary)
        .and_then(|_| fs::File::open(&temporary)?.sync_all())
        .and_then(|()| fs::rename(&temporary, target));
    if copied.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    copied.map_err(|source| fault("copy", source))
}

#[cfg(test)]
mod tests;
