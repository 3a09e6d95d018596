//! Many looks at once are few calls, and none of them is told old news.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::join_all;
use tokio::sync::Semaphore;

use super::*;
use crate::testing::facts;

/// A platform that answers when it is let to.
struct Slow {
    machines: Mutex<Vec<Facts>>,
    answers: Semaphore,
    finds: AtomicUsize,
    lists: AtomicUsize,
    /// What each question for many was about.
    asked: Mutex<Vec<Vec<MachineKey>>>,
    fails: bool,
}

impl Slow {
    fn new(fails: bool) -> Arc<Slow> {
        Arc::new(Slow {
            machines: Mutex::new((0..100).map(|number| facts(number, "c")).collect()),
            answers: Semaphore::new(0),
            finds: AtomicUsize::new(0),
            lists: AtomicUsize::new(0),
            asked: Mutex::default(),
            fails,
        })
    }

    async fn look(&self, calls: &AtomicUsize) -> ProviderResult<Vec<Facts>> {
        calls.fetch_add(1, Ordering::SeqCst);
        // What is there when the call begins is what it tells.
        let machines = self.machines.lock().unwrap().clone();
        self.answers.acquire().await.unwrap().forget();
        match self.fails {
            true => Err(ProviderError::transport("looking", "the line is down")),
            false => Ok(machines),
        }
    }

    fn calls(&self) -> (usize, usize) {
        let count = |calls: &AtomicUsize| calls.load(Ordering::SeqCst);
        (count(&self.finds), count(&self.lists))
    }
}

#[async_trait]
impl Provider for Slow {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
    async fn probe(&self) -> ProviderResult<Health> {
        Ok(Health::default())
    }
    async fn inventory(&self) -> ProviderResult<Inventory> {
        Ok(Inventory::default())
    }
    async fn find(&self, key: &MachineKey) -> ProviderResult<Vec<Facts>> {
        let mut found = self.look(&self.finds).await?;
        found.retain(|facts| facts.key == *key);
        Ok(found)
    }
    async fn find_all(&self, keys: &[MachineKey]) -> ProviderResult<Vec<Facts>> {
        self.asked.lock().unwrap().push(keys.to_vec());
        let mut found = self.look(&self.lists).await?;
        found.retain(|facts| keys.contains(&facts.key));
        Ok(found)
    }
    async fn list(&self, _: &str) -> ProviderResult<Vec<Facts>> {
        unreachable!("nobody asks for all")
    }
    async fn create(&self, _: &MachineKey, _: &Want) -> ProviderResult<Facts> {
        unreachable!("nothing is made here")
    }
    async fn update(&self, _: &MachineKey, _: &MachineId, _: &Change) -> ProviderResult<()> {
        unreachable!("nothing is changed here")
    }
    async fn delete(
        &self,
        _: &MachineKey,
        _: &MachineId,
        _: Option<Duration>,
    ) -> ProviderResult<()> {
        unreachable!("nothing is removed here")
    }
}

#[tokio::test]
async fn a_hundred_looks_at_once_are_a_few_calls() {
    let slow = Slow::new(false);
    let looking = Looking::new(slow.clone(), "c".into());
    let keys: Vec<MachineKey> = (0..100).map(|number| facts(number, "c").key).collect();
    let mut found = Box::pin(join_all(keys.iter().map(|key| looking.find(key))));
    assert!(futures::poll!(&mut found).is_pending());
    slow.answers.add_permits(100);
    for (key, found) in keys.iter().zip(found.await) {
        let found = found.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].key, *key);
    }
    // The first question is under way when the others join the next.
    assert_eq!(slow.calls(), (SINGLES, 2));
    // Each is about those that joined it, and no others.
    let asked = slow.asked.lock().unwrap().concat();
    assert_eq!(asked, keys[SINGLES..]);
}

#[tokio::test]
async fn a_question_that_was_put_before_is_no_answer() {
    let slow = Slow::new(false);
    let looking = Arc::new(Looking::new(slow.clone(), "c".into()));
    let ask = |number: u64| {
        let (looking, key) = (looking.clone(), facts(number, "c").key);
        tokio::spawn(async move { looking.find(&key).await.unwrap().len() })
    };
    let mut asked: Vec<_> = (0..=SINGLES as u64).map(ask).collect();
    while slow.calls() != (SINGLES, 1) {
        tokio::task::yield_now().await;
    }
    // Made while a question is under way that does not know of it.
    slow.machines.lock().unwrap().push(facts(100, "c"));
    asked.push(ask(100));
    slow.answers.add_permits(100);
    for answer in asked {
        assert_eq!(answer.await.unwrap(), 1);
    }
    assert_eq!(slow.calls(), (SINGLES, 2));
}

#[tokio::test]
async fn everybody_hears_of_a_question_that_fails_and_the_next_one_is_new() {
    let slow = Slow::new(true);
    let looking = Looking::new(slow.clone(), "c".into());
    let keys: Vec<MachineKey> = (0..50).map(|number| facts(number, "c").key).collect();
    for lists in [2, 4] {
        let mut outcomes = Box::pin(join_all(keys.iter().map(|key| looking.find(key))));
        assert!(futures::poll!(&mut outcomes).is_pending());
        slow.answers.add_permits(SINGLES + 2);
        for outcome in outcomes.await {
            let error = outcome.unwrap_err();
            assert!(matches!(error, ProviderError::Transport { .. }), "{error}");
            assert_eq!(crate::error::chain(&error), "looking: the line is down");
        }
        assert_eq!(slow.calls().1, lists);
    }
}

#[tokio::test]
async fn looks_that_are_given_up_leave_their_places() {
    let slow = Slow::new(false);
    let looking = Looking::new(slow.clone(), "c".into());
    let keys: Vec<MachineKey> = (0..50).map(|number| facts(number, "c").key).collect();
    let given_up = join_all(keys.iter().map(|key| looking.find(key)));
    assert!(futures::poll!(Box::pin(given_up)).is_pending());
    slow.answers.add_permits(100);
    assert_eq!(looking.find(&keys[0]).await.unwrap().len(), 1);
    let all = join_all(keys.iter().map(|key| looking.find(key))).await;
    assert!(all.iter().all(|found| found.as_ref().unwrap().len() == 1));
}

#[tokio::test]
async fn machines_of_another_cluster_are_looked_for_one_by_one() {
    let slow = Slow::new(false);
    slow.machines.lock().unwrap().push(facts(1, "other"));
    let looking = Looking::new(slow.clone(), "c".into());
    slow.answers.add_permits(100);
    let key = facts(1, "other").key;
    for found in join_all((0..50).map(|_| looking.find(&key))).await {
        assert_eq!(found.unwrap().len(), 1);
    }
    assert_eq!(slow.calls(), (50, 0));
}
