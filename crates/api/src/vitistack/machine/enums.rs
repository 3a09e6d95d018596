//! The closed sets of words in a Machine.
//!
//! Which of them a platform supports is left to the providers.

use crate::wire_enum::wire_enum;

wire_enum! {
    /// A platform that machines run on, as a Machine names it.
    Platform {
        /// Amazon EC2.
        Aws = "aws",
        /// Azure virtual machines.
        Azure = "azure",
        /// Google Compute Engine.
        Gcp = "gcp",
        /// VMware vSphere.
        Vsphere = "vsphere",
        /// OpenStack.
        Openstack = "openstack",
        /// libvirt.
        Libvirt = "libvirt",
        /// Proxmox VE.
        Proxmox = "proxmox",
        /// KubeVirt.
        Kubevirt = "kubevirt",
        /// QEMU on the host that Machinist runs on.
        Qemu = "qemu",
        /// A provider behind the IRI protocol.
        Iri = "iri",
        /// The simulator.
        Sim = "sim",
    }
}

wire_enum! {
    /// Whether a machine should be running.
    #[derive(Default)]
    PowerState {
        /// The machine should run.
        #[default]
        Running = "Running",
        /// The machine should be stopped and kept.
        Stopped = "Stopped",
    }
}

wire_enum! {
    /// Where a machine is in its life.
    #[derive(Default)]
    MachinePhase {
        /// The resource was created and waits to be processed.
        #[default]
        Pending = "Pending",
        /// The provider is making the machine.
        Creating = "Creating",
        /// The machine is running and ready.
        Running = "Running",
        /// The machine is being stopped.
        Stopping = "Stopping",
        /// The machine is stopped but not terminated.
        Stopped = "Stopped",
        /// The machine is being terminated.
        Terminating = "Terminating",
        /// The machine has been terminated.
        Terminated = "Terminated",
        /// Making or operating the machine failed.
        Failed = "Failed",
    }
}

wire_enum! {
    /// Family of an operating system.
    OsFamily {
        /// Linux.
        Linux = "linux",
        /// Windows.
        Windows = "windows",
    }
}

wire_enum! {
    /// Type of an operating system, in the second documented form.
    OsType {
        /// Linux.
        Linux = "linux",
        /// Windows.
        Windows = "windows",
        /// FreeBSD.
        Freebsd = "freebsd",
    }
}

wire_enum! {
    /// CPU architecture of a machine; amd64 and x86_64 are two names of one.
    Architecture {
        /// 64-bit x86.
        Amd64 = "amd64",
        /// 64-bit Arm.
        Arm64 = "arm64",
        /// 64-bit x86, under its other name.
        X86_64 = "x86_64",
    }
}

wire_enum! {
    /// Maker of a GPU.
    GpuType {
        /// NVIDIA.
        Nvidia = "nvidia",
        /// AMD.
        Amd = "amd",
        /// Intel.
        Intel = "intel",
    }
}

wire_enum! {
    /// Kind of medium that a volume is made on.
    VolumeType {
        /// Solid-state disk.
        Ssd = "ssd",
        /// Hard disk.
        Hdd = "hdd",
        /// Solid-state disk on NVMe.
        Nvme = "nvme",
    }
}

wire_enum! {
    /// What kind of image a machine is made from.
    ImageSource {
        /// An installation medium.
        Iso = "iso",
        /// A template of the platform.
        Template = "template",
        /// A cloud image.
        CloudImage = "cloud-image",
    }
}

wire_enum! {
    /// A device that a machine can start from.
    BootDevice {
        /// A disk.
        Disk = "disk",
        /// The network.
        Network = "network",
        /// A CD-ROM.
        Cdrom = "cdrom",
    }
}

wire_enum! {
    /// Firmware of a machine.
    FirmwareType {
        /// BIOS.
        Bios = "bios",
        /// UEFI.
        Uefi = "uefi",
    }
}

wire_enum! {
    /// How first-boot data reaches a guest.
    CloudInitType {
        /// A volume that is labelled as NoCloud wants it.
        NoCloud = "noCloud",
        /// A volume in the form of OpenStack's config drive.
        ConfigDrive = "configDrive",
    }
}

wire_enum! {
    /// How an interface is attached to the host's network.
    InterfaceType {
        /// A port of a bridge.
        Bridge = "bridge",
        /// A MAC address of its own on the host's interface.
        Macvlan = "macvlan",
        /// An IP address of its own on the host's interface.
        Ipvlan = "ipvlan",
    }
}

wire_enum! {
    /// Where the address of an interface comes from.
    AddressSource {
        /// It is written down.
        Static = "static",
        /// A DHCP server gives it.
        Dhcp = "dhcp",
    }
}
