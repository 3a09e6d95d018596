//! QEMU's command line for a machine: a pure function of its record.
//!
//! Every file is named relative to the machine's directory, which is QEMU's working
//! directory: no path of this host needs quoting, and none is too long for a socket.

use std::ffi::OsString;

use super::{
    agent,
    config::Accelerator,
    disk, firmware,
    network::Interface,
    process::PID_FILE,
    qmp,
    record::{AskedDisk, Plug, Record},
    seed,
};

/// Where the guest's serial console can be attached to.
const SERIAL_SOCKET: &str = "serial.sock";
/// What the guest wrote to its serial console since it was started.
pub(super) const SERIAL_LOG: &str = "serial.log";
/// Free slots for devices that are attached while the guest runs.
pub(super) const SPARE_PORTS: u32 = 8;

/// The arguments, without the program.
pub(super) fn arguments(
    record: &Record,
    interfaces: &[Interface],
    accelerator: Accelerator,
) -> Vec<OsString> {
    let mut line = Line(Vec::new());
    identity(&mut line, record);
    platform(&mut line, record, accelerator);
    control(&mut line);
    disks(&mut line, record);
    for (place, interface) in interfaces.iter().enumerate() {
        let forwarded = record.ssh_port.filter(|_| place == 0);
        nic(&mut line, interface, forwarded);
    }
    line.device("virtio-rng-pci,id=rng0");
    line.device("pvpanic");
    for port in 1..=SPARE_PORTS {
        line.device(&format!("pcie-root-port,id=spare{port},chassis={port}"));
    }
    line.0
}

struct Line(Vec<OsString>);

impl Line {
    fn option(&mut self, name: &str, value: &str) {
        self.0.push(name.into());
        self.0.push(value.into());
    }

    fn flag(&mut self, name: &str) {
        self.0.push(name.into());
    }

    fn device(&mut self, value: &str) {
        self.option("-device", value);
    }
}

fn identity(line: &mut Line, record: &Record) {
    // A comma ends a value; two stand for one.
    let name = format!("{}/{}", record.namespace, record.name).replace(',', ",,");
    line.option("-name", &format!("guest={name},debug-threads=on"));
    line.option("-uuid", &record.uuid);
    let serial = format!("{}/{}", record.cluster, record.machine);
    line.option(
        "-smbios",
        &format!("type=1,manufacturer=Machinist,product=Machine,serial={serial}"),
    );
}

fn platform(line: &mut Line, record: &Record, accelerator: Accelerator) {
    let asked = &record.asked;
    line.flag("-nodefaults");
    line.flag("-no-user-config");
    let smm = if asked.secure_boot { "on" } else { "off" };
    line.option("-machine", &format!("q35,vmport=off,hpet=off,smm={smm}"));
    match accelerator {
        Accelerator::Kvm => {
            line.option("-accel", "kvm");
            line.option("-cpu", "host");
        }
        Accelerator::Tcg | Accelerator::Auto => {
            // The default translation cache grows to a gigabyte; this size costs no time.
            line.option("-accel", "tcg,thread=multi,tb-size=32");
            line.option("-cpu", "max");
        }
    }
    let count = asked.sockets * asked.cores * asked.threads;
    line.option(
        "-smp",
        &format!(
            "cpus={count},sockets={},cores={},threads={}",
            asked.sockets, asked.cores, asked.threads
        ),
    );
    line.option("-m", &format!("size={}K", asked.memory.div_ceil(1024)));
    line.option("-rtc", "base=utc");
    line.option("-display", "none");
    line.option("-pidfile", PID_FILE);
    line.option("-msg", "timestamp=on");
    // The guest's own policy decides what follows a panic; the event is enough for us.
    line.option("-action", "panic=none");
    if asked.uefi {
        if asked.secure_boot {
            line.option("-global", "driver=cfi.pflash01,property=secure,value=on");
        }
        line.option(
            "-drive",
            &format!(
                "if=pflash,unit=0,format=raw,readonly=on,file={}",
                firmware::CODE
            ),
        );
        line.option(
            "-drive",
            &format!("if=pflash,unit=1,format=raw,file={}", firmware::VARIABLES),
        );
    }
}

fn control(line: &mut Line) {
    for (id, path) in [("qmp", qmp::COMMANDS), ("events", qmp::EVENTS)] {
        line.option(
            "-chardev",
            &format!("socket,id={id},path={path},server=on,wait=off"),
        );
        line.option("-mon", &format!("chardev={id},mode=control"));
    }
    line.option(
        "-chardev",
        &format!("socket,id=serial,path={SERIAL_SOCKET},server=on,wait=off,logfile={SERIAL_LOG}"),
    );
    line.option("-serial", "chardev:serial");
    line.device("virtio-serial-pci,id=channels");
    line.option(
        "-chardev",
        &format!("socket,id=agent,path={},server=on,wait=off", agent::SOCKET),
    );
    line.device("virtserialport,chardev=agent,name=org.qemu.guest_agent.0");
}

fn disks(line: &mut Line, record: &Record) {
    // What is half-way in or out is brought to its end while the guest runs.
    let there = record.asked.disks.iter();
    for asked in there.filter(|disk| disk.plug == Plug::In) {
        let slot = asked.slot();
        let file = disk::file_name(slot);
        line.option(
            "-blockdev",
            &format!("driver=qcow2,node-name=disk{slot},discard=unmap,file.driver=file,file.filename={file}"),
        );
        line.device(&format!(
            "virtio-blk-pci,id=disk{slot},drive=disk{slot},serial={},bootindex={}",
            serial(asked),
            u32::from(slot) + 1
        ));
    }
    if record.asked.seed {
        line.option(
            "-blockdev",
            &format!(
                "driver=raw,node-name=seed,read-only=on,file.driver=file,file.filename={}",
                seed::FILE
            ),
        );
        line.device("virtio-blk-pci,id=seed,drive=seed,serial=cidata");
    }
}

/// What the guest sees as the disk's serial number: at most twenty bytes.
pub(super) fn serial(asked: &AskedDisk) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let serial: String = asked.name.chars().filter(plain).take(20).collect();
    match serial.is_empty() {
        true => format!("disk{}", asked.slot()),
        false => serial,
    }
}

fn nic(line: &mut Line, interface: &Interface, ssh_port: Option<u16>) {
    let place = interface.slot;
    let forward = ssh_port.map_or_else(String::new, |port| {
        format!(",hostfwd=tcp:127.0.0.1:{port}-{}:22", interface.address)
    });
    // Its IPv6 prefix is the same for every guest, so an address of it would say nothing.
    line.option(
        "-netdev",
        &format!(
            "user,id=net{place},ipv6=off,net={},dhcpstart={}{forward}",
            interface.network, interface.address
        ),
    );
    // Without its boot ROM the card needs no extra package, and the guest loses no time to PXE.
    line.device(&format!(
        "virtio-net-pci,id=nic{place},netdev=net{place},mac={},romfile=",
        interface.mac
    ));
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use machinist_core::machine::{Firmware, MachineKey};

    use super::*;
    use crate::conformance::smallest_want;

    fn line(accelerator: Accelerator) -> Vec<String> {
        let key = MachineKey::new("cluster", "11111111-2222-4333-8444-555555555555").unwrap();
        let mut want = smallest_want("a,b");
        want.disks.push(machinist_core::machine::Disk {
            name: "data with a very long, odd name".to_owned(),
            ..want.disks[0].clone()
        });
        want.cpu.cores = 3;
        want.firmware = Firmware::Uefi { secure_boot: false };
        let mut record = Record::new(&key, &want, None);
        record.ssh_port = Some(2222);
        let interface = Interface {
            slot: 0,
            name: "default".to_owned(),
            mac: "52:54:00:00:00:01".to_owned(),
            network: "10.77.0.0/16".to_owned(),
            address: Ipv4Addr::new(10, 77, 0, 16),
        };
        let second = Interface {
            slot: 1,
            ..interface.clone()
        };
        let arguments = arguments(&record, &[interface, second], accelerator);
        arguments
            .into_iter()
            .map(|arg| arg.into_string().unwrap())
            .collect()
    }

    fn has(line: &[String], option: &str, value: &str) -> bool {
        line.windows(2)
            .any(|pair| pair[0] == option && pair[1] == value)
    }

    #[test]
    fn the_command_line_carries_the_tag_and_what_was_asked_for() {
        let line = line(Accelerator::Tcg);
        for (option, value) in [
            ("-name", "guest=default/a,,b,debug-threads=on"),
            ("-uuid", "11111111-2222-4333-8444-555555555555"),
            ("-smp", "cpus=3,sockets=1,cores=3,threads=1"),
            ("-m", "size=32768K"),
            ("-accel", "tcg,thread=multi,tb-size=32"),
            (
                "-device",
                "virtio-blk-pci,id=disk0,drive=disk0,serial=boot,bootindex=1",
            ),
            (
                "-device",
                "virtio-blk-pci,id=disk1,drive=disk1,serial=datawithaverylongodd,bootindex=2",
            ),
            ("-drive", "if=pflash,unit=1,format=raw,file=variables.fd"),
            (
                "-netdev",
                "user,id=net0,ipv6=off,net=10.77.0.0/16,dhcpstart=10.77.0.16,hostfwd=tcp:127.0.0.1:2222-10.77.0.16:22",
            ),
            (
                "-netdev",
                "user,id=net1,ipv6=off,net=10.77.0.0/16,dhcpstart=10.77.0.16",
            ),
        ] {
            assert!(
                has(&line, option, value),
                "{option} {value} is not in {line:#?}"
            );
        }
        assert!(
            line.iter().all(|arg| !arg.starts_with('/')),
            "every path is relative"
        );
    }

    #[test]
    fn kvm_is_used_when_it_was_chosen() {
        let line = line(Accelerator::Kvm);
        assert!(has(&line, "-accel", "kvm") && has(&line, "-cpu", "host"));
    }
}
