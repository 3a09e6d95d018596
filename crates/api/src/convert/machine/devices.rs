//! The disks of a machine: `disks` and `storage` of v1alpha1, `disks` of v1beta1.

use serde_json::{Value, json};

use super::super::concept::{Concept, Fields};
use super::super::value::{
    copy, copy_back, gigabytes_to_quantity, object, objects, quantity_to_gigabytes, set, set_list,
    set_object, text,
};

pub(super) const CONCEPTS: &[Concept] = &[Concept::spec(
    "disks",
    &["disks", "storage"],
    &["disks"],
    up,
    down,
)];

/// Fields of a disk in `disks`.
const DISK: &[(&str, &str)] = &[
    ("name", "name"),
    ("type", "class"),
    ("device", "device"),
    ("encrypted", "encrypted"),
    ("iops", "iops"),
    ("throughput", "throughputMBps"),
];
/// Fields of a volume in `storage`.
const VOLUME: &[(&str, &str)] = &[
    ("name", "name"),
    ("size", "size"),
    ("storageClass", "class"),
    ("type", "medium"),
    ("mountPath", "mountPath"),
];
/// Name of the boot disk that `storage` does not name.
const ROOT: &str = "root";
/// The most disks, and the largest one in gigabytes, that `disks` of v1alpha1 takes.
const MOST_DISKS: usize = 64;
const LARGEST_DISK: u64 = 65536;

fn up(alpha: &Fields) -> Fields {
    let mut disks: Vec<Fields> = Vec::new();
    for given in objects(alpha, "disks") {
        let mut disk = Fields::new();
        copy(&given, &mut disk, DISK);
        let size = given.get("sizeGB").and_then(gigabytes_to_quantity);
        set(&mut disk, "size", size);
        let role = given.get("boot").and_then(Value::as_bool);
        set(
            &mut disk,
            "role",
            role.map(|boot| if boot { "Boot" } else { "Data" }),
        );
        disks.push(disk);
    }
    if let (true, Some(storage)) = (disks.is_empty(), object(alpha, "storage")) {
        let volumes = objects(&storage, "dataVolumes");
        if let Some(root) = object(&storage, "rootVolume") {
            let mut disk = Fields::new();
            copy(&root, &mut disk, VOLUME);
            disk.insert("name".to_owned(), free_name(&volumes).into());
            disk.insert("role".to_owned(), "Boot".into());
            disks.push(disk);
        }
        for volume in volumes {
            let mut disk = Fields::new();
            copy(&volume, &mut disk, VOLUME);
            disk.insert("role".to_owned(), "Data".into());
            disks.push(disk);
        }
    }
    let mut beta = Fields::new();
    set_list(&mut beta, "disks", disks);
    beta
}

/// A name for the boot disk that no volume has.
fn free_name(volumes: &[Fields]) -> String {
    let taken = |name: &str| {
        volumes
            .iter()
            .any(|volume| volume.get("name") == Some(&json!(name)))
    };
    let others = (1..).map(|number| format!("{ROOT}-{number}"));
    let mut names = std::iter::once(ROOT.to_owned()).chain(others);
    names.find(|name| !taken(name)).unwrap_or_default()
}

fn down(beta: &Fields) -> Fields {
    let disks = objects(beta, "disks");
    let mut alpha = Fields::new();
    if fits_storage(&disks) && !fits_disks(&disks) {
        set_object(&mut alpha, "storage", as_storage(&disks));
    } else {
        set_list(&mut alpha, "disks", as_disks(&disks));
    }
    alpha
}

/// Whether `disks` of v1alpha1 can say all of it.
fn fits_disks(disks: &[Fields]) -> bool {
    let fits = |disk: &Fields| {
        let size = text(disk, "size").map(|size| quantity_to_gigabytes(&size));
        let whole = match size {
            None => true,
            Some(size) => matches!(size, Some((gigabytes, true)) if gigabytes <= LARGEST_DISK),
        };
        whole && !disk.contains_key("mountPath") && !disk.contains_key("medium")
    };
    disks.len() <= MOST_DISKS && disks.iter().all(fits)
}

/// Whether `storage` of v1alpha1 can say all of it: the first is the boot disk, the others hold data.
fn fits_storage(disks: &[Fields]) -> bool {
    let only_in_disks = ["device", "encrypted", "iops", "throughputMBps"];
    let boots = |disk: &Fields| disk.get("role") == Some(&json!("Boot"));
    let Some((root, volumes)) = disks.split_first() else {
        return false;
    };
    let nothing_lost = |disk: &Fields| !only_in_disks.iter().any(|key| disk.contains_key(*key));
    let volume = |disk: &Fields| !boots(disk) && !disk.contains_key("medium");
    boots(root)
        && !root.contains_key("mountPath")
        && disks.iter().all(nothing_lost)
        && volumes.iter().all(volume)
}

fn as_disks(disks: &[Fields]) -> Vec<Value> {
    let as_disk = |given: &Fields| {
        let mut disk = Fields::new();
        copy_back(given, &mut disk, DISK);
        let size = text(given, "size").and_then(|size| quantity_to_gigabytes(&size));
        let size = size.map(|(gigabytes, _)| gigabytes.clamp(1, LARGEST_DISK));
        set(&mut disk, "sizeGB", size);
        let role = text(given, "role");
        set(&mut disk, "boot", role.map(|role| role == "Boot"));
        Value::Object(disk)
    };
    disks.iter().take(MOST_DISKS).map(as_disk).collect()
}

fn as_storage(disks: &[Fields]) -> Fields {
    let mut storage = Fields::new();
    let as_volume = |given: &Fields| {
        let mut volume = Fields::new();
        copy_back(given, &mut volume, VOLUME);
        volume
    };
    let Some((root, volumes)) = disks.split_first() else {
        return storage;
    };
    let mut root = as_volume(root);
    root.remove("name");
    storage.insert("rootVolume".to_owned(), Value::Object(root));
    set_list(
        &mut storage,
        "dataVolumes",
        volumes.iter().map(as_volume).collect(),
    );
    storage
}
