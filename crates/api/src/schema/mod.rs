//! What schemars cannot say by itself: Kubernetes' extensions, formats and CEL rules.
//!
//! Each function is a transform that a field or struct names in its `schemars` attribute.

mod formats;
mod rule;

pub(crate) use formats::{
    cidr, cron, decimal, duration, free_object, ip, mac, memory_size, port_range, positive_decimal,
    quantity, string_map, url, volume_size,
};
pub(crate) use rule::{Rule, add_rules};
