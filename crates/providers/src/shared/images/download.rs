//! One transfer of one URL into the cache: resumed where it stopped, checked, then renamed
//! into place, so that a file under its final name is always whole.
//!
//! Trying again after a failure is left to the caller; what came so far is kept for it.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use futures::StreamExt;
use reqwest::{Response, StatusCode, header};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256 as Hasher};
use tokio::sync::watch;

use super::{ImageError, Sha256, Transfers, checksum::hash_file};
use crate::shared::{
    files,
    http::{self, Reach},
};

/// A server that sends nothing for this long has stopped.
const STALL: Duration = Duration::from_secs(60);

/// How far a transfer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Bytes that are here.
    pub done: u64,
    /// Bytes in all, when the server says.
    pub total: Option<u64>,
}

/// What is kept beside a file: which content it is.
#[derive(Debug, Serialize, Deserialize)]
struct Note {
    url: String,
    etag: Option<String>,
    sha256: Option<String>,
}

pub(super) async fn download(
    (url, reach): (&str, Reach),
    checksum: Option<Sha256>,
    target: &Path,
    transfers: &watch::Sender<Transfers>,
) -> Result<(), ImageError> {
    let note_path = target.with_extension("json");
    if target.exists() {
        return match checksum {
            Some(expected) => check_kept(&expected, target, &note_path),
            None => Ok(()),
        };
    }
    let part = target.with_extension("part");
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&part)
        .map_err(|source| fault("open", &part, source))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(ImageError::Elsewhere),
        Err(TryLockError::Error(source)) => return Err(fault("lock", &part, source)),
    }
    let actual = transfer((url, reach), &mut file, &part, &note_path, transfers).await;
    transfers.send_modify(|all| {
        all.remove(url);
    });
    let (actual, etag) = actual?;
    if let Some(expected) = &checksum
        && let Err(error) = expected.compare(&actual)
    {
        // A wrong content does not get better by adding to it.
        let _ = fs::remove_file(&part);
        return Err(error);
    }
    let note = Note {
        url: url.to_owned(),
        etag,
        sha256: Some(actual.hex().to_owned()),
    };
    keep(&note, &note_path)?;
    file.sync_all()
        .and_then(|()| fs::rename(&part, target))
        .and_then(|()| files::sync_parent(target))
        .map_err(|source| fault("keep", target, source))
}

/// A kept file is checked by the sum that was taken when it came; only without one is it read again.
fn check_kept(expected: &Sha256, target: &Path, note_path: &Path) -> Result<(), ImageError> {
    let noted = fs::read(note_path)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Note>(&bytes).ok())
        .and_then(|note| note.sha256);
    match noted.as_deref().map(Sha256::parse) {
        Some(Ok(actual)) => expected.compare(&actual),
        _ => expected.check(target),
    }
}

async fn transfer(
    (url, reach): (&str, Reach),
    file: &mut File,
    part: &Path,
    note_path: &Path,
    transfers: &watch::Sender<Transfers>,
) -> Result<(Sha256, Option<String>), ImageError> {
    let mut done = file
        .metadata()
        .map_err(|source| fault("look at", part, source))?
        .len();
    let response = request((url, reach), done, note_path).await?;
    let etag = header_text(&response, header::ETAG);
    let mut hasher = Hasher::new();
    if response.status() == StatusCode::PARTIAL_CONTENT {
        hash_file(part, &mut hasher).map_err(|source| fault("read", part, source))?;
    } else {
        done = 0;
        file.set_len(0)
            .map_err(|source| fault("empty", part, source))?;
    }
    let total = response.content_length().map(|rest| done + rest);
    let parent = part.parent().unwrap_or(part);
    if let (Some(total), Ok((_, free))) = (total, files::space(parent))
        && total - done > free
    {
        return Err(ImageError::Full {
            path: parent.to_owned(),
            needed: total - done,
            free,
        });
    }
    // Written before the first byte, so that a resumed part is known to be of this content.
    keep(
        &Note {
            url: url.to_owned(),
            etag: etag.clone(),
            sha256: None,
        },
        note_path,
    )?;
    let report = |done| {
        transfers.send_modify(|all| {
            all.insert(url.to_owned(), Progress { done, total });
        });
    };
    report(done);
    let mut body = response.bytes_stream();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(ImageError::Transfer)?;
        file.write_all(&chunk)
            .map_err(|source| fault("write", part, source))?;
        hasher.update(&chunk);
        done += chunk.len() as u64;
        report(done);
    }
    match total {
        Some(total) if done < total => Err(ImageError::Short { done, total }),
        _ => Ok((Sha256::from_hasher(hasher), etag)),
    }
}

async fn request(
    (url, reach): (&str, Reach),
    done: u64,
    note_path: &Path,
) -> Result<Response, ImageError> {
    let client = http::builder(reach)
        .read_timeout(STALL)
        .build()
        .map_err(ImageError::Transfer)?;
    let etag = fs::read(note_path)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Note>(&bytes).ok())
        .and_then(|note| note.etag);
    let mut request = client.get(url);
    // Without a tag there is no telling whether the rest belongs to what is here.
    if let (true, Some(etag)) = (done > 0, etag) {
        request = request
            .header(header::RANGE, format!("bytes={done}-"))
            .header(header::IF_RANGE, etag);
    }
    let response = request.send().await.map_err(unsent)?;
    let status = response.status();
    if status.is_client_error()
        && status != StatusCode::TOO_MANY_REQUESTS
        && status != StatusCode::REQUEST_TIMEOUT
        && status != StatusCode::RANGE_NOT_SATISFIABLE
    {
        return Err(ImageError::Refused {
            status: status.to_string(),
        });
    }
    if status == StatusCode::RANGE_NOT_SATISFIABLE {
        // The part is as long as the whole, or longer: begin anew, without a range.
        let response = client.get(url).send().await.map_err(unsent)?;
        return response.error_for_status().map_err(ImageError::Transfer);
    }
    response.error_for_status().map_err(ImageError::Transfer)
}

/// An address that is not asked is no failure of a transfer: trying again does not help.
fn unsent(error: reqwest::Error) -> ImageError {
    match http::forbidden(&error) {
        Some(address) => ImageError::Forbidden(address),
        None => ImageError::Transfer(error),
    }
}

fn header_text(response: &Response, name: header::HeaderName) -> Option<String> {
    let value = response.headers().get(name)?;
    value.to_str().ok().map(str::to_owned)
}

fn keep(note: &Note, path: &Path) -> Result<(), ImageError> {
    let bytes = serde_json::to_vec(note)
        .map_err(|error| fault("describe", path, io::Error::other(error)))?;
    files::write_atomically(path, &bytes).map_err(|source| fault("write", path, source))
}

fn fault(what: &'static str, path: &Path, source: io::Error) -> ImageError {
    ImageError::Io {
        what,
        path: PathBuf::from(path),
        source,
    }
}
