//! Options of a machine that stand on their own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

/// When a machine is backed up and how long backups are kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    /// Whether the machine is backed up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// When backups are made, as a cron expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = schema::cron)]
    pub schedule: Option<String>,
    /// Days that a backup is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub retention_days: Option<i32>,
}
