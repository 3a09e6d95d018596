//! Cases about existence: one machine for one key, whoever asks and however often.

use std::{collections::BTreeSet, time::Duration};

use futures::{StreamExt, future::join_all};
use machinist_core::{
    machine::{MachineId, PowerState},
    provider::ProviderError,
};
use tokio::time::timeout;

use super::{
    Fixture, Outcome, ensure,
    fixture::{fresh_key, key_in, remove, the_one, told, until},
};

pub(super) async fn an_unknown_key_finds_nothing(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let key = fresh_key()?;
    let found = provider.find(&key).await.map_err(told("find"))?;
    ensure!(found.is_empty(), "found {found:?}");
    let listed = provider.list(key.cluster()).await.map_err(told("list"))?;
    ensure!(listed.is_empty(), "listed {listed:?}");
    let unknown = MachineId::new(key.machine());
    match provider.delete(&key, &unknown, None).await {
        Err(ProviderError::NotFound { .. }) => Ok(()),
        other => Err(format!(
            "deleting what never was gave {other:?}, not NotFound"
        )),
    }
}

pub(super) async fn what_is_offered_is_told_by_name(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let stock = provider.inventory().await.map_err(told("inventory"))?;
    let again = provider.inventory().await.map_err(told("inventory"))?;
    ensure!(
        (&stock.images, &stock.sizes) == (&again.images, &again.sizes),
        "told {stock:?}, and then {again:?}"
    );
    let ids = stock.images.iter().map(|image| image.id.as_str());
    for names in [
        ids.collect::<Vec<&str>>(),
        stock.sizes.iter().map(String::as_str).collect(),
        stock.zones.iter().map(String::as_str).collect(),
        stock.storage.iter().map(String::as_str).collect(),
    ] {
        let known: BTreeSet<&str> = names.iter().copied().collect();
        ensure!(!known.contains(""), "something has no name in {names:?}");
        ensure!(
            known.len() == names.len(),
            "something is twice in {names:?}"
        );
    }
    Ok(())
}

pub(super) async fn a_created_machine_is_found(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let key = fresh_key()?;
    let made = provider
        .create(&key, &fixture.want("found"))
        .await
        .map_err(told("create"))?;
    let found = until(fixture, &*provider, &key, PowerState::Running).await?;
    ensure!(
        found.id == made.id,
        "created {} and found {}",
        made.id,
        found.id
    );
    ensure!(found.key == key, "it carries {}, not {key}", found.key);
    let count = fixture.count(&key).await;
    ensure!(count == 1, "the platform has {count} of it");
    remove(fixture, &*provider, &key).await
}

pub(super) async fn facts_are_complete(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let key = fresh_key()?;
    let want = fixture.want("complete");
    provider.create(&key, &want).await.map_err(told("create"))?;
    let facts = until(fixture, &*provider, &key, PowerState::Running).await?;
    ensure!(
        facts.provider_id.contains("://"),
        "provider id {:?} is no URI",
        facts.provider_id
    );
    ensure!(
        !facts.state.is_empty(),
        "the platform's own state is missing"
    );
    ensure!(
        facts.problem.is_none(),
        "a running machine has a problem: {:?}",
        facts.problem
    );
    ensure!(facts.node.is_some(), "the node is missing");
    ensure!(
        facts.cpus == Some(want.cpu.count()),
        "it has {:?} processors",
        facts.cpus
    );
    ensure!(
        facts.memory == Some(want.memory),
        "it has {:?} bytes of memory",
        facts.memory
    );
    ensure!(
        facts.architecture == Some(want.architecture),
        "it is {:?}",
        facts.architecture
    );
    ensure!(facts.created.is_some(), "when it was created is missing");
    ensure!(facts.started.is_some(), "when it was started is missing");
    ensure!(
        facts.disks.len() == want.disks.len(),
        "it has disks {:?}",
        facts.disks
    );
    for (disk, asked) in facts.disks.iter().zip(&want.disks) {
        ensure!(
            disk.name == asked.name,
            "disk {} is called {}",
            asked.name,
            disk.name
        );
        ensure!(
            disk.size == asked.size,
            "disk {} has {:?} bytes",
            disk.name,
            disk.size
        );
    }
    ensure!(!facts.nics.is_empty(), "it has no interface");
    for nic in &facts.nics {
        ensure!(
            nic.mac.is_some(),
            "interface {} has no MAC address",
            nic.name
        );
        ensure!(
            !nic.private.is_empty(),
            "interface {} has no address",
            nic.name
        );
    }
    remove(fixture, &*provider, &key).await
}

pub(super) async fn creating_twice_makes_one(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let key = fresh_key()?;
    let want = fixture.want("twice");
    let first = provider.create(&key, &want).await.map_err(told("create"))?;
    let second = provider
        .create(&key, &want)
        .await
        .map_err(told("create again"))?;
    ensure!(
        first.id == second.id,
        "two ids: {} and {}",
        first.id,
        second.id
    );
    let count = fixture.count(&key).await;
    ensure!(count == 1, "the platform has {count} of it");
    remove(fixture, &*provider, &key).await
}

pub(super) async fn creating_at_once_makes_one(fixture: &dyn Fixture) -> Outcome {
    let (one, other) = (fixture.connect().await, fixture.connect().await);
    let key = fresh_key()?;
    let want = fixture.want("at-once");
    let calls = (0..6).map(|n| if n % 2 == 0 { &one } else { &other });
    let outcomes = join_all(calls.map(|provider| provider.create(&key, &want))).await;
    let mut made = 0;
    for outcome in outcomes {
        match outcome {
            Ok(_) => made += 1,
            Err(ProviderError::Busy { .. }) => {}
            Err(error) => return Err(format!("create: {error}")),
        }
    }
    ensure!(made > 0, "nobody got the machine");
    the_one(&*one, &key).await?;
    let count = fixture.count(&key).await;
    ensure!(count == 1, "the platform has {count} of it");
    remove(fixture, &*other, &key).await
}

pub(super) async fn only_the_own_cluster_is_listed(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let ours = fresh_key()?;
    let also_ours = key_in(ours.cluster())?;
    let theirs = fresh_key()?;
    for key in [&ours, &also_ours, &theirs] {
        provider
            .create(key, &fixture.want("listed"))
            .await
            .map_err(told("create"))?;
    }
    let listed = provider.list(ours.cluster()).await.map_err(told("list"))?;
    let mut keys: Vec<_> = listed.into_iter().map(|facts| facts.key).collect();
    keys.sort();
    let mut expected = vec![ours.clone(), also_ours.clone()];
    expected.sort();
    ensure!(keys == expected, "listed {keys:?}");
    // Many are asked for at once, of which some never were.
    let asked = [also_ours.clone(), key_in(ours.cluster())?];
    let found = provider.find_all(&asked).await.map_err(told("find_all"))?;
    let found: Vec<_> = found.into_iter().map(|facts| facts.key).collect();
    ensure!(found == [also_ours.clone()], "found {found:?}");
    let none = provider.find_all(&[]).await.map_err(told("find_all"))?;
    ensure!(none.is_empty(), "asked for nothing and found {none:?}");
    for key in [&ours, &also_ours, &theirs] {
        remove(fixture, &*provider, key).await?;
    }
    Ok(())
}

pub(super) async fn a_missing_image_is_rejected_and_leaves_nothing(
    fixture: &dyn Fixture,
) -> Outcome {
    let provider = fixture.connect().await;
    let key = fresh_key()?;
    let mut want = fixture.want("imageless");
    let missing = fixture.missing_image();
    want.image = Some(missing.clone());
    match provider.create(&key, &want).await {
        Err(ProviderError::Rejected {
            field,
            value,
            reason,
        }) => {
            ensure!(field == "image", "the field at fault is {field}");
            ensure!(value == missing.reference, "the value at fault is {value}");
            ensure!(!reason.is_empty(), "the reason is missing");
        }
        other => return Err(format!("create gave {other:?}, not Rejected")),
    }
    let found = provider.find(&key).await.map_err(told("find"))?;
    ensure!(found.is_empty(), "it left {found:?}");
    let count = fixture.count(&key).await;
    ensure!(count == 0, "it left {count} at the platform");
    // The way out works: the same key with a good declaration.
    provider
        .create(&key, &fixture.want("imageless"))
        .await
        .map_err(told("create"))?;
    remove(fixture, &*provider, &key).await
}

pub(super) async fn another_instance_finds_the_machine(fixture: &dyn Fixture) -> Outcome {
    let key = fresh_key()?;
    let want = fixture.want("adopted");
    let first = fixture.connect().await;
    let made = first.create(&key, &want).await.map_err(told("create"))?;
    drop(first);
    let second = fixture.connect().await;
    let found = until(fixture, &*second, &key, PowerState::Running).await?;
    ensure!(
        found.id == made.id,
        "created {} and found {}",
        made.id,
        found.id
    );
    ensure!(found.created == made.created, "it was created anew");
    let again = second.create(&key, &want).await.map_err(told("create"))?;
    ensure!(
        again.id == made.id,
        "created {} and then {}",
        made.id,
        again.id
    );
    let count = fixture.count(&key).await;
    ensure!(count == 1, "the platform has {count} of it");
    remove(fixture, &*second, &key).await
}

pub(super) async fn a_deleted_machine_is_gone(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let key = fresh_key()?;
    let facts = provider
        .create(&key, &fixture.want("gone"))
        .await
        .map_err(told("create"))?;
    provider
        .delete(&key, &facts.id, None)
        .await
        .map_err(told("delete"))?;
    remove(fixture, &*provider, &key).await?;
    let listed = provider.list(key.cluster()).await.map_err(told("list"))?;
    ensure!(listed.is_empty(), "listed {listed:?}");
    match provider.delete(&key, &facts.id, None).await {
        Err(ProviderError::NotFound { .. }) => Ok(()),
        other => Err(format!("deleting again gave {other:?}, not NotFound")),
    }
}

pub(super) async fn deleting_needs_the_key(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let key = fresh_key()?;
    let foreign = fresh_key()?;
    let facts = provider
        .create(&key, &fixture.want("owned"))
        .await
        .map_err(told("create"))?;
    match provider.delete(&foreign, &facts.id, None).await {
        Err(ProviderError::NotOwned { .. }) => {}
        other => {
            return Err(format!(
                "deleting with a foreign key gave {other:?}, not NotOwned"
            ));
        }
    }
    until(fixture, &*provider, &key, PowerState::Running).await?;
    remove(fixture, &*provider, &key).await
}

pub(super) async fn changes_are_hinted_at(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let capable = provider.capabilities().watch;
    let Some(mut hints) = provider.watch() else {
        ensure!(
            !capable,
            "it says that it pushes changes, and has no stream of them"
        );
        return Ok(());
    };
    ensure!(capable, "it has a stream of changes, and does not say so");
    let key = fresh_key()?;
    provider
        .create(&key, &fixture.want("hinted"))
        .await
        .map_err(told("create"))?;
    remove(fixture, &*provider, &key).await?;
    let hinted = async {
        while let Some(hint) = hints.next().await {
            if hint == key {
                return true;
            }
        }
        false
    };
    let limit = fixture.patience().min(Duration::from_secs(60));
    let seen = timeout(limit, hinted).await.unwrap_or(false);
    ensure!(seen, "a machine came and went without a hint");
    Ok(())
}
