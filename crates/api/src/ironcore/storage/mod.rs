//! `storage.ironcore.dev`: volumes, the classes they come in, the pools they are kept in, snapshots.

mod volume;
mod volume_class;
mod volume_pool;
mod volume_snapshot;

pub use volume::{
    OsImage, Volume, VolumeAccess, VolumeDataSource, VolumeEncryption, VolumeSpec, VolumeState,
    VolumeStatus, VolumeTemplate,
};
pub use volume_class::{ResizePolicy, VolumeClass, VolumeClassCapabilities};
pub use volume_pool::{VolumePool, VolumePoolSpec, VolumePoolState, VolumePoolStatus};
pub use volume_snapshot::{
    VolumeSnapshot, VolumeSnapshotSpec, VolumeSnapshotState, VolumeSnapshotStatus,
};

/// API group of these kinds.
pub const GROUP: &str = "storage.ironcore.dev";
