//! What schemars cannot say by itself: Kubernetes' extensions, formats and CEL rules.
//!
//! Each function is a transform that a field or struct names in its `schemars` attribute.

mod addresses;
mod amounts;
mod formats;
mod identifiers;
mod rule;
mod transition;

pub(crate) use addresses::{domain, domains, ip_or_cidr, ipv4_cidr};
pub(crate) use amounts::{
    amount, positive_amount, positive_entries, positive_if_given, resource_list,
};
pub(crate) use formats::{
    base64, cidr, cidrs, cron, decimal, duration, free_object, free_objects, ip, ips, mac,
    memory_size, open_object, port, port_range, positive_decimal, quantity, string_map, url,
    volume_size,
};
pub(crate) use identifiers::{
    label_key, label_name, label_reference, label_values, labels, object_name, object_names,
    ssh_public_key,
};
pub(crate) use rule::{Rule, add_rules, root_message};
pub(crate) use transition::{
    immutable, label, metadata_name, never_smaller, set_once, set_once_text,
};
