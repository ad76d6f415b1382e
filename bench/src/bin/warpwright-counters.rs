//! The simulator's counters beside the profiler's; see [`warpwright_bench::counters`].

use std::process::ExitCode;

use clap::Parser as _;
use warpwright_bench::counters;

fn main() -> anyhow::Result<ExitCode> {
    counters::main(&counters::Args::parse())
}
