//! What schemars cannot say by itself: Kubernetes' extensions, formats and CEL rules.
//!
//! Each function is a transform that a field or struct names in its `schemars` attribute.

mod amounts;
mod formats;
mod identifiers;
mod rule;
mod transition;

pub(crate) use amounts::{amount, positive_amount};
pub(crate) use formats::{
    cidr, cron, decimal, duration, free_object, ip, mac, memory_size, port_range, positive_decimal,
    quantity, string_map, url, volume_size,
};
pub(crate) use identifiers::{object_name, object_names, ssh_public_key};
pub(crate) use rule::{Rule, add_rules};
pub(crate) use transition::{metadata_name, never_smaller, set_once};
