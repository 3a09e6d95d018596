//! What the figures were measured on, and how busy it was: nothing that names the machine.

use std::{fmt, fs};

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The machine before the measurements.
#[derive(Debug)]
pub(super) struct Host {
    processor: String,
    cores: usize,
    memory: u64,
    load: f64,
}

/// The machine, with its load before and after.
#[derive(Debug)]
pub(super) struct Measured {
    host: Host,
    load: f64,
    at: Timestamp,
}

impl Host {
    pub(super) fn look() -> Result<Host> {
        let processors = read("/proc/cpuinfo")?;
        let memory = read("/proc/meminfo")?;
        Ok(Host {
            processor: field(&processors, "model name").unwrap_or("unknown").into(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: kibibytes(&memory, "MemTotal").unwrap_or_default(),
            load: load()?,
        })
    }

    pub(super) fn ended(self) -> Result<Measured> {
        Ok(Measured {
            host: self,
            load: load()?,
            at: Timestamp::now(),
        })
    }
}

impl Measured {
    pub(super) fn json(&self) -> Value {
        json!({
            "at": self.at.to_string(),
            "processor": self.host.processor,
            "cores": self.host.cores,
            "memoryMebibytes": self.host.memory / 1024,
            "loadBefore": self.host.load,
            "loadAfter": self.load,
        })
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Host {
            processor,
            cores,
            memory,
            load,
        } = &self.host;
        let gibibytes = memory.div_ceil(1 << 20);
        write!(
            f,
            "{cores} cores of {processor}, {gibibytes} GiB; load {load:.2} before, {:.2} after; {:.0}",
            self.load, self.at
        )
    }
}

/// The load of the last minute.
fn load() -> Result<f64> {
    let text = read("/proc/loadavg")?;
    let first = text.split_whitespace().next().unwrap_or_default();
    first.parse().context("/proc/loadavg begins with no number")
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {path}"))
}

/// The value of the first `name: value` line.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

/// The number of a `name: number kB` line.
pub(super) fn kibibytes(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        let text = "Pss_Anon:  7 kB\nPss:      1234 kB\nmodel name\t: A Processor\n";
        assert_eq!(kibibytes(text, "Pss"), Some(1234));
        assert_eq!(kibibytes(text, "VmRSS"), None);
        assert_eq!(field(text, "model name"), Some("A Processor"));
    }
}
