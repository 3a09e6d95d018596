//! EC2 as the tests have it: moto behind the proxy, drivers for it, and what moto itself holds.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use machinist_core::{
    machine::{Cpu, Facts, Image, MachineKey, PowerState, Want},
    provider::{Credentials, Provider},
};
use machinist_providers::{
    Aws, AwsConfig, Way,
    aws::wire::{Client, Element, Keys, Query},
    conformance::{Fixture, smallest_want},
};

use crate::{
    cloud::{IMAGE, Moto, Options, Proxy, REGION},
    common,
};

pub(crate) struct Cloud {
    pub(crate) moto: Arc<Moto>,
    pub(crate) proxy: Proxy,
}

impl Cloud {
    /// `None`, once that was said, where moto is not installed.
    pub(crate) async fn open(options: Options) -> Option<Cloud> {
        let moto = Moto::shared(&common::peer("MACHINIST_MOTO")?);
        let proxy = Proxy::start(moto.port, options).await;
        Some(Cloud { moto, proxy })
    }

    pub(crate) fn keys(&self) -> Keys {
        let held = self.moto.keys().into_iter();
        let held = held.map(|(name, value)| (name, value.into_bytes()));
        Keys::of(&Credentials::new(held.collect())).unwrap()
    }

    pub(crate) fn driver(&self) -> Aws {
        let driver = Aws::new(AwsConfig {
            region: REGION.to_owned(),
            endpoint: self.proxy.endpoint(),
            keys: self.keys(),
            way: Way::default(),
            settling: Duration::from_millis(300),
        });
        driver.unwrap()
    }

    /// Asks moto itself.
    pub(crate) async fn call(&self, query: &Query) -> Element {
        let endpoint = format!("http://127.0.0.1:{}", self.moto.port);
        let client = Client::new(&endpoint, REGION, self.keys(), Way::default()).unwrap();
        client.call(query).await.unwrap()
    }

    /// Asks moto itself for what carries a key.
    pub(crate) async fn ask(&self, action: &'static str, key: &MachineKey) -> Element {
        let tag = "tag:machinist.vitistack.io/key";
        self.call(&Query::new(action).filter(1, tag, &[&key.to_string()]))
            .await
    }

    /// The ids of what carries a key and is not gone.
    pub(crate) async fn held(&self, key: &MachineKey) -> (Vec<String>, Vec<String>) {
        let answer = self.ask("DescribeInstances", key).await;
        let reservations = answer.items(&["reservationSet"]);
        let instances = reservations.flat_map(|item| item.items(&["instancesSet"]));
        let instances = instances
            .filter(|item| item.text(&["instanceState", "name"]) != Some("terminated"))
            .filter_map(|item| item.text(&["instanceId"]).map(str::to_owned))
            .collect();
        let answer = self.ask("DescribeVolumes", key).await;
        let volumes = answer.items(&["volumeSet"]);
        let volumes = volumes.filter_map(|item| item.text(&["volumeId"]).map(str::to_owned));
        (instances, volumes.collect())
    }
}

#[async_trait]
impl Fixture for Cloud {
    async fn connect(&self) -> Arc<dyn Provider> {
        Arc::new(self.driver())
    }

    fn want(&self, name: &str) -> Want {
        let mut want = smallest_want(name);
        want.instance_type = Some("t3.micro".to_owned());
        want.cpu = Cpu {
            sockets: 1,
            cores: 2,
            threads: 1,
        };
        want.memory = 1 << 30;
        want.disks[0].size = Some(8 << 30);
        want.image = Some(Image {
            reference: IMAGE.to_owned(),
            checksum: None,
        });
        want
    }

    fn missing_image(&self) -> Image {
        Image {
            reference: "ami-0fffffffffffffff0".to_owned(),
            checksum: None,
        }
    }

    async fn count(&self, key: &MachineKey) -> usize {
        let (instances, volumes) = self.held(key).await;
        match instances.len() {
            0 => volumes.len(),
            count => count,
        }
    }

    fn makes_stopped_machines(&self) -> bool {
        false
    }
}

pub(crate) fn fresh() -> MachineKey {
    let uid = || uuid::Uuid::new_v4().to_string();
    MachineKey::new(uid(), uid()).unwrap()
}

pub(crate) async fn until(driver: &Aws, key: &MachineKey, power: PowerState) -> Facts {
    for _ in 0..200 {
        let found = driver.find(key).await.unwrap();
        if let [facts] = found.as_slice()
            && facts.power == power
        {
            return facts.clone();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not come to be {power:?}")
}

pub(crate) fn driver_with(cloud: &Cloud, secret: &str) -> Aws {
    let mut held = cloud.moto.keys();
    held.insert("secret-access-key".to_owned(), secret.to_owned());
    let held = held
        .into_iter()
        .map(|(name, value)| (name, value.into_bytes()));
    let config = AwsConfig {
        region: REGION.to_owned(),
        endpoint: cloud.proxy.endpoint(),
        keys: Keys::of(&Credentials::new(held.collect())).unwrap(),
        way: Way::default(),
        settling: Duration::ZERO,
    };
    Aws::new(config).unwrap()
}
