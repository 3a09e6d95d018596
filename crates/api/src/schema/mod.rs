//! What schemars cannot say by itself: Kubernetes' extensions, formats and CEL rules.
//!
//! Each function is a transform that a field or struct names in its `schemars` attribute.

mod amounts;
mod formats;
mod identifiers;
mod rule;
mod transition;

pub(crate) use amounts::{
    amount, positive_amount, positive_entries, positive_if_given, resource_list,
};
pub(crate) use formats::{
    cidr, cidrs, cron, decimal, duration, free_object, ip, ips, mac, memory_size, port_range,
    positive_decimal, quantity, string_map, url, volume_size,
};
pub(crate) use identifiers::{
    label_key, label_name, label_reference, label_values, labels, object_name, object_names,
    ssh_public_key,
};
pub(crate) use rule::{Rule, add_rules};
pub(crate) use transition::{immutable, metadata_name, never_smaller, set_once, set_once_text};
