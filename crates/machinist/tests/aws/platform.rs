//! moto and a proxy of its own for each life, and what moto itself says it holds.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use machinist_core::provider::Credentials;
use machinist_providers::{
    Way,
    aws::wire::{Client, Element, Keys, Query},
};

use crate::{
    cloud::{IMAGE, Moto, Options, Proxy, REGION},
    support::peers,
};

/// How often moto itself is asked again when it fails, and how long after.
const ATTEMPTS: usize = 20;
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct Platform {
    pub(crate) moto: Arc<Moto>,
    pub(crate) proxy: Proxy,
    direct: Client,
}

/// One instance that is not gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) kind: String,
    pub(crate) tags: BTreeMap<String, String>,
}

/// moto, or `None`, once that was said, where it is not installed.
pub(crate) fn moto() -> Option<Arc<Moto>> {
    peers::peer("MACHINIST_MOTO").map(|program| Moto::shared(&program))
}

impl Platform {
    pub(crate) async fn new(moto: Arc<Moto>) -> Platform {
        let proxy = Proxy::start(
            moto.port,
            Options {
                looks: 1,
                ..Options::default()
            },
        );
        let held = moto.keys().into_iter();
        let held = held.map(|(name, value)| (name, value.into_bytes()));
        let keys = Keys::of(&Credentials::new(held.collect())).unwrap();
        let endpoint = format!("http://127.0.0.1:{}", moto.port);
        Platform {
            proxy: proxy.await,
            direct: Client::new(&endpoint, REGION, keys, Way::default()).unwrap(),
            moto,
        }
    }

    /// The documented provider, here, with an image and the documented machine's instance type
    /// among what it offers.
    pub(crate) fn documented_provider(&self) -> String {
        let path = peers::tree().join("crates/api/tests/manifests/provider-a-aws.yaml");
        let image = format!(
            "  capabilities:\n    availableImages:\n    - {{name: ubuntu-22.04, id: {IMAGE}, version: '22.04'}}\n"
        );
        let printed = std::fs::read_to_string(path).unwrap();
        let here = printed.replace("ec2.us-west-2.amazonaws.com", &self.proxy.endpoint());
        let with_image = here.replace("  capabilities:\n", &image);
        with_image.replace(
            "      - t3.micro\n",
            "      - t3.micro\n      - t3.medium\n",
        )
    }

    /// The instances that carry a machine's UID and are not gone.
    pub(crate) async fn instances(&self, uid: &str) -> Vec<Held> {
        let answer = self.ask("DescribeInstances", uid).await;
        let reservations = answer.items(&["reservationSet"]);
        let all = reservations.flat_map(|item| item.items(&["instancesSet"]));
        let text = |item: &Element, path: &[&str]| item.text(path).unwrap_or_default().to_owned();
        all.map(|item| Held {
            id: text(item, &["instanceId"]),
            state: text(item, &["instanceState", "name"]),
            kind: text(item, &["instanceType"]),
            tags: item
                .items(&["tagSet"])
                .map(|tag| (text(tag, &["key"]), text(tag, &["value"])))
                .collect(),
        })
        .filter(|held| held.state != "terminated")
        .collect()
    }

    /// The ids of the volumes that carry a machine's UID.
    pub(crate) async fn volumes(&self, uid: &str) -> Vec<String> {
        let answer = self.ask("DescribeVolumes", uid).await;
        let all = answer.items(&["volumeSet"]);
        all.filter_map(|item| item.text(&["volumeId"]).map(str::to_owned))
            .collect()
    }

    async fn ask(&self, action: &'static str, uid: &str) -> Element {
        let key = "tag:machinist.vitistack.io/key";
        let query = Query::new(action).filter(1, key, &[&format!("*/{uid}")]);
        // moto fails when what it walks over changes meanwhile, as it does under many lives at once.
        for _ in 0..ATTEMPTS {
            if let Ok(answer) = self.direct.call(&query).await {
                return answer;
            }
            tokio::time::sleep(PAUSE).await;
        }
        self.direct.call(&query).await.expect("an answer of moto")
    }
}
