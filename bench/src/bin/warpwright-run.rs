//! The main job; see [`warpwright_bench::run`].

use std::process::ExitCode;

use clap::Parser as _;
use warpwright_bench::run;

fn main() -> anyhow::Result<ExitCode> {
    run::main(&run::Args::parse())
}
