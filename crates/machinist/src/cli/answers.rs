//! Flags of the verbs that ask a control plane or a cluster, and change nothing in it.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Who is asked.
#[derive(Debug, Clone, Args)]
pub(crate) struct Target {
    /// The kubeconfig to use [default: the one of --data-dir; else $KUBECONFIG; else the one of
    /// this user's control plane, if it runs; else ~/.kube/config; else the pod's service account]
    #[arg(long, value_name = "FILE", help_heading = "Who is asked")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME", help_heading = "Who is asked")]
    pub(crate) context: Option<String>,
    /// The data directory of a control plane that `machinist up` runs
    #[arg(
        long,
        env = "MACHINIST_DATA_DIR",
        hide_env_values = true,
        value_name = "DIR",
        help_heading = "Who is asked"
    )]
    pub(crate) data_dir: Option<PathBuf>,
    /// The namespace [default: the one of the kubeconfig's context]
    #[arg(short, long, value_name = "NAMESPACE", help_heading = "Who is asked")]
    pub(crate) namespace: Option<String>,
}

/// Flags of `plan`.
#[derive(Debug, Args)]
#[command(after_help = "no change   the object is as the manifest says\n\
    create      it is made\n\
    in place    it is changed while it goes on\n\
    restart     the machine is stopped for it, and started again\n\
    replace     the machine stays as it is; only one that is deleted and declared anew has it\n\
    refused     the API server refuses the manifest, or the provider cannot do it\n\n\
    Exit codes, as of terraform plan -detailed-exitcode: 0 nothing would change · 2 something \
    would change · 1 something would be refused, or the plan could not be made")]
pub(crate) struct Plan {
    /// Manifests: files, directories (every .yaml, .yml and .json in them), or `-` for standard input
    #[arg(short = 'f', long = "filename", value_name = "FILE", required = true)]
    pub(crate) filename: Vec<PathBuf>,
    /// How to answer
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
    /// Plan a server-side apply under this name [default: as the object was applied before]
    #[arg(long, value_name = "NAME")]
    pub(crate) field_manager: Option<String>,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// Flags of `why`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 it is as declared, or Machinist is at work on it · 5 it \
    waits for something else, or is stuck · 2 there is no such object · others as of machinist"
)]
pub(crate) struct Why {
    /// A machine's NAME, or KIND/NAME, such as machineprovider/local
    #[arg(value_name = "NAME", num_args = 1..=2, required = true)]
    pub(crate) what: Vec<String>,
    /// How to answer
    #[arg(short, long, value_enum, default_value_t = Form::Text)]
    pub(crate) output: Form,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Flags of `get`.
#[derive(Debug, Args)]
pub(crate) struct Get {
    /// Kinds, as plural, singular or short name, or a category: machines, vm, machineprovider,
    /// machines.compute.ironcore.dev, vitistack; several are separated by commas. KIND/NAME is one object
    #[arg(value_name = "KIND")]
    pub(crate) kinds: String,
    /// Names; without any, all objects of the kinds
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Objects of all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,
    /// Only objects with these labels, such as tier=test,env!=prod
    #[arg(short = 'l', long, value_name = "LABELS")]
    pub(crate) selector: Option<String>,
    /// How to print them [default: a table]
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Shape>,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// How objects are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// A table with every column.
    Wide,
    /// One JSON document.
    Json,
    /// YAML.
    Yaml,
    /// kind/name, a line each.
    Name,
}

/// Flags of `describe`.
#[derive(Debug, Args)]
pub(crate) struct Describe {
    /// A kind, as in `get`, or KIND/NAME
    #[arg(value_name = "KIND")]
    pub(crate) kind: String,
    /// Names; without any, all objects of the kind
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// Flags of `bundle`.
#[derive(Debug, Args)]
pub(crate) struct Bundle {
    /// The file to write [default: machinist-bundle-TIME.tar.gz]
    pub(crate) file: Option<PathBuf>,
    /// With --namespace, only that namespace; else all of them
    #[command(flatten)]
    pub(crate) target: Target,
}

/// Flags of `completion`.
#[derive(Debug, Args)]
#[command(after_help = "bash: source <(machinist completion bash)\n\
    zsh:  machinist completion zsh > \"${fpath[1]}/_machinist\"\n\
    fish: machinist completion fish | source")]
pub(crate) struct Completion {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
