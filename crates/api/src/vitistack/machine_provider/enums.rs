//! The closed sets of words in a MachineProvider.

use crate::wire_enum::wire_enum;

wire_enum! {
    /// Type of a provider; vmware is the second documented form's name of vsphere.
    ProviderType {
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
        /// VMware vSphere, under its other name.
        Vmware = "vmware",
        /// QEMU on the host that Machinist runs on.
        Qemu = "qemu",
        /// A provider behind the IRI protocol.
        Iri = "iri",
        /// The simulator.
        Sim = "sim",
        /// Apache CloudStack.
        Cloudstack = "cloudstack",
        /// Nutanix AHV.
        Nutanix = "nutanix",
        /// oVirt.
        Ovirt = "ovirt",
    }
}

wire_enum! {
    /// Method of authentication.
    AuthenticationType {
        /// By an API key.
        ApiKey = "apikey",
        /// By an OAuth2 client.
        OAuth2 = "oauth2",
        /// By a client certificate.
        Certificate = "certificate",
        /// By a service account.
        ServiceAccount = "serviceaccount",
        /// A Secret with whatever the platform asks for, in the shipped operators' spelling.
        Credentials = "credentials",
        /// A service account, in the shipped operators' spelling.
        ServiceAccountC = "serviceAccount",
        /// The identity of the instance that Machinist runs on.
        InstanceProfile = "instanceProfile",
        /// An identity that the platform manages.
        ManagedIdentity = "managedIdentity",
        /// A token.
        Token = "token",
    }
}

wire_enum! {
    /// Method of authentication, in the second documented form.
    CredentialsType {
        /// By user name and password.
        Password = "password",
        /// By a token.
        Token = "token",
        /// By a client certificate.
        Certificate = "certificate",
    }
}

wire_enum! {
    /// An operation on a machine.
    Operation {
        /// Making it.
        Create = "create",
        /// Removing it.
        Delete = "delete",
        /// Starting it.
        Start = "start",
        /// Stopping it.
        Stop = "stop",
        /// Restarting it.
        Restart = "restart",
        /// Changing its size.
        Resize = "resize",
    }
}

wire_enum! {
    /// What a network is for.
    NetworkType {
        /// Reachable from outside.
        Public = "public",
        /// Reachable from inside alone.
        Private = "private",
        /// For managing the platform.
        Management = "management",
    }
}

wire_enum! {
    /// Protocol of traffic that a security group lets through.
    Protocol {
        /// TCP.
        Tcp = "tcp",
        /// UDP.
        Udp = "udp",
        /// ICMP.
        Icmp = "icmp",
    }
}

wire_enum! {
    /// Direction of traffic that a security group lets through.
    Direction {
        /// Into the machine.
        Ingress = "ingress",
        /// Out of the machine.
        Egress = "egress",
    }
}

wire_enum! {
    /// Type of a load balancer.
    LoadBalancerType {
        /// Layer 7.
        Application = "application",
        /// Layer 4.
        Network = "network",
        /// The platform's older kind.
        Classic = "classic",
    }
}

wire_enum! {
    /// How a load balancer chooses the next machine.
    Algorithm {
        /// In turn.
        RoundRobin = "round-robin",
        /// The one with the fewest connections.
        LeastConnections = "least-connections",
        /// By the client's address.
        IpHash = "ip-hash",
    }
}

wire_enum! {
    /// How disks of a storage type are replicated.
    Replication {
        /// Not at all.
        None = "none",
        /// RAID 1.
        Raid1 = "raid1",
        /// RAID 5.
        Raid5 = "raid5",
        /// RAID 10.
        Raid10 = "raid10",
    }
}

wire_enum! {
    /// Where backups are kept.
    BackupDestination {
        /// Amazon S3 or a service that speaks its protocol.
        S3 = "s3",
        /// Google Cloud Storage.
        Gcs = "gcs",
        /// Azure Blob Storage.
        AzureBlob = "azure-blob",
        /// The platform's own storage.
        Local = "local",
    }
}

wire_enum! {
    /// Overall state of a provider.
    #[derive(Default)]
    ProviderPhase {
        /// Machines can be made.
        Ready = "Ready",
        /// Machines cannot be made now.
        NotReady = "NotReady",
        /// The provider does not work as configured.
        Error = "Error",
        /// The provider has not been looked at yet.
        #[default]
        Initializing = "Initializing",
        /// Nobody has looked at the provider yet, as the shipped operators say it.
        Pending = "Pending",
        /// The provider cannot be used, as the shipped operators say it.
        Failed = "Failed",
        /// The provider cannot be reached, as the shipped operators say it.
        Offline = "Offline",
    }
}

wire_enum! {
    /// Whether a platform's API can be reached.
    ConnectivityState {
        /// It answers.
        Connected = "Connected",
        /// It does not answer.
        Disconnected = "Disconnected",
        /// It answers with an error.
        Error = "Error",
    }
}

wire_enum! {
    /// Whether a platform accepts the credentials.
    AuthenticationState {
        /// They are accepted.
        Valid = "Valid",
        /// They are refused.
        Invalid = "Invalid",
        /// They are no longer valid.
        Expired = "Expired",
        /// It could not be found out.
        Error = "Error",
    }
}

wire_enum! {
    /// How well a platform answers.
    HealthState {
        /// Everything works.
        Healthy = "Healthy",
        /// Some of it works.
        Degraded = "Degraded",
        /// Nothing works.
        Unhealthy = "Unhealthy",
    }
}
