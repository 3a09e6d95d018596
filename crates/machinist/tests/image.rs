//! The operator's image, as `make container` writes it: what is in it, and that it works with nothing
//! beside it but what a pod is given, as the user that it names, on a real Kubernetes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed assumption in a test is a failed test"
)]

mod support;

use std::{
    fs,
    net::UdpSocket,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use support::{
    Kubectl, Sandbox, Up,
    kube::{Cluster, free_ports},
    manifests, peers, process, wait_for,
};

/// Who it runs as; the chart says the same.
const USER: &str = "65532:65532";
/// A name of the API server that its certificate has.
const API: &str = "kubernetes.default.svc";
/// Where names are asked for: an address of the loopback network that no other test uses.
const NAMES: &str = "127.0.0.2";

/// An image in the form of the Open Container Initiative, unpacked.
struct Image {
    config: Value,
    root: PathBuf,
}

impl Image {
    /// Unpacks what was built; `None` when nothing was.
    fn unpack(sandbox: &Sandbox) -> Option<Image> {
        let archive = peers::peer("MACHINIST_CONTAINER_IMAGE")?;
        let layout = sandbox.path("layout");
        untar(&archive, &layout);
        let read = |path: PathBuf| -> Value {
            serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
        };
        let blob = |of: &Value| {
            let digest = of["digest"].as_str().unwrap().replace(':', "/");
            layout.join("blobs").join(digest)
        };
        let manifest = read(blob(&read(layout.join("index.json"))["manifests"][0]));
        let root = sandbox.path("root");
        for layer in manifest["layers"].as_array().unwrap() {
            untar(&blob(layer), &root);
        }
        let config = read(blob(&manifest["config"]));
        Some(Image { config, root })
    }

    /// A folder that only its user may write to, as a volume of the pod is.
    fn volume(&self, path: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(&path).unwrap();
        chown(path, Some(65532), Some(65532)).unwrap();
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// What its entry point does with these arguments, with nothing but the image around it.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("chroot");
        command.arg(format!("--userspec={USER}")).arg(&self.root);
        command.arg("/machinist").args(arguments).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }
}

fn untar(archive: &Path, into: &Path) {
    fs::create_dir_all(into).unwrap();
    // Whoever runs the image must be able to enter it.
    fs::set_permissions(into, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new("tar");
    command.arg("-xf").arg(archive).arg("-C").arg(into);
    let ended = process::run(&mut command);
    assert_eq!(ended.code(), Some(0), "{ended:?}");
}

/// Every file below a folder, by its path there.
fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() && !path.is_symlink() {
                true => folders.push(path),
                false => found.push(path.strip_prefix(root).unwrap().display().to_string()),
            }
        }
    }
    found.sort();
    found
}

/// Answers every question for an IPv4 address with that of this host, as long as the test lives.
fn answer_names() {
    let socket = UdpSocket::bind((NAMES, 53)).unwrap();
    std::thread::spawn(move || {
        let mut question = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut question) {
            // The header, and one question: a name that ends with an empty label, its type and class.
            let question = &question[..length];
            let end = 12 + question[12..].iter().position(|byte| *byte == 0).unwrap() + 5;
            let is_ipv4 = question[end - 4..end - 2] == [0, 1];
            let mut answer = question[..end].to_vec();
            answer[2..4].copy_from_slice(&[0x81, 0x80]);
            answer[6..12].copy_from_slice(&[0, u8::from(is_ipv4), 0, 0, 0, 0]);
            if is_ipv4 {
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
            }
            let _ = socket.send_to(&answer, from);
        }
    });
}

#[test]
fn the_image_holds_the_binary_and_whom_it_trusts() {
    let sandbox = Sandbox::new();
    let Some(image) = Image::unpack(&sandbox) else {
        return;
    };
    let config = &image.config["config"];
    assert_eq!(config["User"], USER);
    assert_eq!(config["Entrypoint"], json!(["/machinist"]));
    let version = &config["Labels"]["org.opencontainers.image.version"];
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let expected = ["etc/ssl/certs/ca-certificates.crt", "machinist"];
    assert_eq!(files(&image.root), expected);
    let authorities = fs::read_to_string(image.root.join(expected[0])).unwrap();
    assert!(authorities.contains("BEGIN CERTIFICATE"));
    let mode = |file| fs::metadata(image.root.join(file)).unwrap().permissions();
    assert_eq!(mode("machinist").mode() & 0o7777, 0o755);
}

#[test]
fn the_image_runs_the_operator_with_what_a_pod_is_given() {
    let sandbox = Sandbox::new();
    let Some(image) = Image::unpack(&sandbox) else {
        return;
    };
    if !rustix::process::geteuid().is_root() {
        return peers::absent("only root may change the root folder").unwrap_or_default();
    }
    let said = process::run(&mut image.command(&["--version"]));
    let expected = concat!("machinist ", env!("CARGO_PKG_VERSION"));
    assert!(said.stdout.starts_with(expected), "{said:?}");

    let Some(cluster) = Cluster::start(&sandbox) else {
        return;
    };
    let Some(kubectl) = Kubectl::current(&sandbox, &cluster.kubeconfig()) else {
        return;
    };
    answer_names();
    let account = "var/run/secrets/kubernetes.io/serviceaccount";
    let authority = fs::read(sandbox.path("cluster/certificates/apiserver.crt")).unwrap();
    image.write(&format!("{account}/ca.crt"), authority);
    image.write(&format!("{account}/token"), cluster.token());
    image.write(&format!("{account}/namespace"), "default");
    image.write("etc/resolv.conf", format!("nameserver {NAMES}\n"));
    image.volume("var/lib/machinist");
    image.volume("tmp");
    // Without nodes nobody carries what is sent to a Service; so the webhooks have an address.
    let [health, webhooks] = free_ports();
    let mut command = image.command(&["operator", "--install-crds"]);
    command.arg(format!("--listen=127.0.0.1:{health}"));
    command.arg(format!("--webhook-listen=127.0.0.1:{webhooks}"));
    command.arg(format!("--webhook-url=https://127.0.0.1:{webhooks}"));
    command.arg("--data-dir=/var/lib/machinist");
    let url = cluster.url();
    let api_port = url.rsplit_once(':').unwrap().1;
    command.env("KUBERNETES_SERVICE_HOST", API);
    command.env("KUBERNETES_SERVICE_PORT", api_port);
    let mut operator = Up::spawn(&sandbox, &mut command);
    wait_for("the operator to start", || {
        assert!(operator.lives(), "it ended: {}", operator.stderr());
        let log = operator.stderr();
        log.contains("operator started").then_some(()).ok_or(log)
    });
    kubectl.feed_ok("apply", &manifests::provider("sim"));
    kubectl.feed_ok("apply", &manifests::machine("web", "sim", "debian-12"));
    wait_for("the machine to run", || {
        assert!(operator.lives(), "it ended: {}", operator.stderr());
        let table = kubectl.ok("get machines.vitistack.io web");
        let runs = table.contains("Running");
        runs.then_some(()).ok_or_else(|| (table, operator.stderr()))
    });
}
