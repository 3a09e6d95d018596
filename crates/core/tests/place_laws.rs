//! The scheduler's laws: a choice depends on nothing but its inputs, every provider that was not
//! chosen has its reason, what does not fit is never chosen, and loads never drift.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

use std::sync::Arc;

use machinist_core::place::{
    Demand, Load, Offer, Placement, Preset, Reason, Room, SiteName, Sites, Standing, Take, place,
};
use proptest::prelude::*;

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
            zones: zones.into(),
            instance_types: types.into(),
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
            offer.misfit(&demand).is_none() && load.misfit(&demand, offer, offer.take(&demand)).is_none()
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
