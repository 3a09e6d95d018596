//! Every reason that a condition can have, with what is waited for and what to do next.
//!
//! In the texts `{kind}` and `{name}` stand for the object, and `{-n}` for the flag that names its
//! namespace where one is needed. A test holds this table against what the engine can write.

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Nobody's: it is as it should be.
    Nobody,
    /// Machinist's: the work is under way.
    Machinist,
    /// Somebody else's, and Machinist goes on by itself after that: the platform, another object.
    Other,
    /// A person's.
    Person,
}

/// What a reason means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// The stable word.
    pub name: &'static str,
    /// Whose turn it is.
    pub turn: Turn,
    /// What is waited for.
    pub waits_for: &'static str,
    /// What to do, in this order.
    pub next: &'static [&'static str],
}

/// What a reason means, if it is one of ours.
pub fn reason(name: &str) -> Option<&'static Reason> {
    let mut all = ALL.iter().chain(super::places::ALL);
    all.find(|reason| reason.name == name)
}

pub(super) const fn row(
    name: &'static str,
    turn: Turn,
    waits_for: &'static str,
    next: &'static [&'static str],
) -> Reason {
    Reason {
        name,
        turn,
        waits_for,
        next,
    }
}

use Turn::{Machinist, Nobody, Other, Person};

const WAIT: &[&str] = &["Nothing: it goes on by itself."];
const NOTHING: &[&str] = &[];
const CORRECT: &[&str] = &[
    "Correct what the message names: `kubectl edit {kind} {name}{-n}`. A change is taken up at once.",
    "Try a manifest before you apply it: `machinist plan -f FILE`.",
];
const ANEW: &[&str] = &[
    "Declare what the machine has, as the message says: `kubectl edit {kind} {name}{-n}`.",
    "Or delete the machine and declare it anew, if what is on its disks may go.",
];
const CREDENTIALS: &[&str] = &[
    "Check that the Secret that the provider refers to holds credentials that the platform accepts, and that they have not expired.",
    "Replace them in the Secret; running machines are not touched.",
];
const SECRET: &[&str] = &[
    "Write what the message names into the Secret; the change is seen, and running machines are not touched.",
    "Or have the provider refer to another Secret or key: `kubectl edit {kind} {name}{-n}`.",
];
const PROVIDER: &[&str] = &[
    "Look at the provider: `machinist get machineproviders -A`, then `machinist why machineprovider/NAME`.",
];

/// All of them, by the part that writes them.
pub(super) static ALL: &[Reason] = &[
    // A machine's phases.
    row(
        "Pending",
        Machinist,
        "its turn: it was accepted and is about to be placed",
        WAIT,
    ),
    row(
        "Creating",
        Machinist,
        "the provider to finish making and starting it",
        WAIT,
    ),
    row("Running", Nobody, "nothing", NOTHING),
    row(
        "Stopping",
        Machinist,
        "the guest to shut down",
        &["Nothing: when its time is up (spec.terminationGracePeriodSeconds), it is ended."],
    ),
    row(
        "Stopped",
        Nobody,
        "nothing: it is stopped, as declared",
        NOTHING,
    ),
    row(
        "Terminating",
        Machinist,
        "the provider to remove the machine and all that was made for it",
        WAIT,
    ),
    row("Terminated", Machinist, "its object to be let go", WAIT),
    row(
        "Failed",
        Person,
        "a person: the provider gave up on the machine",
        ANEW,
    ),
    // A machine's conditions.
    row("Provisioned", Nobody, "nothing", NOTHING),
    row(
        "Deleting",
        Machinist,
        "the provider to remove the machine",
        WAIT,
    ),
    row("NotProvisioned", Machinist, "the machine to be made", WAIT),
    row("NotRunning", Machinist, "the machine to run", WAIT),
    row(
        "NotSeen",
        Other,
        "the provider to answer; what is there is not known, so nothing is made and nothing removed",
        PROVIDER,
    ),
    row("AddressConfirmed", Nobody, "nothing", NOTHING),
    row("AddressAssigned", Nobody, "nothing", NOTHING),
    row(
        "WaitingForAddress",
        Other,
        "the machine's first network address",
        &[
            "See what the guest prints while it boots: `machinist console {name}{-n} --dump`.",
            "Check that its network has an address to give (DHCP, a free address in the subnet), and that spec.networks names the right one.",
        ],
    ),
    row("GuestReported", Nobody, "nothing", NOTHING),
    row(
        "GuestSilent",
        Other,
        "the guest agent's first report, which comes only if one is installed",
        &["See what the guest prints while it boots: `machinist console {name}{-n} --dump`."],
    ),
    row("Settled", Nobody, "nothing", NOTHING),
    row(
        "Progressing",
        Machinist,
        "the step that the message names",
        WAIT,
    ),
    row(
        "RestartNeeded",
        Machinist,
        "the machine to stop for a change that can be made only while it is stopped; it is started again after that",
        &["Nothing; take the change back to avoid the restart."],
    ),
    row(
        "Duplicates",
        Person,
        "a person: several machines carry this object's key, and none is guessed away",
        &[
            "Find out at the provider which of the machines in the message is the right one, and remove the others there.",
            "Or delete this object: all of them are removed with it.",
        ],
    ),
    row(
        "Broken",
        Person,
        "a person: the provider reports the machine as failed",
        ANEW,
    ),
    row(
        "Refused",
        Person,
        "the declaration: this machine cannot become what is declared",
        ANEW,
    ),
    row(
        "Unproven",
        Person,
        "proof that the machine is gone: the provider's lookup may be behind the times, and the declaration cannot be understood",
        &[
            "Correct the declaration, so that the machine can be asked for: `kubectl edit {kind} {name}{-n}`.",
            "Or make sure at the provider that there is no such machine, and take off the finalizer machinist.vitistack.io/machine.",
        ],
    ),
    row("NothingToDrain", Nobody, "nothing", NOTHING),
    row(
        "NotSupported",
        Nobody,
        "a provider that can do this",
        NOTHING,
    ),
    row("NotRequested", Nobody, "nothing", NOTHING),
    // What keeps a pass from its goal.
    row(
        "Invalid",
        Person,
        "the declaration: it has no meaning on this provider",
        CORRECT,
    ),
    row(
        "Rejected",
        Person,
        "the declaration: the platform refuses it",
        CORRECT,
    ),
    row(
        "Unsupported",
        Person,
        "the declaration: the platform cannot do this at all",
        CORRECT,
    ),
    row(
        "ProviderNotFound",
        Other,
        "the MachineProvider that it names, which does not exist",
        &[
            "Create that MachineProvider in this namespace or in vitistack-system; the machine is taken up at once.",
            "Or name another in spec.providerRef (or spec.providerConfig, in v1beta1 spec.providerSelector): `kubectl edit {kind} {name}{-n}`.",
        ],
    ),
    row(
        "ProviderNotReady",
        Other,
        "its MachineProvider, which is there and does not answer",
        PROVIDER,
    ),
    row(
        "ProviderUnreachable",
        Other,
        "the platform to answer; a call may or may not have taken effect, which is looked up before anything is tried again",
        &[
            "Check that the platform's endpoint answers from here: name, route, firewall, proxy, certificate.",
            "Then wait: it is tried again after at most a minute.",
        ],
    ),
    row(
        "ProviderBusy",
        Other,
        "the platform, which asks for patience: work under way, a download, a throttle",
        &[
            "Wait: it is tried again when the platform said, or after at most a minute.",
            "If it stays so, lower spec.config.rateLimiting of the provider, or raise the quota of calls there.",
        ],
    ),
    row(
        "Throttled",
        Other,
        "its turn: the platform wants fewer calls, or the provider is declared to get no more",
        &[
            "Wait: it is tried again when the platform said, or after at most a minute.",
            "If it stays so, look at spec.config.rateLimiting of the provider, or raise the quota of calls at the platform.",
        ],
    ),
    row(
        "NoCapacity",
        Other,
        "room at the platform: processors, memory, disk or a quota",
        &[
            "Make room or raise the quota at the platform; it is tried again.",
            "Or declare a smaller machine, or another zone or provider.",
        ],
    ),
    row(
        "NotFound",
        Other,
        "something that the platform does not have by that name",
        CORRECT,
    ),
    row(
        "NotOwned",
        Person,
        "a person: what has the id does not carry this cluster's key, and is not touched",
        &[
            "Find out at the platform who made it. Nothing of another owner is ever changed or removed.",
        ],
    ),
    row(
        "CredentialsRefused",
        Person,
        "credentials that the platform accepts",
        CREDENTIALS,
    ),
    row(
        "CredentialsExpired",
        Person,
        "credentials that have not expired",
        CREDENTIALS,
    ),
    row(
        "EndpointUntrusted",
        Person,
        "an endpoint whose certificate can be checked",
        &[
            "Name the authority of the endpoint's certificate in the provider's spec.endpoint.caBundle, in PEM: `kubectl edit {kind} {name}{-n}`.",
            "If it should be known to this host already, somebody else may be answering in the platform's place.",
        ],
    ),
    row(
        "VerificationSkipped",
        Person,
        "a person: the endpoint is believed whatever its certificate says, as declared",
        &[
            "Name the authority of the endpoint's certificate in spec.endpoint.caBundle, and take spec.endpoint.insecureSkipTLSVerify out.",
        ],
    ),
    row(
        "SecretNotFound",
        Other,
        "the Secret that the provider refers to",
        &[
            "Create the Secret that the message names, or have the provider refer to another: `kubectl edit {kind} {name}{-n}`.",
        ],
    ),
    row(
        "SecretKeyNotFound",
        Other,
        "a key in the Secret that the provider refers to",
        SECRET,
    ),
    row(
        "SecretMalformed",
        Other,
        "a value of the right form in the Secret that the provider refers to",
        SECRET,
    ),
    row(
        "CredentialsIncomplete",
        Other,
        "the rest of spec.authentication",
        CORRECT,
    ),
    row("ProviderDefaults", Nobody, "nothing", NOTHING),
    // A provider's conditions.
    row("Connected", Nobody, "nothing", NOTHING),
    row(
        "InUse",
        Other,
        "the machines that run on it to go; a provider stays while one needs it",
        NOTHING,
    ),
    row("Verified", Nobody, "nothing", NOTHING),
    row(
        "CapabilitiesMissing",
        Other,
        "a driver that can do what spec.capabilities declares",
        CORRECT,
    ),
    row(
        "TemplatesTooLarge",
        Other,
        "a smaller template, or a larger provider",
        CORRECT,
    ),
    row("FieldsWithoutEffect", Nobody, "nothing", NOTHING),
    row("Valid", Nobody, "nothing", NOTHING),
    row(
        "Expired",
        Person,
        "credentials that have not expired",
        CREDENTIALS,
    ),
    row(
        "Error",
        Other,
        "an answer of the platform about the credentials",
        CREDENTIALS,
    ),
];
