//! The ladder; see [`warpwright_bench::ladder`].

use std::process::ExitCode;

use clap::Parser as _;
use warpwright_bench::ladder;

fn main() -> anyhow::Result<ExitCode> {
    ladder::main(&ladder::Args::parse())
}
