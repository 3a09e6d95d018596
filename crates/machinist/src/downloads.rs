//! Image downloads of all providers in one place, and their bars on the terminal.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use machinist_providers::Progress;
use tokio::sync::watch;

/// Downloads that are going on, by URL.
pub(crate) type Transfers = BTreeMap<String, Progress>;

/// Where every driver's downloads are gathered; cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Downloads(Arc<watch::Sender<Transfers>>);

impl Downloads {
    /// Passes on what one driver downloads, until the driver is gone.
    pub(crate) fn follow(&self, mut from: watch::Receiver<Transfers>) {
        let all = self.0.clone();
        tokio::spawn(async move {
            let mut before = Transfers::new();
            while from.changed().await.is_ok() {
                let now = from.borrow_and_update().clone();
                all.send_modify(|all| {
                    all.retain(|url, _| !before.contains_key(url) || now.contains_key(url));
                    all.extend(now.clone());
                });
                before = now;
            }
            all.send_modify(|all| all.retain(|url, _| !before.contains_key(url)));
        });
    }

    /// Draws a bar for each download until dropped.
    pub(crate) async fn draw(&self, on: MultiProgress) {
        let mut changes = self.0.subscribe();
        let mut bars: HashMap<String, ProgressBar> = HashMap::new();
        loop {
            let now = changes.borrow_and_update().clone();
            bars.retain(|url, bar| {
                let going_on = now.contains_key(url);
                if !going_on {
                    bar.finish_and_clear();
                }
                going_on
            });
            for (url, progress) in now {
                let bar = bars
                    .entry(url.clone())
                    .or_insert_with(|| on.add(bar(&url, progress.total)));
                bar.set_position(progress.done);
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    }
}

fn bar(url: &str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "  {msg} [{bar:30}] {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        ),
        None => (
            ProgressBar::no_length(),
            "  {msg} {spinner} {bytes} {bytes_per_sec}",
        ),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    let name = url.rsplit('/').next().unwrap_or(url);
    bar.with_message(format!("fetching {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn downloads_of_two_drivers_do_not_hide_each_other() {
        let downloads = Downloads::default();
        let (one, from_one) = watch::channel(Transfers::new());
        let (two, from_two) = watch::channel(Transfers::new());
        downloads.follow(from_one);
        downloads.follow(from_two);
        let mut all = downloads.0.subscribe();
        let progress = Progress {
            done: 1,
            total: Some(2),
        };
        one.send_replace(BTreeMap::from([("a".to_owned(), progress)]));
        two.send_replace(BTreeMap::from([("b".to_owned(), progress)]));
        all.wait_for(|all| all.len() == 2)
            .await
            .expect("both are seen");
        one.send_replace(BTreeMap::new());
        let left = all.wait_for(|all| all.len() == 1).await.expect("one ends");
        assert!(left.contains_key("b"));
        drop(left);
        drop(two);
        all.wait_for(BTreeMap::is_empty)
            .await
            .expect("the other is gone with its driver");
    }
}
