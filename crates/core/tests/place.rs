//! The scheduler, case by case: YAML in, the choice and its reasons out.
#![allow(clippy::expect_used, reason = "a failed assumption is a failed test")]

mod support;

use machinist_core::{
    dialect::vitistack::{demand, offer, provider_query, take},
    place::{Demand, Offer, Placement, SiteName, Sites, Standing, Take},
};
use support::{machine, provider};

const HEALTHY: Standing = Standing::Ready(100);

/// The reason why a provider with this in its spec is not chosen for a machine with this in its
/// own, or `chosen`.
fn check(machine_spec: &str, provider_spec: &str) -> String {
    let machine = machine(&format!(
        "metadata: {{name: m, namespace: default}}\nspec: {{{machine_spec}}}"
    ));
    let provider = provider(&format!(
        "metadata: {{name: p, namespace: default}}\nspec: {{type: qemu, region: local, {provider_spec}}}"
    ));
    let query = provider_query(&machine).expect("a query");
    let demand = demand(&machine, &query);
    let mut sites = Sites::default();
    sites.offer(site("default", "p"), offer(&provider, HEALTHY, None));
    let placement = sites.choose("uid", &demand, &query.namespaces("default"), |_| Ok(()));
    match placement.rejected.as_slice() {
        [rejected] => rejected.reason.say(&demand),
        _ => "chosen".into(),
    }
}

fn site(namespace: &str, name: &str) -> SiteName {
    (namespace.to_owned(), name.to_owned())
}

#[test]
fn what_is_not_offered_is_said_by_name() {
    let linux = "os: {family: linux, distribution: debian, version: '12', imageID: debian-12}";
    let cases = [
        ("", "", "chosen"),
        (
            "providerConfig: {name: aws, region: local}",
            "",
            "is of type qemu, not aws",
        ),
        (
            "providerConfig: {name: qemu, region: north}",
            "",
            "is in region local, not north",
        ),
        (
            "providerConfig: {name: qemu, region: local, zone: c}",
            "availabilityZones: [a, b]",
            "does not offer zone c",
        ),
        (
            "",
            "capabilities: {supportedOperations: [start, stop]}",
            "does not offer to create machines",
        ),
        (
            "powerState: Stopped",
            "capabilities: {supportedOperations: [create]}",
            "does not offer to stop machines",
        ),
        (
            linux,
            "capabilities: {supportedOSTypes: [Windows]}",
            "does not offer linux",
        ),
        (linux, "capabilities: {supportedOSTypes: [Linux]}", "chosen"),
        (
            "os: {architecture: x86_64}",
            "computeConfig: {cpuOptions: {supportedArchitectures: [arm64]}}",
            "does not offer architecture amd64",
        ),
        (
            "os: {architecture: amd64}",
            "computeConfig: {cpuOptions: {supportedArchitectures: [x86_64]}}",
            "chosen",
        ),
        (
            "instanceType: huge",
            "capabilities: {supportedInstanceTypes: [small]}",
            "does not offer instance type huge",
        ),
        (
            "instanceType: huge",
            "capabilities: {supportedInstanceTypes: [small]}, templates: [{name: huge}]",
            "chosen",
        ),
        (
            linux,
            "capabilities: {availableImages: [{name: ubuntu, id: img-1}]}",
            "does not offer image debian-12",
        ),
        (
            "os: {imageID: 'https://example.com/a.qcow2'}",
            "capabilities: {availableImages: [{name: ubuntu, id: img-1}]}",
            "chosen",
        ),
        (
            "network: {subnet: blue}",
            "networkConfig: {availableNetworks: [{id: net-1, name: red}]}",
            "does not offer network blue",
        ),
        (
            "cpu: {cores: 8}",
            "computeConfig: {maxCPU: '4'}",
            "offers 4 processors at most, not 8",
        ),
        (
            "instanceType: huge",
            "computeConfig: {maxCPU: '4'}, templates: [{name: huge, resources: {cpu: 16}}]",
            "offers 4 processors at most, not 16",
        ),
        (
            "resources: {memory: {size: 2Gi}}",
            "computeConfig: {maxMemoryGB: '1.0'}",
            "offers 1073741824 bytes of memory at most, not 2147483648",
        ),
        (
            "disks: [{name: a, sizeGB: 2}, {name: b, sizeGB: 3}]",
            "storage: {maxStorageGB: 4}",
            "offers 4294967296 bytes of storage at most, not 5368709120",
        ),
        (
            "resources: {gpu: {count: 1}}",
            "",
            "offers 0 GPUs at most, not 1",
        ),
        (
            "resources: {gpu: {count: 1}}",
            "computeConfig: {gpuSupport: {enabled: true}}",
            "chosen",
        ),
        (
            "",
            "capacity: {maxMachines: 0}",
            "has 0 machines, which is all that it may have",
        ),
    ];
    for (machine, provider, expected) in cases {
        assert_eq!(
            check(machine, provider),
            expected,
            "{machine} on {provider}"
        );
    }
}

#[test]
fn labels_ask_for_a_region_and_a_zone_where_the_spec_does_not() {
    let machine = machine(
        "metadata: {name: m, labels: {topology.kubernetes.io/region: north, topology.kubernetes.io/zone: a}}\nspec: {}",
    );
    let query = provider_query(&machine).expect("a query");
    let demand = demand(&machine, &query);
    assert_eq!(demand.region.as_deref(), Some("north"));
    assert_eq!(demand.zone.as_deref(), Some("a"));
}

#[test]
fn a_machine_takes_what_its_platform_says_or_what_it_declares() {
    let declared = "metadata: {name: m}\nspec: {cpu: {cores: 2, sockets: 2}, memory: 1024, storage: {rootVolume: {size: 1Gi}}}";
    let size = Take {
        cpus: 4,
        memory: 1024,
        storage: 1 << 30,
    };
    assert_eq!(take(&machine(declared)), size);
    let seen = format!(
        "{declared}\nstatus: {{cpus: 8, memory: 2048, disks: [{{name: root, sizeGB: 3}}]}}"
    );
    let size = Take {
        cpus: 8,
        memory: 2048,
        storage: 3 << 30,
    };
    assert_eq!(take(&machine(&seen)), size);
}

#[test]
fn the_last_word_is_a_reason_like_any_other() {
    let mut sites = Sites::default();
    for name in ["a", "b"] {
        sites.offer(site("n", name), open(HEALTHY));
    }
    let demand = Demand::default();
    let placement = sites.choose("m", &demand, &["n"], |name| match name.1.as_str() {
        "a" => Err("no such image".into()),
        _ => Ok(()),
    });
    assert_eq!(chosen(&placement), Some(site("n", "b")));
    let words =
        "MachineProvider n/b was chosen, with 700 points. n/a cannot carry it out: no such image.";
    assert_eq!(placement.explain(&demand, 500), words);
}

#[test]
fn many_reasons_are_cut_and_counted() {
    let mut sites = Sites::default();
    for number in 0..100 {
        sites.offer(site("n", &format!("p{number:02}")), open(Standing::Leaving));
    }
    let demand = Demand::default();
    let placement = sites.choose("m", &demand, &["n"], |_| Ok(()));
    let text = placement.explain(&demand, 200);
    assert!(text.len() <= 200, "{}", text.len());
    assert!(
        text.starts_with("No MachineProvider fits. n/p00 is being deleted; n/p01"),
        "{text}"
    );
    assert!(text.ends_with("more."), "{text}");
    assert_eq!(placement.word(), "ProviderLeaving");
}

fn open(standing: Standing) -> Offer {
    Offer {
        namespace: "n".into(),
        platform: "sim".into(),
        standing,
        ..Offer::default()
    }
}

fn chosen(placement: &Placement) -> Option<SiteName> {
    placement
        .chosen
        .as_ref()
        .map(|chosen| (*chosen.site).clone())
}
