//! The commands of `cargo warpwright`, which `cargo xtask` has, too.

pub mod doctor;
mod inspect;
mod inspect_report;
mod kernels;
pub mod mutate;
pub mod new;
mod occupancy;
pub mod schedules;
pub mod table;
mod test_programs;

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::Result;

/// A command with its arguments.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// A project that runs, with tests and CI for a machine without a GPU.
    New(new::Args),
    /// Compile the kernels of a package to PTX, as text.
    Build(kernels::Args),
    /// What each kernel takes, and whether it stays within the limits of its `#[kernel(…)]`.
    Audit(kernels::Args),
    /// A kernel's PTX and SASS beside its Rust source, its registers, memory and occupancy.
    Inspect(inspect::Args),
    /// Whether the tests notice a missing barrier: each synchronisation left out or weakened while they run.
    Mutate(mutate::Args),
    /// Whether the tests pass under other schedules: many seeds, one and several resident blocks, for each kernel.
    Schedules(schedules::Args),
    /// What is installed, what is missing, and the command that installs it.
    Doctor,
}

/// Runs the command.
///
/// # Errors
/// What the command needs is missing, or the kernels are at fault.
pub fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::New(args) => new::command(args, None),
        Command::Build(args) => kernels::build(args),
        Command::Audit(args) => kernels::audit(args),
        Command::Inspect(args) => inspect::command(args),
        Command::Mutate(args) => mutate::command(args),
        Command::Schedules(args) => schedules::command(args, &BTreeSet::new()),
        Command::Doctor => Ok(doctor::command()),
    }
}
