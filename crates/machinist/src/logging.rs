//! Structured logs on standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::cli::{LogFormat, Logging};

/// Starts logging. A filter that cannot be read is said so, and the default is used.
pub(crate) fn init(logging: &Logging, default: &str) {
    let wanted = logging.log.as_deref().unwrap_or(default);
    let filter = EnvFilter::try_new(wanted).unwrap_or_else(|error| {
        eprintln!("machinist: --log {wanted:?} is not a filter: {error}; logging {default:?}");
        EnvFilter::new(default)
    });
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match logging.log_format {
        LogFormat::Text => subscriber.init(),
        LogFormat::Json => subscriber.json().init(),
    }
}
