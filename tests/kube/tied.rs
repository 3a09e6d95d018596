//! Processes that end with the test that started them, also when it is killed: the kernel ends them
//! with their parent, where the system can say so.

use std::io;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{LazyLock, mpsc};

/// A program that the kernel ends with the thread that starts it.
pub fn program(path: &Path) -> Command {
    if !Path::new(SETPRIV).exists() {
        return Command::new(path);
    }
    let mut command = Command::new(SETPRIV);
    command.args(["--pdeathsig", "KILL"]).arg(path);
    command
}

/// Starts it.
pub fn spawn(command: Command) -> io::Result<Child> {
    let (answer, spawned) = mpsc::channel();
    SPAWNER.send((command, answer)).map_err(io::Error::other)?;
    spawned.recv().map_err(io::Error::other)?
}

/// Of util-linux.
const SETPRIV: &str = "/usr/bin/setpriv";

type Spawn = (Command, mpsc::Sender<io::Result<Child>>);

/// A thread that lives as long as the process. The kernel goes by the thread that started a
/// process, and those of tests come and go.
static SPAWNER: LazyLock<mpsc::Sender<Spawn>> = LazyLock::new(|| {
    let (sender, orders) = mpsc::channel::<Spawn>();
    std::thread::spawn(move || {
        for (mut command, answer) in orders {
            let _ = answer.send(command.spawn());
        }
    });
    sender
});
