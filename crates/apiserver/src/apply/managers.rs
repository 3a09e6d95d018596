//! The bookkeeping around ownership: identities, times, the fields nobody owns, and the limit
//! on the number of managers.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::Value;

use super::error::ApplyError;
use super::held::Held;
use super::last_applied::KUBECTL;
use super::managed::{Entry, Identity, Managed, Operation};
use super::ownership::{Refusal, Rules};
use super::set::Set;
use super::shape::Shape;
use super::validate::{Duplicates, validate, validate_field};

/// How many managers that update an object are told apart.
const MAX_UPDATE_MANAGERS: usize = 10;

/// The manager under which the oldest updates are put together when there are more.
const OLD_UPDATES: &str = "ancient-changes";

/// The manager of everything that was there when an object is first applied to.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The fields that belong to the server or to the address of the object.
static NEVER_OWNED: LazyLock<Set> = LazyLock::new(|| {
    let metadata = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let mut set = Set::of_fields([&["apiVersion"][..], &["kind"], &["metadata"]]);
    for name in metadata {
        set = set.union(&Set::of_fields([&["metadata", name][..]]));
    }
    set
});

/// Fields of an object that are set aside, in the order of their names.
pub(super) type Aside<'v> = BTreeMap<&'v str, &'v Value>;

/// One request by one manager.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) rules: Rules<'a>,
    pub(super) manager: &'a str,
    pub(super) subresource: &'a str,
    pub(super) now: Timestamp,
}

impl<'a> Request<'a> {
    pub(super) fn shape(&self) -> Shape<'a> {
        self.rules.shape
    }

    /// Records an update by the manager of this request.
    pub(super) fn update(
        &self,
        live: &Value,
        new: &Value,
        managed: Managed<'a>,
    ) -> Result<Managed<'a>, ApplyError> {
        self.update_as(self.manager, live, new, managed)
    }

    fn update_as(
        &self,
        manager: &str,
        live: &Value,
        new: &Value,
        mut managed: Managed<'a>,
    ) -> Result<Managed<'a>, ApplyError> {
        validate(self.shape(), new, Duplicates::Allowed).map_err(ApplyError::invalid("new"))?;
        validate(self.shape(), live, Duplicates::Allowed).map_err(ApplyError::invalid("live"))?;
        let mut taken = self.rules.take_by_update(live, new, &mut managed)?;
        taken.subtract(&NEVER_OWNED);
        if !taken.is_empty() {
            let entry = self.entry(manager, Operation::Update);
            let key = entry.identity.key();
            let set = match managed.0.get(&key) {
                Some(previous) => taken.union(previous.held.set()),
                None => taken,
            };
            managed.0.insert(
                key,
                Entry {
                    held: set.into(),
                    time: Some(self.now),
                    ..entry
                },
            );
        }
        cap_update_managers(&mut managed);
        Ok(managed)
    }

    /// The fields of a live object that an apply can neither change nor take away: it states nothing
    /// of them, and the applier never did. They need not be looked at, unless somebody's fields are
    /// those of another version, which may have been other fields there.
    pub(super) fn untouched<'v>(
        &self,
        live: &'v Value,
        applied: &Value,
        managed: &Managed<'_>,
    ) -> Aside<'v> {
        let is_here = |entry: &Entry<'_>| entry.api_version == self.rules.api_version;
        // Whoever moves from the client's apply is judged by the whole object.
        let is_plain =
            !managed.0.is_empty() && self.manager != KUBECTL && managed.0.values().all(is_here);
        let (Some(fields), true) = (live.as_object(), is_plain) else {
            return Aside::new();
        };
        let own = Identity::new(
            self.manager,
            Operation::Apply,
            self.rules.api_version,
            self.subresource,
        );
        let own = managed.0.get(&own.key()).map(|entry| &entry.held);
        let untouched = fields.iter().filter(|(name, _)| {
            !["apiVersion", "kind", "metadata"].contains(&name.as_str())
                && applied.get(name).is_none()
                && own.is_none_or(|own| !own.speaks_of(name))
        });
        untouched
            .map(|(name, field)| (name.as_str(), field))
            .collect()
    }

    /// Applies once; `None` when the object stays the same. The live object comes without what was
    /// set aside.
    pub(super) fn apply(
        &self,
        live: &Value,
        aside: &Aside<'_>,
        applied: &Value,
        mut managed: Managed<'a>,
        force: bool,
    ) -> Result<(Option<Value>, Managed<'a>), Refusal> {
        if managed.0.is_empty() {
            let nothing = super::empty_object(self.rules.api_version, applied.get("kind"));
            managed = self.update_as(BEFORE_FIRST_APPLY, &nothing, live, managed)?;
        }
        validate(self.shape(), applied, Duplicates::Refused)
            .map_err(ApplyError::invalid("applied"))?;
        validate(self.shape(), live, Duplicates::Allowed).map_err(ApplyError::invalid("live"))?;
        for (name, field) in aside {
            validate_field(self.shape(), name, field, Duplicates::Allowed)
                .map_err(ApplyError::invalid("live"))?;
        }
        let entry = self.entry(self.manager, Operation::Apply);
        let key = entry.identity.key();
        let (new, mut managed) = self.rules.apply(live, applied, managed, entry, force)?;
        if let Some(mut own) = managed.0.remove(&key) {
            own.held.subtract(&NEVER_OWNED);
            if new.is_some() {
                own.time = Some(self.now);
            }
            if !own.held.is_empty() {
                managed.0.insert(key, own);
            }
        }
        Ok((new, managed))
    }

    fn entry(&self, manager: &str, operation: Operation) -> Entry<'a> {
        let identity = Identity::new(manager, operation, self.rules.api_version, self.subresource);
        Entry {
            identity,
            api_version: self.rules.api_version.into(),
            time: None,
            held: Held::default(),
        }
    }
}

/// Puts the oldest updates of each version together until few enough managers are left.
fn cap_update_managers(managed: &mut Managed<'_>) {
    let updates = managed
        .0
        .iter()
        .filter(|(_, entry)| entry.identity.operation == Operation::Update);
    let seconds = |entry: &Entry<'_>| entry.time.map_or(0, Timestamp::as_second);
    let mut oldest: Vec<_> = updates
        .map(|(key, entry)| (seconds(entry), key.clone()))
        .collect();
    let mut left = oldest.len();
    if left <= MAX_UPDATE_MANAGERS {
        return;
    }
    oldest.sort();

    let mut first_of_version: BTreeMap<String, String> = BTreeMap::new();
    for (_, key) in oldest {
        if left <= MAX_UPDATE_MANAGERS {
            return;
        }
        let Some(version) = managed.0.get(&key).map(|entry| entry.api_version.clone()) else {
            continue;
        };
        let Some(first) = first_of_version.get(&version) else {
            first_of_version.insert(version, key);
            continue;
        };
        let identity = Identity::new(OLD_UPDATES, Operation::Update, &version, "");
        let bucket = identity.key();
        let Some(merged) = managed.0.remove(&key) else {
            continue;
        };
        let base = if managed.0.contains_key(&bucket) {
            &bucket
        } else {
            first
        };
        let base = managed
            .0
            .remove(base)
            .map(|entry| entry.held.into_set())
            .unwrap_or_default();
        // The time is that of the latest update in the bucket.
        let set = merged.held.set().union(&base);
        managed.0.insert(
            bucket,
            Entry {
                identity,
                held: set.into(),
                ..merged
            },
        );
        left -= 1;
    }
}
