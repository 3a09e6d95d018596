//! The scheduler's laws: a choice depends on nothing but its inputs, every provider that was not
//! chosen has its reason, what does not fit is never chosen, and loads never drift.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod support;

use std::sync::Arc;

use machinist_core::{
    dialect::vitistack::{demand, offer, provider_query, take},
    place::{
        Demand, Load, Offer, Placement, Preset, Reason, Room, SiteName, Sites, Standing, Take,
        place,
    },
};
use proptest::prelude::*;
use support::{machine, provider};

const HEALTHY: Standing = Standing::Ready(100);

/// The reason why a provider with this in its spec is not chosen for a machine with this in its
/// own, or `chosen`.
fn check(machine_spec: &str, provider_spec: &str) -> String {
    let machine = machine(&format!(
        "metadata: {{name: m, namespace: default}}\nspec: {{{machine_spec}}}"
    ));
    let provider = provider(&format!(
        "metadata: {{name: p, namespace: default}}\nspec: {{type: qemu, region: local, {provider_spec}}}"
    ));
    let query = provider_query(&machine).expect("a query");
    let demand = demand(&machine, &query);
    let mut sites = Sites::default();
    sites.offer(site("default", "p"), offer(&provider, HEALTHY, None));
    let placement = sites.choose("uid", &demand, &query.namespaces("default"), |_| Ok(()));
    match placement.rejected.as_slice() {
        [rejected] => rejected.reason.say(&demand),
        _ => "chosen".into(),
    }
}

fn site(namespace: &str, name: &str) -> SiteName {
    (namespace.to_owned(), name.to_owned())
}

#[test]
fn what_is_not_offered_is_said_by_name() {
    let linux = "os: {family: linux, distribution: debian, version: '12', imageID: debian-12}";
    let cases = [
        ("", "", "chosen"),
        (
            "providerConfig: {name: aws, region: local}",
            "",
            "is of type qemu, not aws",
        ),
        (
            "providerConfig: {name: qemu, region: north}",
            "",
            "is in region local, not north",
        ),
        (
            "providerConfig: {name: qemu, region: local, zone: c}",
            "availabilityZones: [a, b]",
            "does not offer zone c",
        ),
        (
            "",
            "capabilities: {supportedOperations: [start, stop]}",
            "does not offer to create machines",
        ),
        (
            "powerState: Stopped",
            "capabilities: {supportedOperations: [create]}",
            "does not offer to stop machines",
        ),
        (
            linux,
            "capabilities: {supportedOSTypes: [Windows]}",
            "does not offer linux",
        ),
        (linux, "capabilities: {supportedOSTypes: [Linux]}", "chosen"),
        (
            "os: {architecture: x86_64}",
            "computeConfig: {cpuOptions: {supportedArchitectures: [arm64]}}",
            "does not offer architecture amd64",
        ),
        (
            "os: {architecture: amd64}",
            "computeConfig: {cpuOptions: {supportedArchitectures: [x86_64]}}",
            "chosen",
        ),
        (
            "instanceType: huge",
            "capabilities: {supportedInstanceTypes: [small]}",
            "does not offer instance type huge",
        ),
        (
            "instanceType: huge",
            "capabilities: {supportedInstanceTypes: [small]}, templates: [{name: huge}]",
            "chosen",
        ),
        (
            linux,
            "capabilities: {availableImages: [{name: ubuntu, id: img-1}]}",
            "does not offer image debian-12",
        ),
        (
            "os: {imageID: 'https://example.com/a.qcow2'}",
            "capabilities: {availableImages: [{name: ubuntu, id: img-1}]}",
            "chosen",
        ),
        (
            "network: {subnet: blue}",
            "networkConfig: {availableNetworks: [{id: net-1, name: red}]}",
            "does not offer network blue",
        ),
        (
            "cpu: {cores: 8}",
            "computeConfig: {maxCPU: '4'}",
            "offers 4 processors at most, not 8",
        ),
        (
            "instanceType: huge",
            "computeConfig: {maxCPU: '4'}, templates: [{name: huge, resources: {cpu: 16}}]",
            "offers 4 processors at most, not 16",
        ),
        (
            "resources: {memory: {size: 2Gi}}",
            "computeConfig: {maxMemoryGB: '1.0'}",
            "offers 1073741824 bytes of memory at most, not 2147483648",
        ),
        (
            "disks: [{name: a, sizeGB: 2}, {name: b, sizeGB: 3}]",
            "storage: {maxStorageGB: 4}",
            "offers 4294967296 bytes of storage at most, not 5368709120",
        ),
        (
            "resources: {gpu: {count: 1}}",
            "",
            "offers 0 GPUs at most, not 1",
        ),
        (
            "resources: {gpu: {count: 1}}",
            "computeConfig: {gpuSupport: {enabled: true}}",
            "chosen",
        ),
        (
            "",
            "capacity: {maxMachines: 0}",
            "has 0 machines, which is all that it may have",
        ),
    ];
    for (machine, provider, expected) in cases {
        assert_eq!(
            check(machine, provider),
            expected,
            "{machine} on {provider}"
        );
    }
}

#[test]
fn labels_ask_for_a_region_and_a_zone_where_the_spec_does_not() {
    let machine = machine(
        "metadata: {name: m, labels: {topology.kubernetes.io/region: north, topology.kubernetes.io/zone: a}}\nspec: {}",
    );
    let query = provider_query(&machine).expect("a query");
    let demand = demand(&machine, &query);
    assert_eq!(demand.region.as_deref(), Some("north"));
    assert_eq!(demand.zone.as_deref(), Some("a"));
}

#[test]
fn a_machine_takes_what_its_platform_says_or_what_it_declares() {
    let declared = "metadata: {name: m}\nspec: {cpu: {cores: 2, sockets: 2}, memory: 1024, storage: {rootVolume: {size: 1Gi}}}";
    let size = Take {
        cpus: 4,
        memory: 1024,
        storage: 1 << 30,
    };
    assert_eq!(take(&machine(declared)), size);
    let seen = format!(
        "{declared}\nstatus: {{cpus: 8, memory: 2048, disks: [{{name: root, sizeGB: 3}}]}}"
    );
    let size = Take {
        cpus: 8,
        memory: 2048,
        storage: 3 << 30,
    };
    assert_eq!(take(&machine(&seen)), size);
}

#[test]
fn the_last_word_is_a_reason_like_any_other() {
    let mut sites = Sites::default();
    for name in ["a", "b"] {
        sites.offer(site("n", name), open(HEALTHY));
    }
    let demand = Demand::default();
    let placement = sites.choose("m", &demand, &["n"], |name| match name.1.as_str() {
        "a" => Err("no such image".into()),
        _ => Ok(()),
    });
    assert_eq!(chosen(&placement), Some(site("n", "b")));
    let words =
        "MachineProvider n/b was chosen, with 700 points. n/a cannot carry it out: no such image.";
    assert_eq!(placement.explain(&demand, 500), words);
}

#[test]
fn many_reasons_are_cut_and_counted() {
    let mut sites = Sites::default();
    for number in 0..100 {
        sites.offer(site("n", &format!("p{number:02}")), open(Standing::Leaving));
    }
    let demand = Demand::default();
    let placement = sites.choose("m", &demand, &["n"], |_| Ok(()));
    let text = placement.explain(&demand, 200);
    assert!(text.len() <= 200, "{}", text.len());
    assert!(
        text.starts_with("No MachineProvider fits. n/p00 is being deleted; n/p01"),
        "{text}"
    );
    assert!(text.ends_with("more."), "{text}");
    assert_eq!(placement.word(), "ProviderLeaving");
}

fn open(standing: Standing) -> Offer {
    Offer {
        namespace: "n".into(),
        platform: "sim".into(),
        standing,
        ..Offer::default()
    }
}

fn chosen(placement: &Placement) -> Option<SiteName> {
    placement
        .chosen
        .as_ref()
        .map(|chosen| (*chosen.site).clone())
}

fn standings() -> impl Strategy<Value = Standing> {
    prop_oneof![
        4 => (0_u8..=100).prop_map(Standing::Ready),
        1 => Just(Standing::Untried),
        1 => Just(Standing::Leaving),
        1 => Just(Standing::NotReady("away".into())),
    ]
}

fn few() -> impl Strategy<Value = Option<u64>> {
    prop::option::of(0_u64..6)
}

prop_compose! {
    fn offers()(
        own in any::<bool>(),
        region in prop::option::of(0..2),
        zones in prop::collection::btree_set("[ab]", 0..2),
        types in prop::collection::btree_set("[st]", 0..2),
        (cpus, memory, machines) in (few(), few(), few()),
        priority in 0..2,
        overcommit in any::<bool>(),
        standing in standings(),
    ) -> Offer {
        Offer {
            namespace: if own { "own" } else { "shared" }.into(),
            platform: "sim".into(),
            region: region.map(|r| format!("r{r}").into()),
            zones,
            instance_types: types,
            most: Preset { cpus, ..Preset::default() },
            max_machines: machines,
            room: Room { memory, ..Room::default() },
            priority,
            overcommit,
            standing,
            ..Offer::default()
        }
    }
}

prop_compose! {
    fn demands()(
        region in prop::option::of(0..2),
        zone in prop::option::of("[ab]"),
        instance_type in prop::option::of("[st]"),
        (cpus, memory, per_provider) in (few(), few(), few()),
    ) -> Demand {
        Demand {
            namespace: "own".into(),
            region: region.map(|r| format!("r{r}")),
            zone,
            instance_type,
            cpus,
            memory,
            per_provider,
            operations: &["create"],
            ..Demand::default()
        }
    }
}

fn named(offers: Vec<Offer>) -> Vec<(Arc<SiteName>, Offer, Load)> {
    let name = |(number, offer): (usize, Offer)| {
        let name = (offer.namespace.clone(), format!("p{number}"));
        (Arc::new(name), offer, Load::default())
    };
    offers.into_iter().enumerate().map(name).collect()
}

fn choose(demand: &Demand, sites: &[(Arc<SiteName>, Offer, Load)]) -> Placement {
    place(
        demand,
        sites.iter().map(|(name, offer, load)| (name, offer, load)),
        |_| Ok(()),
    )
}

proptest! {
    /// The choice is the same in whatever order providers are looked at, and everyone has a reason.
    #[test]
    fn order_is_no_input(
        demand in demands(),
        offers in prop::collection::vec(offers(), 0..8),
        turn in 0_usize..8,
    ) {
        let sites = named(offers);
        let mut turned = sites.clone();
        turned.rotate_left(turn % sites.len().max(1));
        turned.reverse();
        let (one, other) = (choose(&demand, &sites), choose(&demand, &turned));
        prop_assert_eq!(&one.chosen, &other.chosen);
        prop_assert_eq!(one.explain(&demand, 1 << 20), other.explain(&demand, 1 << 20));
        let judged = one.rejected.len() + usize::from(one.chosen.is_some());
        prop_assert_eq!(judged, sites.len());
    }

    /// Who is chosen fits, and none is chosen only when nobody does.
    #[test]
    fn who_is_chosen_fits(
        demand in demands(),
        offers in prop::collection::vec(offers(), 0..8),
    ) {
        let sites = named(offers);
        let fits = |(_, offer, load): &&(Arc<SiteName>, Offer, Load)| {
            offer.misfit(&demand).is_none() && load.misfit(&demand, offer).is_none()
        };
        let placement = choose(&demand, &sites);
        let fitting: Vec<_> = sites.iter().filter(fits).collect();
        match chosen(&placement) {
            None => prop_assert!(fitting.is_empty()),
            Some(name) => {
                let (_, best, _) = fitting.iter().find(|s| *s.0 == name).expect("it fits");
                for (_, other, _) in &fitting {
                    prop_assert!(best.namespace == "own" || other.namespace != "own");
                    if other.namespace == best.namespace {
                        prop_assert!(best.priority <= other.priority);
                    }
                }
            }
        }
        let outscored = placement.rejected.iter().filter(|r| matches!(r.reason, Reason::Outscored(_)));
        prop_assert_eq!(outscored.count(), fitting.len().saturating_sub(1));
    }

    /// However many machines come and go, no provider has more than it may, and what is taken is
    /// what the machines that are there take.
    #[test]
    fn loads_do_not_drift(
        offers in prop::collection::vec(offers(), 1..4),
        steps in prop::collection::vec((0_u8..12, demands(), 0_u8..4), 0..60),
    ) {
        let mut sites = Sites::default();
        let named = named(offers);
        for (name, offer, _) in &named {
            sites.offer((**name).clone(), offer.clone());
        }
        let mut there: std::collections::BTreeMap<u8, (SiteName, Take)> = Default::default();
        for (machine, demand, step) in steps {
            let uid = machine.to_string();
            match step {
                0 => {
                    sites.forget(&uid);
                    there.remove(&machine);
                }
                1 => {
                    if let Some((name, take)) = there.get(&machine).cloned() {
                        sites.bound(&uid, "own", &name, Take::default());
                        there.insert(machine, (name, take));
                    }
                }
                _ => {
                    there.remove(&machine);
                    let placement = sites.choose(&uid, &demand, &["own", "shared"], |_| Ok(()));
                    if let Some(chosen) = placement.chosen {
                        there.insert(machine, ((*chosen.site).clone(), chosen.take));
                    }
                }
            }
            for (name, offer, _) in &named {
                let here: Vec<Take> = there.values().filter(|(n, _)| *n == **name).map(|(_, t)| *t).collect();
                let load = sites.load(name).expect("a provider");
                prop_assert_eq!(load.machines, here.len() as u64);
                prop_assert_eq!(load.of_namespace("own"), here.len() as u64);
                prop_assert_eq!(load.taken.memory, here.iter().map(|t| t.memory).sum::<u64>());
                prop_assert!(offer.max_machines.is_none_or(|most| load.machines <= most));
                if let (Some(memory), false) = (offer.room.memory, offer.overcommit) {
                    prop_assert!(load.taken.memory <= memory);
                }
            }
        }
    }
}
