//! What choosing one of 1,000 providers costs, each other one with its reason kept.

use std::{hint::black_box, time::Instant};

use machinist_core::place::{Demand, Offer, Preset, Room, Sites, Standing};

use super::figure::{Figure, Target, Unit, median};

/// How many providers there are.
const PROVIDERS: u64 = 1_000;
/// How many machines are placed in one round.
const MACHINES: usize = 2_000;
/// The microseconds that were promised.
const MICROSECONDS: f64 = 100.0;

/// Places machines, one after the other, as the engine does it.
pub(super) fn measure(rounds: u32) -> Figure {
    let values = (0..rounds).map(|_| round()).collect();
    Figure {
        name: "placing a machine among 1,000 providers",
        unit: Unit::Microseconds,
        machinist: values,
        peer: Vec::new(),
        target: Target::Below(MICROSECONDS),
    }
}

fn round() -> f64 {
    let mut sites = Sites::default();
    for number in 0..PROVIDERS {
        let name = ("infra".to_owned(), format!("provider-{number:04}"));
        sites.offer(name, offer(number));
    }
    let demand = Demand {
        namespace: "team".into(),
        region: Some("region-1".into()),
        zone: Some("b".into()),
        instance_type: Some("medium".into()),
        os: Some("linux".into()),
        operations: &["create"],
        per_provider: Some(1_000),
        ..Demand::default()
    };
    let times: Vec<f64> = (0..MACHINES)
        .map(|machine| {
            let uid = machine.to_string();
            let began = Instant::now();
            black_box(sites.choose(&uid, &demand, &["team", "infra"], |_| Ok(())));
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    median(&times)
}

/// A third of them is elsewhere, a tenth does not answer, and the others differ in room.
fn offer(number: u64) -> Offer {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let medium = Preset {
        cpus: Some(4),
        memory: Some(8 << 30),
        storage: Some(20 << 30),
    };
    Offer {
        namespace: "infra".into(),
        platform: "sim".into(),
        region: Some(format!("region-{}", number.min(1) + number % 3 / 2).into()),
        zones: list(&["a", "b", "c"]),
        operations: list(&["create", "delete", "start", "stop", "restart", "resize"]),
        os_types: list(&["linux", "windows"]),
        instance_types: list(&["small", "large", "huge"]),
        presets: [("medium".to_owned(), medium)].into_iter().collect(),
        max_machines: Some(10_000),
        room: Room {
            cpus: Some(1_000 + number),
            memory: Some((4 + number % 7) << 40),
            storage: Some(1 << 50),
        },
        standing: match number % 10 {
            0 => Standing::NotReady("no answer".into()),
            _ => Standing::Ready(100),
        },
        ..Offer::default()
    }
}
