//! Instances and volumes as EC2 describes them, read from its answers.

use jiff::Timestamp;

use super::{
    tags::{KEY, Tags},
    wire::Element,
};

/// One instance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Instance {
    pub(super) id: String,
    pub(super) state: State,
    /// EC2's own word for it.
    pub(super) state_name: String,
    pub(super) image: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) zone: Option<String>,
    pub(super) architecture: Option<String>,
    pub(super) launched: Option<Timestamp>,
    /// The idempotency token that it was made with.
    pub(super) token: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) root: Option<String>,
    pub(super) tags: Tags,
    pub(super) nics: Vec<Nic>,
    pub(super) mappings: Vec<Mapping>,
}

/// What an instance is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Pending,
    Running,
    Stopping,
    Stopped,
    ShuttingDown,
    Terminated,
    /// A word that this driver does not know.
    Other,
}

/// One interface of an instance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Nic {
    pub(super) place: usize,
    pub(super) mac: Option<String>,
    pub(super) subnet: Option<String>,
    pub(super) private: Vec<String>,
    pub(super) public: Vec<String>,
    pub(super) attached: Option<Timestamp>,
}

/// A volume as the instance sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mapping {
    pub(super) device: String,
    pub(super) volume: String,
    pub(super) attached: Option<Timestamp>,
    pub(super) goes_along: bool,
}

/// One volume.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Volume {
    pub(super) id: String,
    pub(super) state: String,
    /// In bytes.
    pub(super) size: Option<u64>,
    pub(super) class: Option<String>,
    pub(super) tags: Tags,
    /// The instance that it is attached to, and as what.
    pub(super) attached: Option<(String, String)>,
}

impl Instance {
    pub(super) fn read(element: &Element) -> Option<Instance> {
        let text = |path: &[&str]| element.text(path).map(str::to_owned);
        let state_name = text(&["instanceState", "name"])?;
        Some(Instance {
            id: text(&["instanceId"])?,
            state: State::of(&state_name),
            state_name,
            image: text(&["imageId"]),
            kind: text(&["instanceType"]),
            zone: text(&["placement", "availabilityZone"]),
            architecture: text(&["architecture"]),
            launched: time(element, &["launchTime"]),
            token: text(&["clientToken"]),
            reason: text(&["stateReason", "message"]).or_else(|| text(&["reason"])),
            root: text(&["rootDeviceName"]),
            tags: tags(element),
            nics: element
                .items(&["networkInterfaceSet"])
                .map(Nic::read)
                .collect(),
            mappings: element
                .items(&["blockDeviceMapping"])
                .filter_map(Mapping::read)
                .collect(),
        })
    }

    pub(super) fn carries(&self, key: &str) -> bool {
        self.tags.get(KEY).is_some_and(|tag| tag == key)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.state == State::Terminated
    }
}

impl State {
    fn of(name: &str) -> State {
        match name {
            "pending" => State::Pending,
            "running" => State::Running,
            "stopping" => State::Stopping,
            "stopped" => State::Stopped,
            "shutting-down" => State::ShuttingDown,
            "terminated" => State::Terminated,
            _ => State::Other,
        }
    }
}

impl Nic {
    fn read(element: &Element) -> Nic {
        let text = |path: &[&str]| element.text(path).map(str::to_owned);
        let addresses = || element.items(&["privateIpAddressesSet"]);
        let mut private: Vec<String> = addresses()
            .filter_map(|item| item.text(&["privateIpAddress"]))
            .map(str::to_owned)
            .collect();
        if private.is_empty() {
            private.extend(text(&["privateIpAddress"]));
        }
        let mut public: Vec<String> = addresses()
            .filter_map(|item| item.text(&["association", "publicIp"]))
            .map(str::to_owned)
            .collect();
        if public.is_empty() {
            public.extend(text(&["association", "publicIp"]));
        }
        let place = element.text(&["attachment", "deviceIndex"]);
        Nic {
            place: place.and_then(|place| place.parse().ok()).unwrap_or(0),
            mac: text(&["macAddress"]),
            subnet: text(&["subnetId"]),
            private,
            public,
            attached: time(element, &["attachment", "attachTime"]),
        }
    }
}

impl Mapping {
    fn read(element: &Element) -> Option<Mapping> {
        Some(Mapping {
            device: element.text(&["deviceName"])?.to_owned(),
            volume: element.text(&["ebs", "volumeId"])?.to_owned(),
            attached: time(element, &["ebs", "attachTime"]),
            goes_along: element.text(&["ebs", "deleteOnTermination"]) == Some("true"),
        })
    }
}

impl Volume {
    pub(super) fn read(element: &Element) -> Option<Volume> {
        let text = |path: &[&str]| element.text(path).map(str::to_owned);
        let attachment = element.items(&["attachmentSet"]).next();
        let attached = attachment.and_then(|item| {
            let instance = item.text(&["instanceId"])?.to_owned();
            let device = item.text(&["device"]).unwrap_or_default().to_owned();
            (item.text(&["status"]) != Some("detached")).then_some((instance, device))
        });
        Some(Volume {
            id: text(&["volumeId"])?,
            state: text(&["status"])?,
            size: element
                .text(&["size"])
                .and_then(|size| size.parse::<u64>().ok())
                .and_then(|size| size.checked_mul(1 << 30)),
            class: text(&["volumeType"]),
            tags: tags(element),
            attached,
        })
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self.state.as_str(), "deleting" | "deleted")
    }

    pub(super) fn is_on(&self, instance: &str) -> bool {
        self.attached.as_ref().is_some_and(|(on, _)| on == instance)
    }
}

fn tags(element: &Element) -> Tags {
    let pair = |item: &Element| {
        let value = item.text(&["value"]).unwrap_or_default();
        Some((item.text(&["key"])?.to_owned(), value.to_owned()))
    };
    element.items(&["tagSet"]).filter_map(pair).collect()
}

fn time(element: &Element, path: &[&str]) -> Option<Timestamp> {
    element.text(path)?.parse().ok()
}
