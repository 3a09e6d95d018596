//! The counters of admission webhooks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::Histogram;

/// A webhook that was asked, and what came of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WebhookCall<'a> {
    /// The webhook's name.
    pub(crate) name: &'a str,
    /// `admit` for mutating webhooks, `validating` for the others.
    pub(crate) role: &'static str,
    pub(crate) operation: &'static str,
    /// The code of the answer, 0 when it never came to one.
    pub(crate) code: u16,
    /// What kind of rejection it was, if it was one.
    pub(crate) rejection: Option<&'static str>,
}

#[derive(Debug, Default)]
pub(super) struct Webhooks {
    /// By name, operation, rejected and type.
    durations: BTreeMap<(String, &'static str, bool, &'static str), Histogram>,
    /// By name, operation, type, kind of error and code.
    rejections: BTreeMap<(String, &'static str, &'static str, &'static str, u16), u64>,
}

impl Webhooks {
    pub(super) fn called(&mut self, call: WebhookCall<'_>, took: Duration) {
        let WebhookCall {
            name,
            role,
            operation,
            code,
            rejection,
        } = call;
        let key = (name.to_owned(), operation, rejection.is_some(), role);
        self.durations.entry(key).or_default().observe(took);
        if let Some(kind) = rejection {
            // As upstream: a code above 600 cannot be one of ours.
            let key = (name.to_owned(), operation, role, kind, code.min(600));
            *self.rejections.entry(key).or_default() += 1;
        }
    }

    pub(super) fn render(&self, out: &mut String) {
        let name = "apiserver_admission_webhook_admission_duration_seconds";
        let _ = writeln!(
            out,
            "# HELP {name} Time to ask a webhook, by name, operation and type."
        );
        let _ = writeln!(out, "# TYPE {name} histogram");
        for ((hook, operation, rejected, role), histogram) in &self.durations {
            let labels = format!(
                "name=\"{hook}\",operation=\"{operation}\",rejected=\"{rejected}\",type=\"{role}\""
            );
            histogram.render(out, name, &labels);
        }
        let name = "apiserver_admission_webhook_rejection_count";
        let _ = writeln!(
            out,
            "# HELP {name} Requests that a webhook kept from passing."
        );
        let _ = writeln!(out, "# TYPE {name} counter");
        for ((hook, operation, role, error, code), count) in &self.rejections {
            let _ = writeln!(
                out,
                "{name}{{error_type=\"{error}\",name=\"{hook}\",operation=\"{operation}\",rejection_code=\"{code}\",type=\"{role}\"}} {count}"
            );
        }
    }
}
