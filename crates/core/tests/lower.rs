//! From manifests to the domain model: YAML in, what is wanted out.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod support;

use machinist_core::{
    dialect::vitistack::{ProviderQuery, SecretData, lower, lower_provider, provider_query},
    provider::Access,
};
use support::{MACHINE, PROVIDER, machine, provider};

/// What is wanted, in one line a part.
fn check(machine_yaml: &str, provider_yaml: &str) -> String {
    match lower(&machine(machine_yaml), &provider(provider_yaml)) {
        Err(error) => format!("refused: {error}"),
        Ok(want) => {
            let cpu = want.cpu;
            let mut lines = vec![
                format!(
                    "cpu {}x{}x{} memory {}Mi",
                    cpu.sockets,
                    cpu.cores,
                    cpu.threads,
                    want.memory >> 20
                ),
                format!(
                    "image {:?}",
                    want.image.map(|image| (image.reference, image.checksum))
                ),
                format!(
                    "firmware {:?} power {:?} host {}",
                    want.firmware, want.power, want.init.hostname
                ),
            ];
            lines.extend(want.disks.iter().map(|disk| {
                let size = disk.size.map(|size| size >> 30);
                format!(
                    "disk {} {size:?}Gi {:?} boot={}",
                    disk.name, disk.class, disk.boot
                )
            }));
            lines.extend(want.nics.iter().map(|nic| {
                format!(
                    "nic {} {:?} {:?} {:?} public={}",
                    nic.name, nic.network, nic.address, nic.mac, nic.public
                )
            }));
            lines.join("\n")
        }
    }
}

/// The shortest machine with more in its spec.
fn with(more: &str) -> String {
    format!("{MACHINE}{more}")
}

#[test]
fn the_first_shape() {
    let yaml = with(
        "  cpu: {cores: 4, threadsPerCore: 2, sockets: 2}
  memory: 8589934592
  disks:
  - {name: data, sizeGB: 100, type: st1}
  - {name: root, sizeGB: 20, type: gp3, boot: true}
  network:
    subnet: subnet-1
    assignPublicIP: true
    privateIP: 10.0.1.100
    interfaces: [{name: eth1}, {name: eth0, primary: true, subnet: subnet-2}]
",
    );
    insta::assert_snapshot!(check(&yaml, PROVIDER), @r#"
    cpu 2x4x2 memory 8192Mi
    image Some(("debian-12", None))
    firmware Default power On host m
    disk root Some(20)Gi Some("gp3") boot=true
    disk data Some(100)Gi Some("st1") boot=false
    nic eth0 Some("subnet-2") Some("10.0.1.100") None public=true
    nic eth1 Some("subnet-1") None None public=false
    "#);
}

#[test]
fn the_second_shape() {
    let yaml = "
metadata: {name: web-01, namespace: default}
spec:
  providerRef: {name: local}
  powerState: Stopped
  resources:
    cpu: {cores: 2}
    memory: {size: 1536Mi}
  storage:
    rootVolume: {size: 20Gi, type: ssd}
    dataVolumes: [{name: db, size: 1Ti, storageClass: fast}]
  networking:
    interfaces: [{name: lan, networkRef: {name: prod}, ipAddress: 10.1.0.4, macAddress: '52:54:00:00:00:01'}]
  operatingSystem:
    type: linux
    image: {source: cloud-image, url: 'https://images.example/d.qcow2#sha256=00ff'}
  boot: {firmware: {type: uefi, secureBoot: true}}
";
    insta::assert_snapshot!(check(yaml, PROVIDER), @r#"
    cpu 1x2x1 memory 1536Mi
    image Some(("https://images.example/d.qcow2", Some("sha256:00ff")))
    firmware Uefi { secure_boot: true } power Off host web-01
    disk root Some(20)Gi Some("ssd") boot=true
    disk db Some(1024)Gi Some("fast") boot=false
    nic lan Some("prod") Some("10.1.0.4") Some("52:54:00:00:00:01") public=false
    "#);
}

#[test]
fn sizes_come_from_templates_and_defaults() {
    let templates =
        format!("{PROVIDER}  templates: [{{name: small, resources: {{cpu: 2, memory: 4Gi}}}}]\n")
            .replace(
                "spec: {type: qemu, region: local}\n",
                "spec:\n  type: qemu\n  region: local\n",
            );
    assert!(check(MACHINE, &templates).starts_with("cpu 1x2x1 memory 4096Mi"));
    let agreeing = with("  cpu: {cores: 2}\n");
    assert!(check(&agreeing, &templates).starts_with("cpu 1x2x1 memory 4096Mi"));
    let conflict = check(&with("  cpu: {cores: 3}\n"), &templates);
    assert_eq!(
        conflict,
        "refused: spec.cpu: 3: the provider's template \"small\" says 2; keep one of the two, or make them agree"
    );
    let defaults = PROVIDER.replace(
        "region: local",
        "region: local, computeConfig: {defaultCPU: '1.5', defaultMemoryGB: '0.5'}",
    );
    assert!(check(MACHINE, &defaults).starts_with("cpu 1x2x1 memory 512Mi"));
    assert!(check(MACHINE, PROVIDER).starts_with("cpu 1x1x1 memory 1024Mi"));
}

#[test]
fn images_are_found_by_name_or_description() {
    let images = PROVIDER.replace(
        "region: local",
        "region: local, capabilities: {availableImages: [{name: debian-12-cloud, id: /images/d12.qcow2, version: '12'}]}",
    );
    let named = MACHINE.replace("imageID: debian-12", "imageID: debian-12-cloud");
    assert!(check(&named, &images).contains("image Some((\"/images/d12.qcow2\", None))"));
    let described = MACHINE.replace(", imageID: debian-12", "");
    assert!(check(&described, &images).contains("/images/d12.qcow2"));
    let missing = check(&described, PROVIDER);
    assert!(
        missing.starts_with(
            "refused: spec.os.imageID: not set: no image of the provider is debian 12"
        ),
        "{missing}"
    );
}

#[test]
fn a_machine_says_which_provider_it_means() {
    let by_type = provider_query(&machine(MACHINE)).expect("a provider");
    assert!(by_type.matches(&provider(PROVIDER)));
    assert_eq!(by_type.namespaces("team-a"), ["team-a", "vitistack-system"]);
    let elsewhere = PROVIDER.replace("region: local", "region: north");
    assert!(!by_type.matches(&provider(&elsewhere)));
    let by_name = "metadata: {name: m}\nspec: {providerRef: {name: local, namespace: infra}}";
    let by_name = provider_query(&machine(by_name)).expect("a provider");
    assert_eq!(by_name.namespaces("team-a"), ["infra"]);
    assert!(matches!(by_name, ProviderQuery::Named { .. }));
    let any = provider_query(&machine("metadata: {name: m}\nspec: {}")).expect("any provider");
    assert!(any.matches(&provider(PROVIDER)) && any.matches(&provider(&elsewhere)));
    assert!(provider_query(&machine("metadata: {name: m}\nspec: {providerRef: {}}")).is_err());
}

#[test]
fn a_provider_declares_how_long_a_call_may_take() {
    let timeout = |yaml: &str| {
        let spec = lower_provider(&provider(yaml), Access::Opaque, &SecretData::new());
        spec.timeout.map(|limit| limit.as_millis())
    };
    let with =
        |config: &str| PROVIDER.replace("region: local", &format!("region: local, {config}"));
    assert_eq!(timeout(PROVIDER), None);
    assert_eq!(timeout(&with("config: {timeout: 30s}")), Some(30_000));
    assert_eq!(timeout(&with("config: {timeout: 1m30s}")), Some(90_000));
    assert_eq!(timeout(&with("config: {timeout: 1.5h}")), Some(5_400_000));
    assert_eq!(timeout(&with("endpoint: {timeout: 500ms}")), Some(500));
}
