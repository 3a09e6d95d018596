//! Admission webhooks: whom to ask about a write, what to ask, and what the answers do to it.
//!
//! The configurations in the store are compiled into an index that is made anew when one of them
//! is written; a write that no webhook is about costs one look at it. The verbs of `resource`
//! call [`Core::mutate`](crate::core::Core) before an object is judged and `Core::approve` after;
//! reaching a webhook is left to `crate::webhook`.

mod call;
mod condition;
mod configuration;
mod dispatch;
mod matching;
mod notes;
mod review;
mod rules;
mod validation;

use std::sync::{Arc, PoisonError, RwLock};

use machinist_store::Store;
use serde_json::Value;

use configuration::Webhook;
pub(crate) use notes::Notes;
pub(crate) use validation::{validate, validate_client, validate_versions};

use crate::auth::Identity;
use crate::codec;
use crate::registry::Kind;
use crate::webhook::{Caller, Services};

/// Where the configurations of validating webhooks lie in the store.
const VALIDATING: &str = "/admissionregistration.k8s.io/validatingwebhookconfigurations/";
/// Where the configurations of mutating webhooks lie in the store.
const MUTATING: &str = "/admissionregistration.k8s.io/mutatingwebhookconfigurations/";

/// What a request does to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Makes it.
    Create,
    /// Changes it.
    Update,
    /// Removes it.
    Delete,
}

impl Operation {
    /// The name on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// A request, as far as webhooks are told of it beside the objects.
#[derive(Debug, Clone)]
pub(crate) struct Request<'a> {
    pub(crate) kind: &'a Arc<Kind>,
    /// Empty for the object itself.
    pub(crate) subresource: &'static str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    pub(crate) operation: Operation,
    pub(crate) dry_run: bool,
    pub(crate) caller: &'a Identity,
    /// The options of the request, as an object of `meta.k8s.io`.
    pub(crate) options: &'a Value,
    /// Where warnings and annotations go.
    pub(crate) notes: &'a Notes,
}

/// The webhooks of one kind of configuration, in the order in which they are asked.
type Hooks = Vec<Arc<Webhook>>;

#[derive(Debug, Default)]
struct Index {
    mutating: Hooks,
    validating: Hooks,
}

/// All webhooks, and the way to reach them.
#[derive(Default)]
pub(crate) struct Admission {
    index: RwLock<Arc<Index>>,
    pub(crate) caller: Caller,
}

impl Admission {
    /// Without webhooks yet.
    pub(crate) fn new(services: Option<Arc<dyn Services>>) -> Self {
        Self {
            index: RwLock::default(),
            caller: Caller::new(services),
        }
    }

    /// Makes the index agree with the configurations in the store.
    pub(crate) fn reload(&self, store: &Store) {
        // Taken before the store is read, so that of two writers the later one's view stays.
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        let read = |prefix: &str| -> Hooks {
            // Keys end with the name, so the entries come in the order of names.
            let entries = store.list(prefix, None, None).entries;
            let objects = entries.iter().map(|e| codec::decode_value(&e.value));
            objects.flat_map(|o| Webhook::read_all(&o)).collect()
        };
        *index = Arc::new(Index {
            mutating: read(MUTATING),
            validating: read(VALIDATING),
        });
    }

    fn index(&self) -> Arc<Index> {
        self.index
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Whether objects of this kind are never shown to webhooks, lest a webhook keep its own
/// configuration from being mended.
fn is_exempt(kind: &Kind) -> bool {
    kind.group == "admissionregistration.k8s.io"
        && matches!(
            kind.kind.as_str(),
            "ValidatingWebhookConfiguration"
                | "MutatingWebhookConfiguration"
                | "ValidatingAdmissionPolicy"
                | "ValidatingAdmissionPolicyBinding"
                | "MutatingAdmissionPolicy"
                | "MutatingAdmissionPolicyBinding"
        )
}
