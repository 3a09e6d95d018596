//! Where the real peers are: by environment, else where `scripts/setup.sh` puts them.
//!
//! A test whose peer is absent says so in one line and ends well, for a developer who has not
//! run `make test` yet; with MACHINIST_REQUIRE_PEERS=1 it fails.

use std::{
    collections::HashMap,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

static INSTALLED: LazyLock<HashMap<String, PathBuf>> = LazyLock::new(|| {
    let output = Command::new(tree().join("scripts/setup.sh"))
        .arg("--env")
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(|line| line.strip_prefix("export ")?.split_once('='))
        .map(|(name, path)| (name.to_owned(), PathBuf::from(path)))
        .collect()
});

/// Two guests that boot at once on two cores only slow each other down.
static GUESTS: Mutex<()> = Mutex::new(());

/// The root of the source tree.
pub fn tree() -> PathBuf {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_dir.ancestors().nth(2).unwrap().to_owned()
}

/// Held by a test while it boots guests.
pub fn boot_guests() -> MutexGuard<'static, ()> {
    GUESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file or directory that a variable names; `None`, once that was said, when it is absent.
pub fn peer(variable: &str) -> Option<PathBuf> {
    let path = std::env::var_os(variable).map(PathBuf::from);
    let path = path.or_else(|| INSTALLED.get(variable).cloned());
    match path.filter(|path| path.exists()) {
        Some(path) => Some(path),
        None => absent(&format!(
            "{variable} is not set (run scripts/setup.sh test)"
        )),
    }
}

/// A program of the host; `None`, once that was said, when it is absent.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|file| file.is_file());
    match found {
        Some(path) => Some(path),
        None => absent(&format!("{name} is not installed")),
    }
}

/// Says what is absent; fails where nothing may be.
pub fn absent<T>(why: &str) -> Option<T> {
    let required = std::env::var("MACHINIST_REQUIRE_PEERS").is_ok_and(|value| value == "1");
    assert!(!required, "{why}, and MACHINIST_REQUIRE_PEERS is 1");
    let test = std::thread::current();
    // Past the harness, which would keep it to itself when the test ends well.
    let mut terminal = std::io::stderr();
    let _ = writeln!(
        terminal,
        "skipped: {}: {why}",
        test.name().unwrap_or("test")
    );
    None
}
