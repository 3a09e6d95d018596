//! sizes
fn main() {
    use machinist_api::vitistack::*;
    println!(
        "Machine {} spec {} status {}",
        size_of::<Machine>(),
        size_of::<MachineSpec>(),
        size_of::<MachineStatus>()
    );
    println!(
        "Facts {} Want {}",
        size_of::<machinist_core::machine::Facts>(),
        size_of::<machinist_core::machine::Want>()
    );
}
