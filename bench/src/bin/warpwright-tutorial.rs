//! The tutorial; see [`warpwright_bench::tutorial`].

use std::process::ExitCode;

use clap::Parser as _;
use warpwright_bench::tutorial;

fn main() -> anyhow::Result<ExitCode> {
    tutorial::main(&tutorial::Args::parse())
}
