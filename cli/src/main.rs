//! `cargo warpwright …`.

use std::process::ExitCode;

use cargo_warpwright::Command;
use clap::Parser;

/// cargo passes the subcommand's name as the first argument.
#[derive(Parser)]
#[command(name = "cargo", bin_name = "cargo")]
enum Cargo {
    /// Projects with GPU kernels of their own.
    #[command(subcommand, version)]
    Warpwright(Command),
}

fn main() -> ExitCode {
    let Cargo::Warpwright(command) = Cargo::parse();
    match cargo_warpwright::run(&command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
