//! QEMU's command line for a machine: a pure function of its record.
//!
//! Every file is named relative to the machine's directory, which is QEMU's working
//! directory: no path of this host needs quoting, and none is too long for a socket.

use std::ffi::OsString;

use super::{
    agent,
    config::Accelerator,
    disk,
    firmware,
    network::Interface,
    process::PID_FILE,
    qmp,
    record::Record,
    seed,
};

/// Where the guest's serial console can be attached to.
const SERIAL_SOCKET: &str = "serial.sock";
/// What the guest wrote to its serial console since it was started.
pub(super) const SERIAL_LOG: &str = "serial.log";
/// Free slots for devices that are attached while the guest runs.
const SPARE_PORTS: u32 = 4;

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
        nic(&mut line, place, interface, forwarded);
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
    line.option("-smbios", &format!("type=1,manufacturer=Machinist,product=Machine,serial={serial}"));
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
        &format!("cpus={count},sockets={},cores={},threads={}", asked.sockets, asked.cores, asked.threads),
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
            &format!("if=pflash,unit=0,format=raw,readonly=on,file={}", firmware::CODE),
        );
        line.option("-drive", &format!("if=pflash,unit=1,format=raw,file={}", firmware::VARIABLES));
    }
}

fn control(line: &mut Line) {
    for (id, path) in [("qmp", qmp::COMMANDS), ("events", qmp::EVENTS)] {
        line.option("-chardev", &format!("socket,id={id},path={path},server=on,wait=off"));
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
    for (place, asked) in record.asked.disks.iter().enumerate() {
        let file = disk::file_name(place);
        line.option(
            "-blockdev",
            &format!("driver=qcow2,node-name=disk{place},discard=unmap,file.driver=file,file.filename={file}"),
        );
        // Guests see at most twenty bytes of a serial number.
        let serial: String = asked.name.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).take(20).collect();
        line.device(&format!(
            "virtio-blk-pci,id=disk{place},drive=disk{place},serial={serial},bootindex={}",
            place + 1
        ));
    }
    if record.asked.seed {
        line.option(
            "-blockdev",
            &format!("driver=raw,node-name=seed,read-only=on,file.driver=file,file.filename={}", seed::FILE),
        );
        line.device("virtio-blk-pci,id=seed,drive=seed,serial=cidata");
    }
}

fn nic(line: &mut Line, place: usize, interface: &Interface, ssh_port: Option<u16>) {
    let forward = ssh_port.map_or_else(String::new, |port| {
        format!(",hostfwd=tcp:127.0.0.1:{port}-{}:22", interface.address)
    });
    line.option(
        "-netdev",
        &format!(
            "user,id=net{place},net={},dhcpstart={}{forward}",
            interface.network, interface.address
        ),
    );
    // Without its boot ROM the card needs no extra package, and the guest loses no time to PXE.
    line.device(&format!(
        "virtio-net-pci,id=nic{place},netdev=net{place},mac={},romfile=",
        interface.mac
    ));
}
