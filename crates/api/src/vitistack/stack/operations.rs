//! How an installation is secured, watched and backed up, in the form of the shipped operators.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::wire_enum::wire_enum;

/// How an installation is secured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackSecurity {
    /// Who gets in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_control: Option<AccessControl>,
    /// What is recorded of requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_logging: Option<AuditLogging>,
    /// What is encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Encryption>,
    /// Rules that the installation is held to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub compliance_frameworks: Vec<String>,
}

/// Who gets in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessControl {
    /// Whether access is decided by roles; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub rbac: Option<bool>,
    /// Whether a second factor is asked for; false unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub mfa: Option<bool>,
    /// Users who get in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub allowed_users: Vec<String>,
    /// Groups whose members get in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1024), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub allowed_groups: Vec<String>,
}

/// What is recorded of requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditLogging {
    /// Whether anything is; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub enabled: Option<bool>,
    /// Days that the record is kept (1-2555); 90 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2555), extend("default" = 90))]
    pub retention_days: Option<i32>,
    /// Where the record is kept: local, s3, azure, gcs or elasticsearch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<AuditDestination>,
}

wire_enum! {
    /// Where a record of requests is kept.
    AuditDestination {
        /// Here.
        Local = "local",
        /// Amazon S3.
        S3 = "s3",
        /// Azure Blob Storage.
        Azure = "azure",
        /// Google Cloud Storage.
        Gcs = "gcs",
        /// Elasticsearch.
        Elasticsearch = "elasticsearch",
    }
}

/// What is encrypted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Encryption {
    /// Whether stored data are; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub at_rest: Option<bool>,
    /// Whether traffic is; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub in_transit: Option<bool>,
    /// What keeps the keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub key_management: Option<String>,
}

/// What is recorded of an installation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackMonitoring {
    /// Whether anything is; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub enabled: Option<bool>,
    /// Days that metrics are kept (1-365); 30 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 365), extend("default" = 30))]
    pub metrics_retention_days: Option<i32>,
    /// Whether alerts are sent; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub alerting_enabled: Option<bool>,
    /// Who gets alerts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub alert_receivers: Vec<String>,
    /// Further dashboards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub custom_dashboards: Vec<String>,
}

/// How an installation is backed up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackBackup {
    /// Whether it is; true unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub enabled: Option<bool>,
    /// When backups are made, as a cron expression; every night at two unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cron, extend("default" = "0 2 * * *"))]
    pub schedule: Option<String>,
    /// How many backups are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_policy: Option<RetentionPolicy>,
    /// Where backups are kept, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub destinations: Vec<BackupStore>,
    /// How much may be lost, and where it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disaster_recovery: Option<DisasterRecovery>,
}

/// How many backups are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetentionPolicy {
    /// Daily ones; 7 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 7))]
    pub daily: Option<i32>,
    /// Weekly ones; 4 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 4))]
    pub weekly: Option<i32>,
    /// Monthly ones; 12 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 12))]
    pub monthly: Option<i32>,
}

/// One place where backups are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupStore {
    /// Name of the place.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Type of the place: s3, azure, gcs, local or nfs.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub type_: Option<BackupStoreType>,
    /// Whether backups are encrypted there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<bool>,
    /// Settings that only it knows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(transform = schema::string_map)]
    pub configuration: BTreeMap<String, String>,
}

wire_enum! {
    /// Type of a place where backups are kept.
    BackupStoreType {
        /// Amazon S3.
        S3 = "s3",
        /// Azure Blob Storage.
        Azure = "azure",
        /// Google Cloud Storage.
        Gcs = "gcs",
        /// Here.
        Local = "local",
        /// A file server.
        Nfs = "nfs",
    }
}

/// How much may be lost, and where it goes on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisasterRecovery {
    /// Whether anything is prepared; false unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub enabled: Option<bool>,
    /// Most minutes of work that may be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rpo_minutes: Option<i32>,
    /// Most minutes until it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rto_minutes: Option<i32>,
    /// Name of the Vitistack where it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub target_vitistack: Option<String>,
}
