//! What schemars cannot say by itself: Kubernetes' extensions, formats and CEL rules.
//!
//! Each function is a transform that a field or struct names in its `schemars` attribute.

mod formats;
mod rule;

pub(crate) use formats::{
    base64, cidr, cron, decimal, duration, free_object, free_objects, ip, mac, memory_size,
    open_object, port_range, positive_decimal, quantity, string_map, url, volume_size,
};
pub(crate) use rule::{Rule, add_rules};
