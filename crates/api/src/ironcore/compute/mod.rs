//! `compute.ironcore.dev`: machines, the classes they come in, the pools they run in.

mod machine;
mod machine_class;
mod machine_pool;
mod rules;
mod volumes;

pub use machine::{
    AttachmentState, EfiVar, EphemeralNetworkInterface, GuestConfig, Machine,
    MachineNetworkInterface, MachineNetworkInterfaceStatus, MachineSpec, MachineState,
    MachineStatus, MachineVolumeStatus, Power,
};
pub use machine_class::{MachineClass, MachineClassCapabilities};
pub use machine_pool::{
    MachinePool, MachinePoolAddress, MachinePoolAddressType, MachinePoolDaemonEndpoints,
    MachinePoolEndpoint, MachinePoolSpec, MachinePoolState, MachinePoolStatus,
};
pub use volumes::{EmptyDisk, EphemeralVolume, LocalDisk, MachineVolume};

/// API group of these kinds.
pub const GROUP: &str = "compute.ironcore.dev";
/// Key in a Secret under which a machine's ignition is looked for unless another is given.
pub const DEFAULT_IGNITION_KEY: &str = "ignition.yaml";
