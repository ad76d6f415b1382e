//! `cargo xtask schedules`: `cargo warpwright schedules` for all kernels of `gpu/`.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::Result;

use crate::archives;
use crate::selection::Selection;
use crate::workspace::Workspace;

/// Arguments of `schedules`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Seeds for each kernel and number of resident blocks.
    #[arg(long, value_name = "N", default_value = "100")]
    seeds: usize,
    /// Numbers of resident blocks.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,4,32")]
    resident: Vec<u32>,
}

/// Runs the tests; exit code 1 where one fails under another schedule, or none launches a kernel of the library.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let mut kernels = BTreeSet::new();
    for file in Selection::everything().files(workspace)?.iter().filter(|file| !file.is_lab) {
        kernels.extend(archives::read_file(workspace, file)?.into_keys());
    }
    // All packages, as with `mutate`.
    let tests = "--workspace --all-features --test properties --test tutorial --test instructions --test compile_fail";
    cargo_warpwright::schedules::command(
        &cargo_warpwright::schedules::Args {
            seeds: args.seeds,
            resident: args.resident.clone(),
            skip: vec!["what_is_wrong_does_not_compile".to_owned()],
            tests: tests.split(' ').map(str::to_owned).collect(),
        },
        &kernels,
    )
}
