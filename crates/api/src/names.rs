//! The names that Machinist and its users agree on: finalizers, annotations, labels, field managers.
//!
//! Condition types have a module of their own, [`crate::conditions`].

/// Finalizer that keeps a Machine until the platform has let go of it.
pub const MACHINE_FINALIZER: &str = "machinist.vitistack.io/machine";

/// Finalizer that keeps a MachineProvider until no Machine runs on it.
pub const PROVIDER_FINALIZER: &str = "machinist.vitistack.io/machineprovider";

/// Finalizer that keeps a Vitistack until monitoring was told that its machines are not to be watched
/// any more.
pub const TARGETS_FINALIZER: &str = "machinist.vitistack.io/targets";

/// Annotation with the namespace in which a Vitistack's machines are listed for monitoring. Written with
/// the finalizer before they are.
pub const TARGETS_ANNOTATION: &str = "machinist.vitistack.io/targets";

/// ConfigMap that lists machines for monitoring, a key for each namespace of machines.
pub const TARGETS_CONFIG_MAP: &str = "machinist-targets";

/// Annotation with which a machine says whether Prometheus is to watch it; `"false"` says no.
pub const SCRAPE_ANNOTATION: &str = "prometheus.io/scrape";

/// Annotation with the port at which a machine tells Prometheus how it is.
pub const SCRAPE_PORT_ANNOTATION: &str = "prometheus.io/port";

/// Annotation whose change restarts a machine once; its value is a time in RFC 3339.
pub const RESTARTED_AT_ANNOTATION: &str = "vitistack.io/restarted-at";

/// Label that names the cluster that a machine belongs to.
pub const CLUSTER_NAME_LABEL: &str = "cluster.vitistack.io/cluster-name";

/// Label that names the provider that a machine runs on.
pub const PROVIDER_LABEL: &str = "vitistack.io/provider";

/// Field manager under which the machine controller applies status.
pub const MACHINE_FIELD_MANAGER: &str = "machinist-machine";

/// Field manager under which the provider controller applies status.
pub const PROVIDER_FIELD_MANAGER: &str = "machinist-provider";

/// Field manager under which the Vitistack controller applies status and inline providers.
pub const STACK_FIELD_MANAGER: &str = "machinist-vitistack";

/// Namespace of everything that is shared by all namespaces.
pub const SYSTEM_NAMESPACE: &str = "vitistack-system";

/// Pattern of `metadata.name`: a label as of RFC 1123.
pub const NAME_PATTERN: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

/// Annotation that binds a Machine to a MachineProvider, as `<namespace>/<name>`. Written with
/// the finalizer before anything is asked of a platform, and never changed after.
pub const PROVIDER_ANNOTATION: &str = "machinist.vitistack.io/provider";

/// Annotation that tells why a Machine that names no provider was bound to the one that it is on.
pub const PLACEMENT_ANNOTATION: &str = "machinist.vitistack.io/placement";

/// Annotation with the UID of the cluster under which a Machine's key was made.
pub const CLUSTER_ANNOTATION: &str = "machinist.vitistack.io/cluster";

/// Annotation with the request that a Machine is as it is because of, as a `traceparent` of W3C
/// Trace Context. Written at admission, while traces are asked for, when a Machine is made and when
/// its spec changes.
pub const TRACEPARENT_ANNOTATION: &str = "machinist.vitistack.io/traceparent";

/// Annotation of an Event with the trace that what it tells of is part of.
pub const TRACE_ID_ANNOTATION: &str = "machinist.vitistack.io/trace-id";

/// Annotation that names the KubevirtConfig of a MachineProvider; without it the only one of the
/// namespace is meant.
pub const KUBEVIRT_CONFIG_ANNOTATION: &str = "vitistack.io/kubevirt-config";

/// Annotation that names the ProxmoxConfig of a MachineProvider; without it the only one of the
/// namespace is meant.
pub const PROXMOX_CONFIG_ANNOTATION: &str = "vitistack.io/proxmox-config";

/// Field manager under which configurations of platforms get their status.
pub const PLATFORM_FIELD_MANAGER: &str = "machinist-platform";

/// Name of the service behind which webhooks are served, in [`SYSTEM_NAMESPACE`].
pub const WEBHOOK_SERVICE: &str = "vitistack-conversion-webhook";

/// Path at which the webhook converts between versions.
pub const CONVERSION_PATH: &str = "/convert";

/// Annotation on a MachineProvider that names orphans to remove, by the platform's ids, separated
/// by commas. An orphan carries a key of this cluster whose Machine is no more; it is reported by
/// an event first.
pub const DELETE_ORPHANS_ANNOTATION: &str = "machinist.vitistack.io/delete-orphans";

/// The setting of a provider that says how often its machines are listed, such as `30s`. It is no
/// platform's own.
pub const POLL_INTERVAL: &str = "pollInterval";
