//! How large a machine is: numbers, a named template, or the provider's defaults.
//!
//! Clouds take the instance type as it is. A hypervisor has no types of its own, so there
//! the numbers count, or a template of that name; both given and in conflict is refused.

use machinist_api::vitistack::{machine::MachineSpec, machine_provider::MachineProviderSpec};

use super::{LowerError, quantity_bytes};
use crate::machine::Cpu;

/// Used when neither the machine nor its provider says anything.
const FALLBACK_MEMORY: u64 = 1 << 30;

/// The size of a machine.
pub(super) struct Size {
    pub(super) cpu: Cpu,
    pub(super) memory: u64,
    /// What its template says of its disk, with the template's name.
    pub(super) storage: Option<(u64, String)>,
}

/// What a declaration says about size, before any default.
struct Declared {
    cpu: Option<(&'static str, Cpu)>,
    memory: Option<(&'static str, u64)>,
}

pub(super) fn lower(
    machine: &MachineSpec,
    provider: &MachineProviderSpec,
) -> Result<(Size, Vec<String>), LowerError> {
    let declared = declared(machine)?;
    let template = template(machine, provider)?;
    let name = named(machine, provider).unwrap_or_default();
    refuse_conflict(name, &declared, template.as_ref())?;
    let from_template = template.unwrap_or_default();
    let defaults = defaults(provider)?;
    let mut told = Vec::new();
    if declared_name(machine).is_none() && !name.is_empty() {
        told.push(format!("size {name} (spec.compute.defaultMachineClass)"));
    }
    if declared.cpu.is_none() {
        let presets = (from_template.cpus, defaults.cpus);
        let words = |cpus: u32| format!("{cpus} processors");
        told.extend(filled(name, presets, words, "defaultCPU"));
    }
    if declared.memory.is_none() {
        let presets = (from_template.memory, defaults.memory);
        let words = |bytes: u64| format!("{:.1} GiB of memory", bytes as f64 / f64::from(1 << 30));
        told.extend(filled(name, presets, words, "defaultMemoryGB"));
    }
    let cpu = declared
        .cpu
        .map(|(_, cpu)| cpu)
        .or(from_template.cpus.map(cores))
        .or(defaults.cpus.map(cores))
        .unwrap_or_else(|| cores(1));
    let memory = declared
        .memory
        .map(|(_, memory)| memory)
        .or(from_template.memory)
        .or(defaults.memory)
        .unwrap_or(FALLBACK_MEMORY);
    let storage = from_template.storage.map(|size| (size, name.to_owned()));
    let size = Size {
        cpu,
        memory,
        storage,
    };
    Ok((size, told))
}

/// What was not declared, and where it is from: a template, or the provider's defaults.
fn filled<T>(
    name: &str,
    (template, default): (Option<T>, Option<T>),
    words: impl Fn(T) -> String,
    field: &str,
) -> Option<String> {
    match (template, default) {
        (Some(value), _) => Some(format!("{} (spec.templates {name})", words(value))),
        (None, Some(value)) => Some(format!("{} (spec.computeConfig.{field})", words(value))),
        (None, None) => None,
    }
}

fn cores(count: u32) -> Cpu {
    Cpu {
        sockets: 1,
        cores: count,
        threads: 1,
    }
}

fn declared(machine: &MachineSpec) -> Result<Declared, LowerError> {
    let count = |value: Option<i32>| u32::try_from(value.unwrap_or(1)).unwrap_or(1).max(1);
    let flat = machine.cpu.as_ref().map(|cpu| {
        let cpu = Cpu {
            sockets: count(cpu.sockets),
            cores: count(cpu.cores),
            threads: count(cpu.threads_per_core),
        };
        ("spec.cpu", cpu)
    });
    let resources = machine.resources.as_ref();
    let nested = resources.and_then(|r| r.cpu.as_ref()).map(|cpu| {
        let cpu = Cpu {
            sockets: count(cpu.sockets),
            cores: count(cpu.cores),
            threads: count(cpu.threads),
        };
        ("spec.resources.cpu", cpu)
    });
    // Zero bytes is the documented minimum and means "not said".
    let bytes = machine
        .memory
        .and_then(|bytes| u64::try_from(bytes).ok())
        .filter(|bytes| *bytes > 0)
        .map(|bytes| ("spec.memory", bytes));
    let size = resources
        .and_then(|r| r.memory.as_ref())
        .and_then(|memory| memory.size.as_deref());
    let size = match size {
        Some(text) => Some((
            "spec.resources.memory.size",
            quantity_bytes("spec.resources.memory.size", text)?,
        )),
        None => None,
    };
    Ok(Declared {
        cpu: flat.or(nested),
        memory: bytes.or(size),
    })
}

/// A size by name or default: what it says, in part or in whole.
#[derive(Default, Clone, Copy)]
struct Preset {
    cpus: Option<u32>,
    memory: Option<u64>,
    storage: Option<u64>,
}

/// The name of the machine's size, in either form.
fn declared_name(machine: &MachineSpec) -> Option<&str> {
    let instance_type = machine.instance_type.as_deref();
    instance_type.or(machine.machine_class.as_deref())
}

/// The name of the machine's size, or else of the one that its provider gives. A machine whose size
/// is declared in numbers has it from there.
pub(super) fn named<'a>(
    machine: &'a MachineSpec,
    provider: &'a MachineProviderSpec,
) -> Option<&'a str> {
    let numbers = machine.cpu.is_some() || machine.memory.is_some() || machine.resources.is_some();
    let usual = provider.compute.as_ref().filter(|_| !numbers);
    let usual = usual.and_then(|compute| compute.default_machine_class.as_deref());
    declared_name(machine).or(usual)
}

fn template(
    machine: &MachineSpec,
    provider: &MachineProviderSpec,
) -> Result<Option<Preset>, LowerError> {
    let Some(wanted) = named(machine, provider) else {
        return Ok(None);
    };
    let found = provider
        .templates
        .iter()
        .enumerate()
        .find(|(_, template)| template.name == wanted);
    let Some((index, template)) = found else {
        return Ok(None);
    };
    let resources = template.resources.as_ref();
    let bytes = |name: &str, text: Option<&str>| {
        let field = format!("MachineProvider spec.templates[{index}].resources.{name}");
        text.map(|text| quantity_bytes(&field, text)).transpose()
    };
    Ok(Some(Preset {
        cpus: resources
            .and_then(|r| r.cpu)
            .and_then(|cpu| u32::try_from(cpu).ok()),
        memory: bytes("memory", resources.and_then(|r| r.memory.as_deref()))?,
        storage: bytes("storage", resources.and_then(|r| r.storage.as_deref()))?,
    }))
}

fn refuse_conflict(
    instance_type: &str,
    declared: &Declared,
    template: Option<&Preset>,
) -> Result<(), LowerError> {
    let Some(template) = template else {
        return Ok(());
    };
    if let (Some((field, cpu)), Some(cpus)) = (declared.cpu, template.cpus)
        && cpu.count() != cpus
    {
        return Err(LowerError::new(
            field,
            cpu.count(),
            format!(
                "the provider's template {instance_type:?} says {cpus}; keep one of the two, or make them agree"
            ),
        ));
    }
    if let (Some((field, memory)), Some(bytes)) = (declared.memory, template.memory)
        && memory != bytes
    {
        return Err(LowerError::new(
            field,
            memory,
            format!(
                "the provider's template {instance_type:?} says {bytes} bytes; keep one of the two, or make them agree"
            ),
        ));
    }
    Ok(())
}

fn defaults(provider: &MachineProviderSpec) -> Result<Preset, LowerError> {
    let Some(compute) = provider.compute_config.as_ref() else {
        return Ok(Preset::default());
    };
    let number = |field: &str, text: Option<&str>| match text {
        None => Ok(None),
        Some(text) => match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number > 0.0 => Ok(Some(number)),
            _ => Err(LowerError::new(
                format!("MachineProvider spec.computeConfig.{field}"),
                text,
                "must be a positive decimal number such as \"2\" or \"4.0\"",
            )),
        },
    };
    let cpus = number("defaultCPU", compute.default_cpu.as_deref())?;
    let gigabytes = number("defaultMemoryGB", compute.default_memory_gb.as_deref())?;
    Ok(Preset {
        // A fraction of a processor cannot be given to a guest.
        cpus: cpus.map(|cpus| cpus.ceil() as u32),
        memory: gigabytes.map(|gigabytes| (gigabytes * f64::from(1 << 30)) as u64),
        storage: None,
    })
}
