//! moto's server as EC2: with real signatures, real rights, and every check that it has.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::exchange::{Answer, Request};

#[allow(clippy::duplicate_mod, reason = "a test may start Kubernetes as well")]
#[path = "../kube/tied.rs"]
mod tied;

/// The region that tests use.
pub const REGION: &str = "us-west-2";
/// The one image that there is.
pub const IMAGE: &str = "ami-0123456789abcdef0";
const AMIS: &str = r#"[{"ami_id": "ami-0123456789abcdef0", "name": "debian-12", "description": "Debian 12",
 "owner_id": "123456789012", "public": true, "virtualization_type": "hvm", "architecture": "x86_64",
 "state": "available", "platform": null, "image_type": "machine", "hypervisor": "xen",
 "root_device_name": "/dev/xvda", "root_device_type": "ebs", "sriov": "simple"}]"#;
/// Calls that are made before signatures are checked: the user, its rights and keys, and the
/// profile that the documented example names.
const PREPARATION: &str = "5";
const POLICY: &str = r#"{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["ec2:*", "iam:PassRole"], "Resource": "*"}]}"#;
const PATIENCE: Duration = Duration::from_secs(120);

/// A running server.
pub struct Moto {
    child: Child,
    pub port: u16,
    /// The key of now and the one that comes after it, each with its secret.
    pairs: [(String, String); 2],
    directory: TempDir,
}

static SHARED: Mutex<Weak<Moto>> = Mutex::new(Weak::new());

impl Moto {
    /// The server of this test process, started by the first test that asks; it ends with the last
    /// one that holds it. `program` is `moto_server`.
    pub fn shared(program: &Path) -> Arc<Moto> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(moto) = shared.upgrade() {
            return moto;
        }
        let program = program.to_owned();
        // In a thread of its own, so that it may be asked for from within a runtime.
        let started = std::thread::spawn(move || Moto::start(&program)).join();
        let moto = Arc::new(started.unwrap());
        *shared = Arc::downgrade(&moto);
        moto
    }

    /// What a Secret holds: the keys under their documented names.
    pub fn keys(&self) -> BTreeMap<String, String> {
        under_names(&self.pairs[0])
    }

    /// The same, once they were rotated; both are good.
    pub fn next_keys(&self) -> BTreeMap<String, String> {
        under_names(&self.pairs[1])
    }

    /// The value that must not show anywhere.
    pub fn secret(&self) -> &str {
        &self.pairs[0].1
    }

    fn start(program: &Path) -> Moto {
        let directory = tempfile::Builder::new().prefix("moto-").tempdir().unwrap();
        let amis = directory.path().join("amis.json");
        std::fs::write(&amis, AMIS).unwrap();
        let log = File::create(directory.path().join("log")).unwrap();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let mut command = tied::program(program);
        command
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .env("MOTO_AMIS_PATH", &amis)
            .env("MOTO_ENABLE_AMI_VALIDATION", "1")
            .env("MOTO_ENABLE_KEYPAIR_VALIDATION", "1")
            .env("MOTO_EC2_ENABLE_INSTANCE_TYPE_VALIDATION", "1")
            .env("INITIAL_NO_AUTH_ACTION_COUNT", PREPARATION)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .process_group(0);
        let mut moto = Moto {
            child: tied::spawn(command).unwrap(),
            port,
            pairs: Default::default(),
            directory,
        };
        moto.prepare();
        moto
    }

    fn prepare(&mut self) {
        self.wait();
        let iam = |form: &[(&str, &str)]| -> Answer {
            let form = [form, &[("Version", "2010-05-08")]].concat();
            self.call("iam", &form)
        };
        let user = ("UserName", "machinist");
        let profile = ("InstanceProfileName", "EC2-WebServer-Role");
        iam(&[("Action", "CreateUser"), user]);
        iam(&[
            ("Action", "PutUserPolicy"),
            user,
            ("PolicyName", "machines"),
            ("PolicyDocument", POLICY),
        ]);
        iam(&[("Action", "CreateInstanceProfile"), profile]);
        self.pairs = [(); 2].map(|()| {
            let keys = iam(&[("Action", "CreateAccessKey"), user]);
            let part = |tag: &str| keys.between(tag).expect("keys").to_owned();
            (part("AccessKeyId"), part("SecretAccessKey"))
        });
    }

    fn call(&self, service: &str, form: &[(&str, &str)]) -> Answer {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let request = Request::unsigned(service, form);
        let answer = runtime
            .unwrap()
            .block_on(request.forward(self.port))
            .unwrap();
        assert!(answer.is_good(), "{form:?}: {answer:?}");
        answer
    }

    /// Waits until it listens.
    fn wait(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let log = std::fs::read_to_string(self.directory.path().join("log"));
            let log = log.unwrap_or_default();
            assert!(
                self.child.try_wait().unwrap().is_none(),
                "moto ended: {log}"
            );
            assert!(Instant::now() < deadline, "moto does not listen: {log}");
            #[expect(
                clippy::disallowed_methods,
                reason = "between two looks at a condition"
            )]
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn under_names((access, secret): &(String, String)) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("access-key-id".to_owned(), access.clone()),
        ("secret-access-key".to_owned(), secret.clone()),
    ])
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
