//! Whether the engine has begun to work: its first look at every kind is complete.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Shared with whoever is asked how the engine is; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Readiness(Arc<Listed>);

#[derive(Debug, Default)]
struct Listed {
    machines: AtomicBool,
    providers: AtomicBool,
}

impl Readiness {
    /// Whether every controller has begun to work.
    pub fn is_ready(&self) -> bool {
        self.knows_providers() && self.0.machines.load(Ordering::Acquire)
    }

    /// Whether a provider that is not in the view does not exist.
    pub(crate) fn knows_providers(&self) -> bool {
        self.0.providers.load(Ordering::Acquire)
    }

    pub(crate) fn machines_are_listed(&self) {
        self.0.machines.store(true, Ordering::Release);
    }

    pub(crate) fn providers_are_listed(&self) {
        self.0.providers.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_only_when_every_kind_was_listed() {
        let readiness = Readiness::default();
        let asked = readiness.clone();
        assert!(!asked.is_ready());
        readiness.providers_are_listed();
        assert!(asked.knows_providers() && !asked.is_ready());
        readiness.machines_are_listed();
        assert!(asked.is_ready());
    }
}
