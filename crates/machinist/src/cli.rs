//! Verbs and flags.

mod answers;

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use machinist_api::crds::CrdOptions;

pub(crate) use answers::{Bundle, Completion, Describe, Form, Get, Plan, Shape, Target, Why};

/// Virtual machines the Kubernetes way, on any platform.
#[derive(Debug, Parser)]
#[command(
    name = "machinist",
    version,
    about,
    long_about = "Virtual machines the Kubernetes way, on any platform.\n\n\
        Declare machines in YAML; Machinist places them, makes each exist exactly once, keeps \
        them as declared, and says why when it cannot.",
    after_help = "Exit codes: 0 done · 1 a fault of Machinist · 2 wrong use · 3 wrong \
        configuration or environment · 4 refused by the API server or a provider\n\n\
        Linked as kubectl-machinist in the PATH, it is a plugin: kubectl machinist why NAME"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) logging: Logging,
}

/// How much is logged, and how. Logs go to standard error.
#[derive(Debug, Args)]
pub(crate) struct Logging {
    /// What to log: a level, or a filter such as `machinist_engine=debug,warn`
    #[arg(
        long,
        global = true,
        env = "MACHINIST_LOG",
        hide_env_values = true,
        value_name = "FILTER"
    )]
    pub(crate) log: Option<String>,
    /// How to log
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,
}

/// The form of a log line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// For machines: one JSON object a line.
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a control plane on this machine: API server, store, engine and the local hypervisor
    Up(Up),
    /// Remove every machine of a control plane, and end it if it runs
    Down(Down),
    /// Boot a machine, wait for its guest, show where the time went, remove it, prove that it is gone
    Demo(Demo),
    /// Show the serial console of a machine on this host, and type into it
    Console(Console),
    /// Say what applying manifests would do, field by field: in place, restart or replace; change nothing
    Plan(Plan),
    /// Say what a machine or a provider waits for, since when, what was tried, and what to do next
    Why(Why),
    /// List objects of any kind in a table, or print them as YAML or JSON
    Get(Get),
    /// Show objects with their conditions and what happened to them
    Describe(Describe),
    /// Collect what others need to help into one file, with secrets removed
    Bundle(Bundle),
    /// Write everything that a control plane knows into one file, whether it runs or not
    Backup(Backup),
    /// Make a control plane from a backup
    Restore(Restore),
    /// Run the engine against a Kubernetes cluster
    Operator(Operator),
    /// Print every CustomResourceDefinition as YAML
    Crds(Definitions),
    /// Print a script with which a shell completes verbs and flags
    Completion(Completion),
    /// Print the version
    Version,
}

impl Command {
    /// A person at a terminal reads progress, not logs; a service is read by its logs.
    pub(crate) fn default_log_level(&self) -> &'static str {
        match self {
            Command::Operator(_) => "info",
            Command::Up(_)
            | Command::Down(_)
            | Command::Demo(_)
            | Command::Console(_)
            | Command::Backup(_)
            | Command::Restore(_)
            | Command::Plan(_)
            | Command::Why(_)
            | Command::Get(_)
            | Command::Describe(_)
            | Command::Bundle(_)
            | Command::Crds(_)
            | Command::Completion(_)
            | Command::Version => "warn",
        }
    }
}

/// Where a control plane keeps everything.
#[derive(Debug, Clone, Args)]
pub(crate) struct DataDir {
    /// Where store, certificates, images and machines are kept [default: the user's data directory]
    #[arg(
        long,
        env = "MACHINIST_DATA_DIR",
        hide_env_values = true,
        value_name = "DIR"
    )]
    pub(crate) data_dir: Option<PathBuf>,
    /// Where to look for images by name, besides the data directory [default: the user's cache directory]
    #[arg(
        long,
        env = "MACHINIST_IMAGES",
        hide_env_values = true,
        value_name = "DIR"
    )]
    pub(crate) images: Option<PathBuf>,
}

/// Flags of `up`.
#[derive(Debug, Args)]
pub(crate) struct Up {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// Where the API server listens; loopback unless told otherwise
    #[arg(long, default_value = "127.0.0.1:7443", value_name = "ADDR:PORT")]
    pub(crate) listen: SocketAddr,
    /// Also write the kubeconfig here
    #[arg(long, value_name = "FILE")]
    pub(crate) write_kubeconfig: Option<PathBuf>,
    /// Serve the API from the store alone, without engine and providers: nothing acts on machines
    #[arg(long, conflicts_with = "filename")]
    pub(crate) api_only: bool,
    /// Manifests to apply, as files or `-` for standard input
    #[arg(short = 'f', long = "filename", value_name = "FILE")]
    pub(crate) filename: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) audit: Audit,
    #[command(flatten)]
    pub(crate) tracing: Tracing,
}

/// Where traces go; everything else about them is said by OpenTelemetry's own variables.
#[derive(Debug, Args)]
pub(crate) struct Tracing {
    /// Send traces to the OpenTelemetry collector at this URL, over HTTP [default: what
    /// OTEL_EXPORTER_OTLP_ENDPOINT says, else nowhere]
    #[arg(long, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,
}

/// What is written down of requests; the names are those of kube-apiserver.
#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Write who did what to this file, one JSON object a line; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) audit_log_path: Option<PathBuf>,
    /// A Policy of audit.k8s.io/v1 [default: every change, without its content]
    #[arg(long, value_name = "FILE", requires = "audit_log_path")]
    pub(crate) audit_policy_file: Option<PathBuf>,
    /// Set the file aside at this size, in megabytes
    #[arg(long, default_value_t = 100, value_name = "MB")]
    pub(crate) audit_log_maxsize: u64,
    /// Keep this many files that were set aside; 0 keeps all
    #[arg(long, default_value_t = 10, value_name = "COUNT")]
    pub(crate) audit_log_maxbackup: usize,
}

/// Flags of `down`.
#[derive(Debug, Args)]
pub(crate) struct Down {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// How long to wait until every machine is gone, in seconds
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    pub(crate) timeout: u64,
}

/// Flags of `demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to look for images by name [default: the user's cache directory]
    #[arg(
        long,
        env = "MACHINIST_IMAGES",
        hide_env_values = true,
        value_name = "DIR"
    )]
    pub(crate) images: Option<PathBuf>,
    /// The manifest to apply
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) filename: Vec<PathBuf>,
    /// What the guest prints on its serial console when it is up
    #[arg(long, default_value = "machinist-quickstart: up", value_name = "TEXT")]
    pub(crate) marker: String,
    /// How long to wait for each step, in seconds
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    pub(crate) timeout: u64,
}

/// Flags of `console`.
#[derive(Debug, Args)]
pub(crate) struct Console {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// The machine's name
    pub(crate) name: String,
    /// The machine's namespace
    #[arg(short, long, default_value = "default")]
    pub(crate) namespace: String,
    /// Print what the guest has printed so far, and end
    #[arg(long)]
    pub(crate) dump: bool,
}

/// Flags of `backup`.
#[derive(Debug, Args)]
pub(crate) struct Backup {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// The file to write; one that exists is replaced
    pub(crate) file: PathBuf,
}

/// Flags of `restore`.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    #[command(flatten)]
    pub(crate) data: DataDir,
    /// The backup to read
    pub(crate) file: PathBuf,
    /// Restore although there is a control plane in the directory; it is kept beside the new one
    #[arg(long)]
    pub(crate) force: bool,
}

/// Flags of `operator`.
#[derive(Debug, Args)]
pub(crate) struct Operator {
    /// The cluster to work in [default: the pod's own service account, else $KUBECONFIG]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Apply our CustomResourceDefinitions to the cluster first
    #[arg(long)]
    pub(crate) install_crds: bool,
    #[command(flatten)]
    pub(crate) definitions: Definitions,
    /// Where /livez, /readyz, /version and /metrics are served, without TLS
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDR:PORT")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) election: Election,
    #[command(flatten)]
    pub(crate) webhook: Webhook,
    #[command(flatten)]
    pub(crate) tracing: Tracing,
    #[command(flatten)]
    pub(crate) data: DataDir,
}

/// Several replicas, of which one works at a time.
#[derive(Debug, Args)]
pub(crate) struct Election {
    /// Work only while holding a Lease, so that several replicas can run; webhooks are served anyway
    #[arg(long)]
    pub(crate) leader_elect: bool,
    /// Namespace of the Lease, and of the Secret that replicas share
    #[arg(long, default_value = machinist_api::names::SYSTEM_NAMESPACE, value_name = "NAMESPACE")]
    pub(crate) lease_namespace: String,
    /// Seconds after which a Lease that nobody renews is free
    #[arg(long, default_value_t = 15, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(3..=3600))]
    pub(crate) lease_duration: u64,
}

/// Where webhooks are served, and how the API server reaches them.
#[derive(Debug, Args)]
pub(crate) struct Webhook {
    /// Where conversion and admission webhooks are served, with TLS
    #[arg(long, default_value = "127.0.0.1:9443", value_name = "ADDR:PORT")]
    pub(crate) webhook_listen: SocketAddr,
    /// Where the authority of the webhooks' certificate is kept [default: in the data directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) webhook_cert_dir: Option<PathBuf>,
    /// Secret that keeps the authority of the webhooks' certificate, for all replicas to share
    #[arg(long, value_name = "NAME")]
    pub(crate) webhook_secret: Option<String>,
    /// URL at which the API server reaches the webhooks [default: in a pod the service
    /// vitistack-conversion-webhook, else where they are served]
    #[arg(long, value_name = "URL")]
    pub(crate) webhook_url: Option<String>,
    /// ClusterRole that the webhook configurations belong to: when it is removed, so are they
    #[arg(long, value_name = "CLUSTERROLE")]
    pub(crate) webhooks_owned_by: Option<String>,
    /// Serve the webhooks alone, and leave the machines to another operator
    #[arg(long)]
    pub(crate) webhooks_only: bool,
}

/// What an installation may choose about our CustomResourceDefinitions.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Definitions {
    /// Leave the short name `vm` to KubeVirt: our VirtualMachine goes without it
    #[arg(long)]
    pub(crate) without_vm_short_name: bool,
}

impl From<Definitions> for CrdOptions {
    fn from(flags: Definitions) -> Self {
        let Definitions {
            without_vm_short_name,
        } = flags;
        Self {
            without_vm_short_name,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn flags_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_reads_well() {
        let mut command = Cli::command().term_width(100);
        command.build();
        let mut text = command.render_help().to_string();
        for name in [
            "up",
            "down",
            "demo",
            "console",
            "plan",
            "why",
            "get",
            "describe",
            "bundle",
            "backup",
            "restore",
            "operator",
            "completion",
        ] {
            let verb = command.find_subcommand_mut(name).expect("the verb exists");
            text.push_str(&format!(
                "\n=== {name} ===\n{}",
                verb.clone().term_width(100).render_help()
            ));
        }
        insta::assert_snapshot!(text);
    }
}
