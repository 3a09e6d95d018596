//! Unstructured conversion: a typed object becomes a `DynamicObject` and back, and an error names
//! the field. It needs no server.

use kube::core::DynamicObject;
use machinist_api::{
    build,
    convert::convert,
    unstructured::{from_unstructured, to_unstructured},
    vitistack::{
        Machine, MachineSpec,
        machine::{Disk, ProviderRef},
    },
};
use serde_json::json;

fn main() -> anyhow::Result<()> {
    let machine = Machine::new(
        "unstructured",
        build!(MachineSpec {
            provider_ref: build!(ProviderRef { name: "local" }),
            memory: 4_i64 << 30,
            disks: [build!(Disk {
                name: "root",
                size_gb: 20
            })],
        }),
    );

    // Typed to unstructured, and back.
    let mut dynamic: DynamicObject = to_unstructured(&machine)?;
    let typed: Machine = from_unstructured(&dynamic)?;
    assert_eq!(typed, machine);

    // What does not fit is named by its path.
    dynamic.data["spec"]["disks"][0]["sizeGB"] = json!("twenty");
    let refused = from_unstructured::<Machine>(&dynamic).map_err(|error| error.to_string());
    println!("{refused:?}");
    assert!(refused.is_err_and(|why| why.starts_with("spec.disks[0].sizeGB: ")));

    // The same object in the other version.
    let beta = convert(&serde_json::to_value(&machine)?, "vitistack.io/v1beta1")?;
    println!("{}", serde_json::to_string_pretty(&beta["spec"])?);
    assert_eq!(beta["spec"]["resources"]["memory"], "4Gi");
    Ok(())
}
