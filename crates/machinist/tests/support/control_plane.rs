//! A data directory of its own for each test, and `machinist` at work in it.
//!
//! Whatever happens to the test, no process outlives it: the control plane is killed when it
//! is dropped, and every QEMU below the directory when the directory is.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};

use machinist_api::vitistack::Machine;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

use super::{
    process::{self, Finished, Qemu, qemus, signal},
    wait::{wait_for, wait_until},
};

/// A directory that holds everything of one test.
pub struct Sandbox {
    root: TempDir,
}

impl Sandbox {
    /// An empty one: no images, no data.
    pub fn new() -> Sandbox {
        let root = tempfile::Builder::new()
            .prefix("machinist-")
            .tempdir()
            .unwrap();
        fs::create_dir(root.path().join("images")).unwrap();
        Sandbox { root }
    }

    /// One that knows an image by the name of the quickstart's.
    pub fn with_image(image: &Path) -> Sandbox {
        let sandbox = Sandbox::new();
        let name = sandbox.path("images/machinist-guest.qcow2");
        std::os::unix::fs::symlink(image, name).unwrap();
        sandbox
    }

    /// A place in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The data directory; `machinist` makes it.
    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Writes a file and gives its path.
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// A disk without anything to boot from, by its path: QEMU starts at once and the guest idles.
    pub fn empty_disk(&self) -> String {
        let path = self.path("empty.raw");
        File::create(&path).unwrap().set_len(1 << 20).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// A verb of `machinist`, with nothing of the developer's own environment or directories.
    pub fn machinist(&self, verb: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machinist"));
        command.arg(verb).arg("--data-dir").arg(self.data());
        command.arg("--images").arg(self.path("images"));
        command
            .env("HOME", self.root.path())
            .env_remove("KUBECONFIG");
        for name in ["LOG", "DATA_DIR", "IMAGES"] {
            command.env_remove(format!("MACHINIST_{name}"));
        }
        let own = std::env::vars_os().map(|(name, _)| name);
        for name in own.filter(|name| name.to_string_lossy().starts_with("OTEL_")) {
            command.env_remove(name);
        }
        command.stdin(Stdio::null());
        command
    }

    /// `machinist up`, on a free port unless told otherwise, once it serves.
    #[track_caller]
    pub fn up(&self, arguments: &[&str]) -> Up {
        self.serve(self.machinist("up").args(arguments))
    }

    /// The same in the foreground of a terminal: Ctrl-C reaches it and everything that it
    /// started in its own group.
    #[track_caller]
    pub fn up_at_terminal(&self, arguments: &[&str]) -> Up {
        self.serve(self.machinist("up").args(arguments).process_group(0))
    }

    /// Starts this `machinist up` and waits until it serves.
    #[track_caller]
    pub fn serve(&self, command: &mut Command) -> Up {
        if command.get_args().all(|argument| argument != "--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        let mut up = Up::spawn(self, command);
        wait_for("the control plane to serve", || {
            assert!(up.lives(), "it ended: {}", up.stderr());
            up.url().ok_or_else(|| up.stderr())
        });
        up
    }

    /// A verb of `machinist`, run to its end.
    #[track_caller]
    pub fn run(&self, verb: &str, arguments: &[&str]) -> Finished {
        process::run(self.machinist(verb).args(arguments))
    }

    /// Every QEMU of the machines in it.
    pub fn qemus(&self) -> Vec<Qemu> {
        qemus(self.root.path())
    }

    /// The directories of machines that are left in it, whole or half made.
    pub fn machine_dirs(&self) -> Vec<PathBuf> {
        let list = |dir: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(dir).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect()
        };
        list(&self.data().join("qemu"))
            .iter()
            .flat_map(|provider| list(&provider.join("machines")))
            .filter(|path| path.is_dir())
            .collect()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        for qemu in self.qemus() {
            signal(qemu.pid, Signal::KILL);
        }
        if !std::thread::panicking() {
            wait_until("every QEMU to end", || self.qemus().is_empty());
        }
    }
}

/// A long-running `machinist`.
pub struct Up {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
    data: PathBuf,
}

impl Up {
    /// Starts it; what it says goes to files.
    pub fn spawn(sandbox: &Sandbox, command: &mut Command) -> Up {
        let files = |kind: &str| {
            let unique = tempfile::Builder::new()
                .prefix(kind)
                .tempfile_in(sandbox.root.path());
            unique.unwrap().keep().unwrap()
        };
        let (out, stdout): (File, PathBuf) = files("stdout-");
        let (err, stderr): (File, PathBuf) = files("stderr-");
        Up {
            child: command.stdout(out).stderr(err).spawn().unwrap(),
            stdout,
            stderr,
            data: sandbox.data(),
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Where it serves, once it does.
    pub fn url(&self) -> Option<String> {
        let text = self.stdout();
        let rest = text.split_once(" serves ")?.1;
        rest.lines().next().map(str::to_owned)
    }

    /// The kubeconfig that it wrote.
    pub fn kubeconfig(&self) -> PathBuf {
        self.data.join("kubeconfig")
    }

    /// What it has printed so far.
    pub fn stdout(&self) -> String {
        fs::read_to_string(&self.stdout).unwrap()
    }

    /// What it has complained about so far.
    pub fn stderr(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap()
    }

    /// Whether it still runs.
    pub fn lives(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Kills it without a warning.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Presses Ctrl-C at its terminal, and waits for its end.
    #[track_caller]
    pub fn interrupt(mut self) -> ExitStatus {
        let group = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        kill_process_group(group.unwrap(), Signal::INT).unwrap();
        self.ended()
    }

    /// Waits for its end.
    #[track_caller]
    pub fn ended(&mut self) -> ExitStatus {
        wait_for("machinist to end", || {
            self.child.try_wait().unwrap().ok_or("it runs")
        })
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a machine's status says in one word.
pub fn phase(machine: &Machine) -> String {
    let phase = machine.status.as_ref().and_then(|status| status.phase);
    phase.map(|phase| phase.to_string()).unwrap_or_default()
}
