//! Calls that arrive at the platform, counted in virtual time.

use std::sync::Mutex;

use futures::future::join_all;
use machinist_core::provider::Rate;
use tokio::time::Instant;

use super::*;
use crate::{Metrics, metered::Metered, testing::facts};

/// A platform that writes down when each call arrived, and answers as it is told to.
#[derive(Default)]
struct Platform {
    arrived: Mutex<Vec<Instant>>,
    answers: Mutex<Vec<fn() -> ProviderError>>,
    /// Whether it never answers.
    hangs: bool,
    fetches: bool,
}

impl Platform {
    /// One whose first answers are this.
    fn failing(answer: fn() -> ProviderError, times: usize) -> Arc<Platform> {
        Arc::new(Platform {
            answers: Mutex::new(vec![answer; times]),
            ..Platform::default()
        })
    }

    async fn answer<T>(&self, good: T) -> ProviderResult<T> {
        self.arrived.lock().unwrap().push(Instant::now());
        if self.hangs {
            std::future::pending::<()>().await;
        }
        match self.answers.lock().unwrap().pop() {
            Some(error) => Err(error()),
            None => Ok(good),
        }
    }

    fn calls(&self) -> usize {
        self.arrived.lock().unwrap().len()
    }

    /// The times at which calls arrived, in milliseconds since the first.
    fn times(&self) -> Vec<u128> {
        let arrived = self.arrived.lock().unwrap();
        let since = |at: &Instant| at.duration_since(arrived[0]).as_millis();
        arrived.iter().map(since).collect()
    }
}

#[async_trait]
impl Provider for Platform {
    fn capabilities(&self) -> Capabilities {
        Capabilities {
            fetches_images: self.fetches,
            ..Capabilities::default()
        }
    }
    async fn probe(&self) -> ProviderResult<Health> {
        self.answer(Health::default()).await
    }
    async fn inventory(&self) -> ProviderResult<Inventory> {
        self.answer(Inventory::default()).await
    }
    async fn find(&self, _: &MachineKey) -> ProviderResult<Vec<Facts>> {
        self.answer(Vec::new()).await
    }
    async fn get(&self, _: &MachineKey, _: &MachineId) -> ProviderResult<Option<Facts>> {
        self.answer(None).await
    }
    async fn list(&self, _: &str) -> ProviderResult<Vec<Facts>> {
        self.answer(Vec::new()).await
    }
    async fn create(&self, _: &MachineKey, _: &Want) -> ProviderResult<Facts> {
        self.answer(facts(1, "c")).await
    }
    async fn update(&self, _: &MachineKey, _: &MachineId, _: &Change) -> ProviderResult<()> {
        self.answer(()).await
    }
    async fn delete(
        &self,
        _: &MachineKey,
        _: &MachineId,
        _: Option<Duration>,
    ) -> ProviderResult<()> {
        self.answer(()).await
    }
}

fn lost() -> ProviderError {
    ProviderError::transport("calling", "the answer was lost")
}

fn throttled() -> ProviderError {
    ProviderError::throttled("too many", Some(Duration::from_secs(3)))
}

fn for_an_hour() -> ProviderError {
    ProviderError::throttled("too many", Some(Duration::from_secs(3600)))
}

fn refused() -> ProviderError {
    ProviderError::Credentials {
        reason: String::from("no"),
    }
}

/// The decorators of a connection, with this limit of a call.
fn stack(
    platform: &Arc<Platform>,
    courtesy: Courtesy,
    limit: Option<Duration>,
) -> (Courteous, Arc<Track>) {
    let track = Arc::<Track>::default();
    let name = "default/test".to_owned();
    let metered = Metered::new(
        platform.clone(),
        name,
        Metrics::default(),
        limit,
        track.clone(),
    );
    let courteous = Courteous::new(Arc::new(metered), courtesy, track.clone());
    (courteous, track)
}

fn retrying(max_retries: u32) -> Courtesy {
    Courtesy {
        max_retries,
        ..Courtesy::default()
    }
}

fn key() -> MachineKey {
    facts(1, "c").key
}

#[tokio::test(start_paused = true)]
async fn a_look_is_made_as_often_as_declared_with_growing_delays() {
    let platform = Platform::failing(lost, 9);
    let (provider, track) = stack(&platform, retrying(3), None);
    let error = provider.find(&key()).await.unwrap_err();
    assert_eq!(error.reason(), "ProviderUnreachable");
    assert_eq!(platform.calls(), 4);
    let times = platform.times();
    for (attempt, least, most) in [(1, 150, 200), (2, 300, 400), (3, 600, 800)] {
        let waited = times[attempt] - times[attempt - 1];
        assert!(waited >= least && waited <= most + 1, "{times:?}");
    }
    let lately = track.lately().unwrap();
    assert_eq!((lately.calls, lately.failed, lately.score()), (4, 4, 0));
    // One that comes to itself is asked no more than needed.
    let platform = Platform::failing(lost, 2);
    let (provider, _) = stack(&platform, retrying(3), None);
    provider.list("c").await.unwrap();
    assert_eq!(platform.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_change_whose_answer_was_lost_is_never_made_again() {
    let want: Want = crate::testing::want();
    let (key, id) = (key(), MachineId::new("id-1"));
    let change = Change::Start;
    let platform = Platform::failing(lost, 3);
    let (provider, _) = stack(&platform, retrying(5), None);
    provider.create(&key, &want).await.unwrap_err();
    provider.update(&key, &id, &change).await.unwrap_err();
    provider.delete(&key, &id, None).await.unwrap_err();
    assert_eq!(platform.calls(), 3);
    // One that was turned away has done nothing, and is.
    let platform = Platform::failing(throttled, 2);
    let (provider, _) = stack(&platform, retrying(5), None);
    provider.create(&key, &want).await.unwrap();
    assert_eq!(platform.calls(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_the_platform_knows_is_not_asked_twice() {
    let platform = Platform::failing(refused, 2);
    let (provider, _) = stack(&platform, retrying(5), None);
    provider.probe().await.unwrap_err();
    provider.find(&key()).await.unwrap_err();
    assert_eq!(platform.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_platform_that_says_when_is_left_alone_until_then() {
    let platform = Platform::failing(throttled, 1);
    let (provider, _) = stack(&platform, retrying(1), None);
    let key = key();
    let (first, others) = tokio::join!(provider.find(&key), async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        join_all((0..3).map(|_| provider.list("c"))).await
    });
    first.unwrap();
    others.into_iter().for_each(|other| drop(other.unwrap()));
    let times = platform.times();
    assert_eq!(times.len(), 5);
    assert!(times[1..].iter().all(|time| *time >= 3000), "{times:?}");
    // An hour is nothing to wait for in a call: whoever asked is told.
    let platform = Platform::failing(for_an_hour, 1);
    let (provider, _) = stack(&platform, retrying(5), None);
    let began = Instant::now();
    let error = provider.find(&key).await.unwrap_err();
    assert!(
        matches!(error, ProviderError::Throttled { retry_after: Some(wait), .. } if wait.as_secs() == 3600)
    );
    assert_eq!((platform.calls(), began.elapsed()), (1, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_arrive_than_the_rate_allows_and_retries_count() {
    let rate = Rate::new(10.0, Some(5));
    let courtesy = Courtesy {
        rate,
        ..retrying(1)
    };
    let platform = Platform::failing(lost, 5);
    let (provider, _) = stack(&platform, courtesy.clone(), None);
    let key = key();
    let all = join_all((0..45).map(|_| provider.find(&key))).await;
    assert!(all.iter().all(Result::is_ok));
    let times = platform.times();
    assert_eq!(times.len(), 50);
    assert!(times[4] < 1, "the burst goes at once: {times:?}");
    let late = (0..times.len()).find(|n| times[*n] + 1 < (*n as u128).saturating_sub(4) * 100);
    assert_eq!(late, None, "{times:?}");
    assert!(*times.last().unwrap() <= 4600, "{times:?}");
    // A quiet time earns the burst again, and no more.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let before = Instant::now();
    join_all((0..6).map(|_| provider.find(&key))).await;
    assert_eq!(before.elapsed().as_millis(), 100);
}

#[tokio::test(start_paused = true)]
async fn a_call_far_from_its_turn_is_given_back() {
    let courtesy = Courtesy {
        rate: Rate::new(1.0, Some(1)),
        ..Courtesy::default()
    };
    let platform = Platform::failing(lost, 0);
    let (provider, track) = stack(&platform, courtesy, None);
    let key = key();
    let all = join_all((0..100).map(|_| provider.find(&key))).await;
    let sent = all.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!((sent, platform.calls()), (61, 61));
    let given_back = all.into_iter().find_map(Result::err).unwrap();
    assert_eq!(given_back.reason(), "Throttled");
    assert_eq!(track.lately().unwrap().failed, 0, "the platform is well");
}

#[tokio::test(start_paused = true)]
async fn each_attempt_has_the_declared_limit_and_a_download_has_its_own() {
    let hanging = |fetches| {
        Arc::new(Platform {
            hangs: true,
            fetches,
            ..Platform::default()
        })
    };
    let limit = Duration::from_secs(5);
    let platform = hanging(false);
    let (provider, track) = stack(&platform, retrying(2), Some(limit));
    let began = Instant::now();
    provider.probe().await.unwrap_err();
    assert_eq!(platform.calls(), 3);
    let took = began.elapsed();
    assert!(
        took >= limit * 3 && took < limit * 3 + Duration::from_secs(1),
        "{took:?}"
    );
    assert_eq!(track.probe(), Some(limit), "the latency of one attempt");
    let want = crate::testing::want();
    for (fetches, expected) in [(false, limit), (true, Duration::from_secs(30 * 60))] {
        let platform = hanging(fetches);
        let (provider, _) = stack(&platform, retrying(2), Some(limit));
        let began = Instant::now();
        provider.create(&key(), &want).await.unwrap_err();
        assert_eq!((platform.calls(), began.elapsed()), (1, expected));
    }
}
