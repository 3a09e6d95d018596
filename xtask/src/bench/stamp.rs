//! The exact moment at which a program is started, told by the started process itself.
//!
//! A [`Stamper`] writes a script whose interpreter is this very program: the kernel starts
//! `xtask exec-stamp SCRIPT ARGUMENTS…`, which writes the time down under its process id and
//! becomes the real program. No shell and no `date` is in between, and the id stays the same.

use std::{
    ffi::OsString,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use tokio::time::sleep;

const LOOK: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_secs(60);
/// The kernel reads no more than this of a script's first line.
const FIRST_LINE: usize = 255;

/// The arguments that the kernel gives the script's interpreter.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Flags {
    script: PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Nanoseconds on a clock that all processes share and that never steps.
pub(super) fn now() -> i128 {
    let time = clock_gettime(ClockId::Monotonic);
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

/// Milliseconds between two moments.
pub(super) fn milliseconds(from: i128, to: i128) -> f64 {
    (to - from) as f64 / 1e6
}

/// Writes the time down and becomes the program that the script names.
pub(crate) fn exec(flags: &Flags) -> Result<()> {
    let started = now();
    let script = fs::read_to_string(&flags.script).context("cannot read the script")?;
    let mut lines = script.lines().skip(1);
    let (Some(program), Some(stamps)) = (lines.next(), lines.next()) else {
        bail!("{} names no program", flags.script.display());
    };
    let stamp = Path::new(stamps).join(std::process::id().to_string());
    // Renamed into place, so that nobody reads half a number.
    let part = stamp.with_extension("part");
    fs::write(&part, started.to_string())
        .and_then(|()| fs::rename(&part, &stamp))
        .context("cannot write the time down")?;
    let error = Command::new(program).args(&flags.arguments).exec();
    Err(error).with_context(|| format!("cannot become {program}"))
}

/// Tells when a program was started.
#[derive(Debug)]
pub(super) struct Stamper {
    /// To be started instead of the program.
    pub(super) script: PathBuf,
    stamps: PathBuf,
}

impl Stamper {
    /// Makes the script for a program in `dir`, which must be new.
    pub(super) fn new(dir: &Path, program: &Path) -> Result<Stamper> {
        let stamps = dir.join("stamps");
        fs::create_dir_all(&stamps).context("cannot make a directory")?;
        let own = std::env::current_exe().context("this program cannot be found")?;
        // A link, because a first line holds neither a long path nor a blank in it.
        let interpreter = dir.join("xtask");
        std::os::unix::fs::symlink(own, &interpreter).context("cannot link to this program")?;
        let first = format!("#!{} exec-stamp", interpreter.display());
        let blank = interpreter.as_os_str().as_bytes().contains(&b' ');
        if first.len() > FIRST_LINE || blank {
            bail!("{} is too long or has blanks; set TMPDIR", dir.display());
        }
        let script = dir.join("program");
        let text = format!("{first}\n{}\n{}\n", program.display(), stamps.display());
        fs::write(&script, text).context("cannot write the script")?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700))
            .context("cannot make the script executable")?;
        Ok(Stamper { script, stamps })
    }

    /// When the process with this id was started.
    pub(super) async fn started(&self, pid: u32) -> Result<i128> {
        let text = until_read(&self.stamps.join(pid.to_string())).await?;
        text.parse().context("a stamp is no number")
    }
}

/// Waits until a file is there and holds something.
pub(super) async fn until_read(path: &Path) -> Result<String> {
    let began = Instant::now();
    loop {
        match fs::read_to_string(path) {
            Ok(text) if !text.is_empty() => return Ok(text),
            _ if began.elapsed() > PATIENCE => {
                bail!("{} was not written within {PATIENCE:?}", path.display())
            }
            _ => sleep(LOOK).await,
        }
    }
}

/// Finds a program in `PATH`.
pub(super) fn find(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|file| file.is_file())
        .with_context(|| format!("{name} is not in PATH"))
}
