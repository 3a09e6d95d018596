//! Lists that many providers have in common, kept once.
//!
//! Providers of one fleet declare the same operations, systems and sizes. A scheduler that looks at a
//! thousand of them is as fast as memory is near, so equal lists are one list.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    hash::Hash,
    ops::Deref,
    sync::Arc,
};

use super::{Offer, Preset};

/// Something that does not change, and that others may have too. Clones are the same.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct Shared<T>(Arc<T>);

/// Names that a provider declares.
pub type Names = Shared<BTreeSet<String>>;

/// What named sizes are.
pub type Presets = Shared<BTreeMap<String, Preset>>;

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(self.0.clone())
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Shared<T> {
        Shared(Arc::new(value))
    }
}

impl<T: FromIterator<I>, I> FromIterator<I> for Shared<T> {
    fn from_iter<S: IntoIterator<Item = I>>(items: S) -> Shared<T> {
        T::from_iter(items).into()
    }
}

/// One of each list that offers have.
#[derive(Debug, Default)]
pub(super) struct Pool {
    names: HashSet<Names>,
    presets: HashSet<Presets>,
}

impl Pool {
    /// Makes an offer's lists those that others have too, where they are equal.
    pub(super) fn share(&mut self, offer: &mut Offer) {
        let names = [
            &mut offer.zones,
            &mut offer.operations,
            &mut offer.os_types,
            &mut offer.instance_types,
            &mut offer.architectures,
            &mut offer.images,
            &mut offer.networks,
            &mut offer.storage_classes,
        ];
        for list in names {
            one_of(&mut self.names, list);
        }
        one_of(&mut self.presets, &mut offer.presets);
    }

    /// Forgets what no offer has any more.
    pub(super) fn prune(&mut self) {
        self.names.retain(|list| Arc::strong_count(&list.0) > 1);
        self.presets.retain(|list| Arc::strong_count(&list.0) > 1);
    }
}

fn one_of<T: Eq + Hash>(pool: &mut HashSet<Shared<T>>, list: &mut Shared<T>) {
    match pool.get(list) {
        Some(known) => *list = known.clone(),
        None => {
            pool.insert(list.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(zone: &str) -> Offer {
        Offer {
            zones: [zone.to_owned()].into_iter().collect(),
            ..Offer::default()
        }
    }

    #[test]
    fn equal_lists_are_one_until_nobody_has_them() {
        let mut pool = Pool::default();
        let (mut one, mut other, mut third) = (offer("a"), offer("a"), offer("b"));
        for offer in [&mut one, &mut other, &mut third] {
            pool.share(offer);
        }
        assert!(Arc::ptr_eq(&one.zones.0, &other.zones.0));
        assert_eq!(*third.zones, BTreeSet::from(["b".to_owned()]));
        drop(third);
        pool.prune();
        assert!(pool.names.contains(&one.zones));
        assert!(!pool.names.contains(&offer("b").zones));
    }
}
