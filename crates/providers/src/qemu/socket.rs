//! Connections to QEMU's sockets, however deep the data directory is.
//!
//! A socket's path may have at most 107 bytes. QEMU itself is given names relative to its
//! working directory; this side goes through a descriptor of that directory where the
//! whole path is too long.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{
    net::UnixStream,
    time::{Instant, sleep},
};

const LONGEST: usize = 107;
const PAUSE: Duration = Duration::from_millis(5);

/// Connects to a socket in a machine's directory. QEMU serves one client at a time and
/// queues one more; a full queue is waited for until the limit.
pub(super) async fn connect(dir: &Path, name: &str, limit: Duration) -> io::Result<UnixStream> {
    let deadline = Instant::now() + limit;
    loop {
        match once(dir, name).await {
            Err(error)
                if error.kind() == io::ErrorKind::WouldBlock && Instant::now() < deadline =>
            {
                sleep(PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

async fn once(dir: &Path, name: &str) -> io::Result<UnixStream> {
    let path = dir.join(name);
    if path.as_os_str().len() <= LONGEST {
        return UnixStream::connect(path).await;
    }
    let directory = File::open(dir)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}/{name}", directory.as_raw_fd()));
    UnixStream::connect(short).await.map_err(|error| {
        let hint = "its path is longer than the 107 bytes that a socket may have, and /proc did not help; use a shorter data directory";
        io::Error::new(error.kind(), format!("{}: {error} ({hint})", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn deep_directories_are_reached() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("d".repeat(100)).join("e".repeat(100));
        std::fs::create_dir_all(&deep).unwrap();
        let handle = File::open(&deep).unwrap();
        let short = format!("/proc/self/fd/{}/qmp.sock", handle.as_raw_fd());
        let _listener = tokio::net::UnixListener::bind(short).unwrap();
        connect(&deep, "qmp.sock", Duration::from_secs(5)).await.unwrap();
        assert!(connect(&deep, "absent.sock", Duration::from_secs(5)).await.is_err());
    }
}
