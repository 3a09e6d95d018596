//! Typed use: a Machine as a Rust value, made with `build!`, written and read with `kube::Api`.
//!
//! `cargo run -p machinist --example typed` runs against a server of its own in memory; with
//! `KUBECONFIG` set, against the cluster that it names.

#[path = "support/client.rs"]
mod client;

use kube::{Api, ResourceExt as _, api::PostParams};
use machinist_api::{
    build,
    build::Described as _,
    vitistack::v1beta1::{
        Machine, MachineSpec,
        machine::{Cpu, Disk, DiskRole, Image, Interface, PowerState, ProviderRef, Resources},
    },
};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let machines: Api<Machine> = Api::namespaced(client::client().await?, "default");
    let machine = Machine::new(
        "typed",
        build!(MachineSpec {
            provider_ref: build!(ProviderRef { name: "local" }),
            resources: build!(Resources {
                cpu: build!(Cpu { cores: 2 }),
                memory: "4Gi",
            }),
            disks: [
                build!(Disk {
                    name: "root",
                    role: DiskRole::Boot,
                    size: "20Gi"
                }),
                build!(Disk {
                    name: "data",
                    size: "100Gi",
                    mount_path: "/var/lib/data"
                }),
            ],
            interfaces: [build!(Interface {
                name: "eth0",
                primary: true
            })],
            image: build!(Image {
                url: "https://images.example.com/jammy.img"
            }),
            power_state: PowerState::Running,
            tags: [("team", "platform")],
        }),
    )
    .labelled("tier", "front");
    machines.create(&PostParams::default(), &machine).await?;
    let read = machines.get("typed").await?;
    println!("{} in {:?}:", read.name_any(), read.namespace());
    for disk in &read.spec.disks {
        println!(
            "  {} of {}",
            disk.name,
            disk.size.as_deref().unwrap_or("any size")
        );
    }
    assert_eq!(read.spec, machine.spec);
    machines.delete("typed", &Default::default()).await?;
    Ok(())
}
