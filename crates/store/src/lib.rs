//! A revisioned key-value store with watches, in memory or on disk.
