//! Cases about running: stopping and starting keep the machine what it is.

use machinist_core::{
    machine::{Power, PowerState},
    provider::{Change, ProviderError},
};
use tokio::time::{Duration, Instant, sleep};

use super::{
    Fixture, Outcome, ensure,
    fixture::{fresh_key, remove, the_one, told, until},
};

pub(super) async fn a_machine_declared_off_is_made_and_not_started(
    fixture: &dyn Fixture,
) -> Outcome {
    if !fixture.makes_stopped_machines() {
        return Ok(());
    }
    let provider = fixture.connect().await;
    let key = fresh_key()?;
    let mut want = fixture.want("off");
    want.power = Power::Off;
    provider.create(&key, &want).await.map_err(told("create"))?;
    let facts = until(fixture, &*provider, &key, PowerState::Stopped).await?;
    ensure!(
        facts.started.is_none(),
        "it was started at {:?}",
        facts.started
    );
    remove(fixture, &*provider, &key).await
}

pub(super) async fn stopping_and_starting_keep_the_machine(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    if !provider.capabilities().power {
        return Ok(());
    }
    let key = fresh_key()?;
    let made = provider
        .create(&key, &fixture.want("kept"))
        .await
        .map_err(told("create"))?;
    until(fixture, &*provider, &key, PowerState::Running).await?;
    let off = Change::Stop { grace: None };
    provider
        .update(&key, &made.id, &off)
        .await
        .map_err(told("power off"))?;
    let down = until(fixture, &*provider, &key, PowerState::Stopped).await?;
    ensure!(down.id == made.id, "it was {} and is {}", made.id, down.id);
    provider
        .update(&key, &made.id, &off)
        .await
        .map_err(told("power off again"))?;

    let on = Change::Start;
    provider
        .update(&key, &made.id, &on)
        .await
        .map_err(told("power on"))?;
    let up = until(fixture, &*provider, &key, PowerState::Running).await?;
    ensure!(up.id == made.id, "it was {} and is {}", made.id, up.id);
    ensure!(up.created == made.created, "it was created anew");
    let names = |facts: &machinist_core::machine::Facts| -> Vec<_> {
        facts
            .disks
            .iter()
            .map(|disk| (disk.name.clone(), disk.device.clone()))
            .collect()
    };
    ensure!(
        names(&up) == names(&made),
        "its disks were {:?} and are {:?}",
        made.disks,
        up.disks
    );
    let addresses = |facts: &machinist_core::machine::Facts| -> Vec<_> {
        facts
            .nics
            .iter()
            .map(|nic| (nic.mac.clone(), nic.private.clone()))
            .collect()
    };
    ensure!(
        addresses(&up) == addresses(&made),
        "its interfaces were {:?} and are {:?}",
        made.nics,
        up.nics
    );
    provider
        .update(&key, &made.id, &on)
        .await
        .map_err(told("power on again"))?;
    let count = fixture.count(&key).await;
    ensure!(count == 1, "the platform has {count} of it");
    remove(fixture, &*provider, &key).await
}

pub(super) async fn a_restart_starts_it_again(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    if !provider.capabilities().power {
        return Ok(());
    }
    let key = fresh_key()?;
    provider
        .create(&key, &fixture.want("restarted"))
        .await
        .map_err(told("create"))?;
    let before = until(fixture, &*provider, &key, PowerState::Running).await?;
    let restart = Change::Restart {
        token: "2026-01-01T00:00:00Z".to_owned(),
        grace: None,
    };
    provider
        .update(&key, &before.id, &restart)
        .await
        .map_err(told("restart"))?;
    let deadline = Instant::now() + fixture.patience();
    loop {
        let after = the_one(&*provider, &key).await?;
        ensure!(
            after.id == before.id,
            "it was {} and is {}",
            before.id,
            after.id
        );
        if after.power == PowerState::Running && after.started > before.started {
            ensure!(
                after.restart.as_deref() == Some("2026-01-01T00:00:00Z"),
                "it does not say which restart it saw: {:?}",
                after.restart
            );
            // The same request once more is the same restart.
            provider
                .update(&key, &before.id, &restart)
                .await
                .map_err(told("restart again"))?;
            let again = the_one(&*provider, &key).await?;
            ensure!(
                again.power == PowerState::Running && again.started == after.started,
                "one request restarted it twice: {again:?}"
            );
            break;
        }
        ensure!(
            Instant::now() < deadline,
            "it was not started again: {after:?}"
        );
        sleep(Duration::from_millis(20)).await;
    }
    remove(fixture, &*provider, &key).await
}

pub(super) async fn changing_needs_the_key(fixture: &dyn Fixture) -> Outcome {
    let provider = fixture.connect().await;
    let key = fresh_key()?;
    let foreign = fresh_key()?;
    let facts = provider
        .create(&key, &fixture.want("unchanged"))
        .await
        .map_err(told("create"))?;
    let off = Change::Stop { grace: None };
    match provider.update(&foreign, &facts.id, &off).await {
        Err(ProviderError::NotOwned { .. }) => {}
        other => {
            return Err(format!(
                "changing with a foreign key gave {other:?}, not NotOwned"
            ));
        }
    }
    until(fixture, &*provider, &key, PowerState::Running).await?;
    remove(fixture, &*provider, &key).await?;
    match provider.update(&key, &facts.id, &off).await {
        Err(ProviderError::NotFound { .. }) => Ok(()),
        other => Err(format!(
            "changing what is gone gave {other:?}, not NotFound"
        )),
    }
}
