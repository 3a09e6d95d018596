//! The shell around the brain: controllers, queues, events, metrics, clock.
