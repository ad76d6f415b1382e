//! xtask exists so that everything a contributor does here is one `cargo xtask …` away, with no tool to install first.
//!
//! One module per command: [`build`], [`audit`], [`run`], [`tutorial`], [`mod@bench`], [`terms`], [`book`],
//! [`coverage`], [`mutate`], [`schedules`], [`mod@test`], [`sanitize`], [`bundle`], [`doctor`]; `new` and `warpwright`
//! are `cargo_warpwright`. They share the build list ([`families`]) and small modules for paths and progress. How PTX
//! is compiled, read and audited, and where tools are found, is in `warpwright_build`, which the build scripts of other
//! projects use.
//!
//! xtask depends on no crate that has or runs kernels: what it has to know of the kernels is in their PTX.

mod archives;
mod audit;
mod bench;
mod book;
mod build;
mod bundle;
mod coverage;
mod doctor;
mod families;
mod mutate;
mod program;
mod progress;
mod run;
mod sanitize;
mod schedules;
mod selection;
mod terms;
mod test;
mod toolchain;
mod tutorial;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

use warpwright_build::{parallel, process, ptx, ptxas};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The project's commands.", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile gpu/ to host/ptx/*.ptx.lz, then audit it.
    Build(build::Args),
    /// Check the committed PTX against the limits declared beside each kernel; needs no nightly.
    Audit(audit::Args),
    /// The main kernels on real-sized input, checked against the reference.
    Run(run::Args),
    /// The tutorial: each kernel step by step, and every figure of the teaching texts reproduced.
    Tutorial(tutorial::Args),
    /// Warpwright, cuBLAS, CUB and others timed on a GPU; tables, plots and comparisons of the records.
    Bench(bench::Args),
    /// Search for words that are not used here and for wide lines; print the field's term for each.
    Terms,
    /// Check the pages of the book; render them where mdBook is installed.
    Book,
    /// Which GEMM configurations the planner needs, and what each gains.
    Coverage,
    /// Whether the property tests notice each synchronisation of the kernels left out or weakened.
    Mutate(mutate::Args),
    /// Whether the tests pass under other schedules: many seeds, one and several resident blocks, for each kernel.
    Schedules(schedules::Args),
    /// Everything CI runs.
    Test(test::Args),
    /// The simulator's and the host's tests with the address sanitizer; needs a nightly.
    Sanitize(sanitize::Args),
    /// Test programs, main job and run script in one folder, for a machine that has no Rust.
    Bundle(bundle::Args),
    /// What is installed, what is missing, and the command that installs it.
    Doctor,
    /// `cargo warpwright new`: a project with kernels of its own, which depends on this checkout.
    New(cargo_warpwright::new::Args),
    /// The other commands of `cargo warpwright`, for packages outside this repository.
    #[command(subcommand)]
    Warpwright(cargo_warpwright::Command),
}

fn main() -> ExitCode {
    // SAFETY: no other thread runs yet, and the default action installs no handler of ours. `cargo xtask audit | head`
    // then ends quietly, as programs do, where Rust's own default would panic at the closed pipe.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let cli = Cli::parse();
    let outcome = Workspace::find().and_then(|workspace| match cli.command {
        Command::Build(args) => build::command(&workspace, &args),
        Command::Audit(args) => audit::command(&workspace, &args),
        Command::Run(args) => run::command(&workspace, &args),
        Command::Tutorial(args) => tutorial::command(&workspace, &args),
        Command::Bench(args) => bench::command(&workspace, &args),
        Command::Terms => terms::command(&workspace),
        Command::Book => book::command(&workspace),
        Command::Coverage => coverage::command(&workspace),
        Command::Mutate(args) => mutate::command(&args),
        Command::Schedules(args) => schedules::command(&workspace, &args),
        Command::Test(args) => test::command(&workspace, &args),
        Command::Sanitize(args) => sanitize::command(&workspace, &args),
        Command::Bundle(args) => bundle::command(&workspace, &args),
        Command::Doctor => doctor::command(&workspace),
        Command::New(args) => cargo_warpwright::new::command(&args, Some(workspace.root())),
        Command::Warpwright(command) => cargo_warpwright::run(&command),
    });
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
