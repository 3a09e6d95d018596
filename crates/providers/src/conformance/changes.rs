//! Cases about changing a machine that exists: each change is asked for where the platform says
//! that it can do it, shows in what is told afterwards, and is harmless when asked for again.

use std::collections::BTreeMap;

use machinist_core::{
    machine::{Disk, Facts, MachineId, MachineKey, Nic, PowerState, Size, Want},
    provider::{Change, Provider, When},
};
use tokio::time::{Duration, Instant, sleep};

use super::{
    Fixture, Outcome, ensure,
    fixture::{fresh_key, remove, the_one, told, until},
};

/// A running machine, or one that was stopped where a change needs that.
async fn subject(
    fixture: &dyn Fixture,
    provider: &dyn Provider,
    want: &Want,
    when: When,
) -> Result<(MachineKey, Facts), String> {
    let key = fresh_key()?;
    let made = provider.create(&key, want).await.map_err(told("create"))?;
    let running = until(fixture, provider, &key, PowerState::Running).await?;
    if when != When::Stopped {
        return Ok((key, running));
    }
    let stopped = stop(fixture, provider, &key, &made.id).await?;
    Ok((key, stopped))
}

async fn stop(
    fixture: &dyn Fixture,
    provider: &dyn Provider,
    key: &MachineKey,
    id: &MachineId,
) -> Result<Facts, String> {
    let stop = Change::Stop {
        grace: Some(Duration::ZERO),
    };
    provider
        .update(key, id, &stop)
        .await
        .map_err(told("stop"))?;
    until(fixture, provider, key, PowerState::Stopped).await
}

/// Asks for a change until the platform has carried it out, then once more.
async fn change(
    fixture: &dyn Fixture,
    provider: &dyn Provider,
    key: &MachineKey,
    change: &Change,
    is_done: impl Fn(&Facts) -> bool,
) -> Result<Facts, String> {
    let deadline = Instant::now() + fixture.patience();
    let mut outcome = Ok(());
    loop {
        let facts = the_one(provider, key).await?;
        if is_done(&facts) {
            provider
                .update(key, &facts.id, change)
                .await
                .map_err(told("the same change again"))?;
            let again = the_one(provider, key).await?;
            ensure!(
                is_done(&again),
                "asked again, {change:?} was undone: {again:?}"
            );
            return Ok(again);
        }
        ensure!(
            Instant::now() < deadline,
            "{change:?} was not carried out ({outcome:?}): {facts:?}"
        );
        outcome = provider.update(key, &facts.id, change).await;
        sleep(Duration::from_millis(20)).await;
    }
}

pub(super) async fn a_machine_is_resized(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let can = provider.capabilities();
    if can.changes.resize == When::Never || can.instance_types {
        return Ok(());
    }
    let mut want = fixture.want("resized");
    let (key, _) = subject(fixture, &*provider, &want, can.changes.resize).await?;
    want.cpu.cores += 1;
    want.memory *= 2;
    let resize = Change::Resize(Size::of(&want));
    let is_done =
        |facts: &Facts| facts.cpus == Some(want.cpu.count()) && facts.memory == Some(want.memory);
    let facts = change(fixture, &*provider, &key, &resize, is_done).await?;
    if facts.power == PowerState::Stopped {
        provider
            .update(&key, &facts.id, &Change::Start)
            .await
            .map_err(told("start"))?;
        let up = until(fixture, &*provider, &key, PowerState::Running).await?;
        ensure!(is_done(&up), "started again it is as before: {up:?}");
    }
    remove(fixture, &*provider, &key).await
}

pub(super) async fn disks_come_grow_and_go(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let can = provider.capabilities().changes;
    if can.attach_disk == When::Never {
        return Ok(());
    }
    let want = fixture.want("disks");
    let (key, before) = subject(fixture, &*provider, &want, can.attach_disk).await?;
    let unit = provider.capabilities().disk_unit.max(8 << 20);
    let disk = Disk {
        name: "extra".to_owned(),
        size: Some(unit),
        boot: false,
        ..want.disks[0].clone()
    };
    let size_of = |facts: &Facts| {
        let extra = facts.disks.iter().find(|disk| disk.name == "extra");
        extra.and_then(|disk| disk.size)
    };
    let attach = Change::AttachDisk(disk);
    change(fixture, &*provider, &key, &attach, |f| {
        size_of(f) == Some(unit)
    })
    .await?;
    if can.grow_disk == When::Always || can.grow_disk == can.attach_disk {
        let grow = Change::GrowDisk {
            name: "extra".to_owned(),
            size: 2 * unit,
        };
        change(fixture, &*provider, &key, &grow, |f| {
            size_of(f) == Some(2 * unit)
        })
        .await?;
    }
    if can.detach_disk == When::Always || can.detach_disk == can.attach_disk {
        if !fixture.guest_lets_go() {
            stop(fixture, &*provider, &key, &before.id).await?;
        }
        let detach = Change::DetachDisk("extra".to_owned());
        let after = change(fixture, &*provider, &key, &detach, |f| size_of(f).is_none()).await?;
        ensure!(
            after.disks.len() == before.disks.len(),
            "its disks were {:?} and are {:?}",
            before.disks,
            after.disks
        );
    }
    remove(fixture, &*provider, &key).await
}

pub(super) async fn interfaces_come_and_go(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let when = provider.capabilities().changes.nics;
    if when == When::Never {
        return Ok(());
    }
    let (key, before) = subject(fixture, &*provider, &fixture.want("nics"), when).await?;
    let nic = Nic {
        name: "extra".to_owned(),
        ..Nic::default()
    };
    let is_in = |facts: &Facts| facts.nics.iter().any(|nic| nic.name == "extra");
    let attach = Change::AttachNic(nic);
    let with = change(fixture, &*provider, &key, &attach, is_in).await?;
    let macs: std::collections::BTreeSet<_> = with.nics.iter().map(|nic| &nic.mac).collect();
    ensure!(
        macs.len() == with.nics.len(),
        "two interfaces have one address: {:?}",
        with.nics
    );
    if !fixture.guest_lets_go() {
        stop(fixture, &*provider, &key, &before.id).await?;
    }
    let detach = Change::DetachNic("extra".to_owned());
    let after = change(fixture, &*provider, &key, &detach, |f| !is_in(f)).await?;
    ensure!(
        after.nics.len() == before.nics.len(),
        "its interfaces were {:?} and are {:?}",
        before.nics,
        after.nics
    );
    remove(fixture, &*provider, &key).await
}

pub(super) async fn tags_are_changed(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    if !provider.capabilities().tags {
        return Ok(());
    }
    let tags = |all: &[(&str, &str)]| -> BTreeMap<String, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        all.iter().map(owned).collect()
    };
    let mut want = fixture.want("tagged");
    want.tags = tags(&[("team", "a"), ("stage", "test")]);
    let (key, made) = subject(fixture, &*provider, &want, When::Always).await?;
    ensure!(
        made.tags == want.tags,
        "it was made with tags {:?}",
        made.tags
    );
    let wanted = tags(&[("team", "b"), ("cost", "7")]);
    let retag = Change::Tags(wanted.clone());
    change(fixture, &*provider, &key, &retag, |facts| {
        facts.tags == wanted
    })
    .await?;
    remove(fixture, &*provider, &key).await
}
