//! The benchmark; see [`warpwright_bench::versus`].

use std::process::ExitCode;

use clap::Parser as _;
use warpwright_bench::versus;

fn main() -> ExitCode {
    versus::main(&versus::Args::parse()).unwrap_or_else(|error| {
        // Without a stack trace, whatever the environment asks for; 1 is the answer of a gate that does not hold.
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
