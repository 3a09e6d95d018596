//! The tags that tie what is at EC2 to its declaration, and those that a declaration asks for.
//!
//! Others may tag an instance too. Which tags were put on at our request is kept in one more tag,
//! as a list of short digests of their names, because a tag's value holds only 256 characters.

use std::collections::{BTreeMap, BTreeSet};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use machinist_core::{
    machine::{MachineKey, Want},
    provider::{ProviderError, ProviderResult},
};
use sha2::{Digest, Sha256};

/// Tags by name.
pub(super) type Tags = BTreeMap<String, String>;

/// What all of our own tags begin with.
const OWN: &str = "machinist.vitistack.io/";
/// The machine's key, on everything that is made for it.
pub(super) const KEY: &str = "machinist.vitistack.io/key";
/// The cluster's UID, on everything that is made for its machines.
pub(super) const CLUSTER: &str = "machinist.vitistack.io/cluster";
/// On an instance: the names of the disks that it was made with, in the order of their devices.
pub(super) const DISKS: &str = "machinist.vitistack.io/disks";
/// On an instance: the names of its interfaces, in their order.
pub(super) const NICS: &str = "machinist.vitistack.io/interfaces";
/// On an instance: which tags were put on at our request.
const TAGGED: &str = "machinist.vitistack.io/tagged";
/// On an instance: the restart that was last carried out, and when that was.
pub(super) const RESTART: &str = "machinist.vitistack.io/restart";
pub(super) const RESTARTED: &str = "machinist.vitistack.io/restarted";
/// On a volume that was attached later: the disk's name.
pub(super) const DISK: &str = "machinist.vitistack.io/disk";
/// The id of the volume that is to go; on itself, and on the instance that it leaves.
pub(super) const LEAVING: &str = "machinist.vitistack.io/leaving";
const NAME: &str = "Name";

/// EC2 allows fifty, and ours are among them.
const MOST: usize = 40;
const LONGEST_NAME: usize = 127;
const LONGEST_VALUE: usize = 255;
/// Characters of a digest: thirty bits.
const DIGEST: usize = 5;

/// The tags that prove whose something is.
pub(super) fn of_owner(key: &MachineKey) -> Tags {
    Tags::from([
        (KEY.to_owned(), key.to_string()),
        (CLUSTER.to_owned(), key.cluster().to_owned()),
    ])
}

/// All tags of a new instance.
///
/// # Errors
/// When a declared tag, or the names of all disks or interfaces, cannot be written as tags.
pub(super) fn of_instance(key: &MachineKey, want: &Want) -> ProviderResult<Tags> {
    let mut tags = declared(&want.tags)?;
    tags.entry(NAME.to_owned())
        .or_insert_with(|| want.name.clone());
    tags.extend(of_owner(key));
    let disks = want.disks.iter().map(|disk| disk.name.as_str());
    tags.insert(DISKS.to_owned(), names("disks", disks)?);
    let nics = want.nics.iter().map(|nic| nic.name.as_str());
    tags.insert(NICS.to_owned(), names("nics", nics)?);
    if let Some(token) = &want.restart {
        tags.insert(RESTART.to_owned(), token.clone());
    }
    Ok(tags)
}

/// The declared tags, and the one that says which they are.
///
/// # Errors
/// Names the tag that EC2 would not take.
pub(super) fn declared(tags: &Tags) -> ProviderResult<Tags> {
    let refuse = |value: &str, reason: String| ProviderError::Rejected {
        field: "tags",
        value: value.to_owned(),
        reason,
    };
    if tags.len() > MOST {
        let count = tags.len().to_string();
        return Err(refuse(
            &count,
            format!("at most {MOST} tags fit beside ours"),
        ));
    }
    for (name, value) in tags {
        let reserved = name.starts_with(OWN) || name.to_ascii_lowercase().starts_with("aws:");
        if name.is_empty() || name.chars().count() > LONGEST_NAME || reserved {
            let reason = format!(
                "names have 1 to {LONGEST_NAME} characters and begin neither with aws: nor with {OWN}"
            );
            return Err(refuse(name, reason));
        }
        if value.chars().count() > LONGEST_VALUE {
            let reason = format!("values have at most {LONGEST_VALUE} characters");
            return Err(refuse(name, reason));
        }
    }
    let mut all = tags.clone();
    let list = tags.keys().map(|name| digest(name)).collect();
    all.insert(TAGGED.to_owned(), list);
    Ok(all)
}

/// Of all the tags of an instance, those that were put on at our request.
pub(super) fn requested(all: &Tags) -> Tags {
    let list = all.get(TAGGED).map(String::as_str).unwrap_or_default();
    let list: BTreeSet<&[u8]> = list.as_bytes().chunks(DIGEST).collect();
    let ours = all
        .iter()
        .filter(|(name, _)| !name.starts_with(OWN) && list.contains(digest(name).as_bytes()));
    ours.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The names in a list that was kept in a tag.
pub(super) fn listed<'a>(all: &'a Tags, tag: &str) -> Vec<&'a str> {
    let list = all.get(tag).map(String::as_str).unwrap_or_default();
    list.split(',').filter(|name| !name.is_empty()).collect()
}

fn names<'a>(field: &'static str, names: impl Iterator<Item = &'a str>) -> ProviderResult<String> {
    let all: Vec<&str> = names.collect();
    let list = all.join(",");
    let plain = all
        .iter()
        .all(|name| !name.contains(',') && !name.starts_with("vol-"));
    match plain && list.len() <= LONGEST_VALUE {
        true => Ok(list),
        false => Err(ProviderError::Rejected {
            field,
            value: list,
            reason: format!(
                "the names must fit into {LONGEST_VALUE} characters together, hold no comma, and not begin with vol-"
            ),
        }),
    }
}

fn digest(name: &str) -> String {
    let hash = Sha256::digest(name.as_bytes());
    let mut text = URL_SAFE_NO_PAD.encode(&hash[..4]);
    text.truncate(DIGEST);
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_asked_for_is_told_from_what_others_put_on(
            ours in proptest::collection::btree_map("[a-zA-Z0-9 +=._:/@-]{1,60}", ".{0,20}", 0..MOST),
            theirs in proptest::collection::btree_map("x-[a-z]{1,20}", ".{0,20}", 0..5),
        ) {
            let ours: Tags = ours.into_iter().filter(|(n, _)| !n.to_lowercase().starts_with("aws:") && !n.starts_with("x-")).collect();
            let mut all = declared(&ours).unwrap();
            prop_assert!(all.values().all(|value| value.chars().count() <= 256));
            all.extend(theirs);
            all.extend(of_owner(&MachineKey::new("c", "m").unwrap()));
            prop_assert_eq!(requested(&all), ours);
        }
    }

    #[test]
    fn tags_that_cannot_be_are_named() {
        let check = |name: &str, value: &str| {
            declared(&Tags::from([(name.to_owned(), value.to_owned())])).is_ok()
        };
        assert!(check("team", "a"));
        assert!(!check("aws:team", "a"));
        assert!(!check("AWS:team", "a"));
        assert!(!check(KEY, "a"));
        assert!(!check("", "a"));
        assert!(!check("team", &"a".repeat(300)));
        let many: Tags = (0..=MOST).map(|n| (n.to_string(), String::new())).collect();
        assert!(declared(&many).is_err());
    }
}
