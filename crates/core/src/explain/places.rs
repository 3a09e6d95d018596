//! Reasons of a machine that has no provider yet, and of a Vitistack.

use super::reasons::{
    Reason, Turn,
    Turn::{Nobody, Other, Person},
    row,
};

const LOOK: &[&str] = &[
    "Read the message: it names each provider with its reason.",
    "Change what the machine asks for: `kubectl edit {kind} {name}{-n}`; or what a provider offers. Either is taken up at once.",
];
const ROOM: &[&str] = &["Remove what is not needed, or have the quota raised."];
const NOTHING: &[&str] = &[];

const fn unplaced(name: &'static str, waits_for: &'static str) -> Reason {
    row(name, Turn::Other, waits_for, LOOK)
}

/// All of them.
pub(super) static ALL: &[Reason] = &[
    row("Chosen", Nobody, "nothing", NOTHING),
    row(
        "Outscored",
        Nobody,
        "nothing: another provider was better",
        NOTHING,
    ),
    unplaced("NoProviderFits", "a provider that can take it"),
    unplaced("ZoneNotOffered", "a provider that has the zone"),
    unplaced(
        "OperationNotOffered",
        "a provider that offers the operation",
    ),
    unplaced(
        "OperatingSystemNotOffered",
        "a provider that offers the operating system",
    ),
    unplaced(
        "ArchitectureNotOffered",
        "a provider that offers the architecture",
    ),
    unplaced(
        "InstanceTypeNotOffered",
        "a provider that offers the instance type",
    ),
    unplaced("ImageNotOffered", "a provider that has the image"),
    unplaced("NetworkNotOffered", "a provider that has the network"),
    unplaced(
        "StorageClassNotOffered",
        "a provider that has the storage class",
    ),
    unplaced("TooLarge", "a provider that offers machines of this size"),
    unplaced("TooManyGPUs", "a provider that offers so many GPUs"),
    unplaced("ProviderLeaving", "a provider that is not being deleted"),
    row(
        "QuotaReached",
        Other,
        "room in the quota of the namespace's Vitistack",
        ROOM,
    ),
    row(
        "QuotaExceeded",
        Other,
        "room in the quota, which was lowered below what there is",
        ROOM,
    ),
    row(
        "NamespaceClaimed",
        Person,
        "a person: an older Vitistack has this namespace",
        &["Delete one of the two."],
    ),
    row("Active", Nobody, "nothing", NOTHING),
    row("Available", Nobody, "nothing", NOTHING),
    row("NoQuota", Nobody, "nothing", NOTHING),
    row("Healthy", Nobody, "nothing", NOTHING),
    row(
        "ProvidersUnhealthy",
        Other,
        "its providers to answer",
        &[
            "Look at them: `machinist get machineproviders -A`, then `machinist why machineprovider/NAME`.",
        ],
    ),
];
