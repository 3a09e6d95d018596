//! What a test declares of its machine, and whether the platform has just that.

use machinist_core::machine::{Facts, PowerState};
use serde_json::{Value, json};

/// The declaration, as far as tests change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) runs: bool,
    pub(crate) cores: u32,
    /// Size in GB of a disk besides the boot disk.
    pub(crate) data: Option<u64>,
    /// The largest that such a disk was declared so far.
    pub(crate) largest: u64,
    /// Whether there is a second interface.
    pub(crate) second_nic: bool,
    pub(crate) tag: Option<String>,
    /// When a restart was asked for.
    pub(crate) restart: Option<String>,
}

impl Default for Declared {
    fn default() -> Declared {
        Declared {
            runs: true,
            cores: 1,
            data: None,
            largest: 1,
            second_nic: false,
            tag: None,
            restart: None,
        }
    }
}

impl Declared {
    /// The fields that may change, as a merge patch or as part of a new object.
    pub(crate) fn patch(&self) -> Value {
        let mut disks = vec![json!({"name": "root", "sizeGB": 1, "boot": true})];
        disks.extend(
            self.data
                .map(|size| json!({"name": "data", "sizeGB": size})),
        );
        let mut nics = vec![json!({"name": "eth0", "primary": true})];
        nics.extend(self.second_nic.then(|| json!({"name": "eth1"})));
        let mut patch = json!({
            "metadata": {"annotations": {}},
            "spec": {
                "powerState": if self.runs { "Running" } else { "Stopped" },
                "cpu": {"cores": self.cores},
                "disks": disks,
                "network": {"interfaces": nics},
                "tags": {"tag": self.tag},
            },
        });
        if let Some(restart) = &self.restart {
            patch["metadata"]["annotations"]["vitistack.io/restarted-at"] = json!(restart);
        }
        patch
    }

    /// A whole object, with what the platform needs.
    pub(crate) fn object(&self, needs: &Value) -> Value {
        let mut object = self.patch();
        object["apiVersion"] = json!("vitistack.io/v1alpha1");
        object["kind"] = json!("Machine");
        object["metadata"]["name"] = json!("m");
        object["spec"]["name"] = json!("m");
        object["spec"]["instanceType"] = json!("small");
        object["spec"]["os"] = json!({
            "family": "linux", "distribution": "debian", "version": "12", "imageID": "debian",
        });
        object["spec"]["providerConfig"] = json!({"name": "sim", "region": "here"});
        if self.tag.is_none() {
            object["spec"]["tags"] = json!({});
        }
        json_patch::merge(&mut object, needs);
        object
    }

    /// How the machine differs from it.
    pub(crate) fn differs(&self, facts: &Facts) -> Option<String> {
        let power = match self.runs {
            true => PowerState::Running,
            false => PowerState::Stopped,
        };
        let mut disks = vec![("root", 1)];
        disks.extend(self.data.map(|size| ("data", size)));
        let has: Vec<(&str, u64)> = facts
            .disks
            .iter()
            .map(|disk| (disk.name.as_str(), disk.size.unwrap_or_default() >> 30))
            .collect();
        let nics: Vec<&str> = facts.nics.iter().map(|nic| nic.name.as_str()).collect();
        let wanted: &[&str] = if self.second_nic {
            &["eth0", "eth1"]
        } else {
            &["eth0"]
        };
        let tag = facts.tags.get("tag");
        // A machine that is down has nothing to restart.
        let restarted = !self.runs || facts.restart == self.restart;
        let checks = [
            (facts.power == power, "power"),
            (facts.cpus == Some(self.cores), "cores"),
            (has == disks, "disks"),
            (nics == wanted, "interfaces"),
            (tag == self.tag.as_ref(), "tags"),
            (restarted, "restart"),
        ];
        let wrong: Vec<&str> = checks.iter().filter(|c| !c.0).map(|c| c.1).collect();
        (!wrong.is_empty()).then(|| format!("{wrong:?} of {facts:?} differ from {self:?}"))
    }
}
