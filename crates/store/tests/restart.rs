//! What a store on disk is after it was closed and opened again.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed assumption is a failed test, in its helpers too"
)]

mod common;

use common::{Home, history, keeping, value};
use machinist_store::{Expect, Options, Revision};

#[tokio::test]
async fn everything_is_there_again() {
    let home = Home::disk();
    let store = home.open();
    let uid = store.uid().to_owned();
    for n in 0..50 {
        let key = format!("k{:02}", n % 20);
        store
            .put(&key, value(n.to_string()), Expect::Any)
            .await
            .unwrap();
    }
    store.delete("k03", Expect::Any).await.unwrap();
    store.put("empty", value(""), Expect::Any).await.unwrap();
    let before = (store.list("", None, None), history(&store, Revision::ZERO));
    drop(store);

    let store = home.open();
    assert_eq!(store.uid(), uid);
    assert_eq!(store.revision(), Revision(52));
    let after = (store.list("", None, None), history(&store, Revision::ZERO));
    assert_eq!(after, before);
    let next = store.put("k03", value("again"), Expect::Absent).await;
    assert_eq!(next.unwrap(), Revision(53));
}

#[tokio::test]
async fn the_trim_point_lasts_and_revisions_are_not_used_again() {
    let home = Home::disk();
    let store = home.open_with(keeping(5));
    for n in 0..20 {
        let key = format!("k{}", n % 3);
        store
            .put(&key, value(n.to_string()), Expect::Any)
            .await
            .unwrap();
    }
    let before = history(&store, Revision(15));
    store.close().await;

    let store = home.open_with(keeping(5));
    assert_eq!(store.compacted(), Revision(15));
    assert!(store.watch("", Revision(14)).is_err());
    assert_eq!(history(&store, Revision(15)), before);

    // With the newest record trimmed away as well, the count still goes on.
    for key in ["k0", "k1", "k2"] {
        store.delete(key, Expect::Any).await.unwrap();
    }
    store.compact(Revision(23)).await.unwrap();
    store.close().await;
    let store = home.open();
    assert_eq!(
        (store.revision(), store.compacted()),
        (Revision(23), Revision(23))
    );
    assert_eq!(store.list("", None, None).entries, []);
    let next = store.put("a", value("1"), Expect::Absent).await;
    assert_eq!(next.unwrap(), Revision(24));
}

#[tokio::test]
async fn a_smaller_limit_applies_from_the_next_write_on() {
    let home = Home::disk();
    let store = home.open();
    for n in 0..100 {
        store
            .put("k", value(n.to_string()), Expect::Any)
            .await
            .unwrap();
    }
    store.close().await;
    let store = home.open_with(keeping(10));
    store.put("k", value("last"), Expect::Any).await.unwrap();
    assert_eq!(store.compacted(), Revision(91));
    store.close().await;
    assert_eq!(history(&home.open(), Revision(91)).len(), 10);
}

#[tokio::test]
async fn dropping_the_store_finishes_what_was_queued() {
    let home = Home::disk();
    let store = home.open();
    let mut queued = Vec::new();
    for n in 0..100 {
        let key = format!("k{n}");
        let mut put = Box::pin({
            let store = store.clone();
            async move { store.put(&key, value("1"), Expect::Any).await }
        });
        // One poll hands the write over; nobody waits for the answer.
        assert!(futures_poll(&mut put).is_none());
        queued.push(put);
    }
    drop(queued);
    drop(store);
    assert_eq!(home.open().revision(), Revision(100));
}

/// Polls a future once.
fn futures_poll<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::Pin::new(future).poll(&mut context) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

#[tokio::test]
async fn the_identity_is_chosen_once() {
    let home = Home::disk();
    let named = |uid: &str| Options {
        uid: Some(uid.into()),
        ..Options::default()
    };
    assert_eq!(home.open_with(named("first")).uid(), "first");
    assert_eq!(home.open_with(named("second")).uid(), "first");
    let (one, two) = (Home::disk().open(), Home::disk().open());
    assert_ne!(one.uid(), two.uid());
}
