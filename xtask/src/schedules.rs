//! `cargo xtask schedules`: `cargo warpwright schedules` for all kernels of `gpu/`.

use std::collections::BTreeSet;
use std::process::ExitCode;

use anyhow::Result;
use cargo_warpwright::schedules;

use crate::archives;
use crate::selection::Selection;
use crate::workspace::Workspace;

/// Arguments of `schedules`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    extent: schedules::Extent,
}

/// Runs the tests; exit code 1 where one fails under another schedule, or none launches a kernel of the library.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let mut kernels = BTreeSet::new();
    for file in Selection::everything().files(workspace)?.iter().filter(|file| !file.is_lab) {
        kernels.extend(archives::read_file(workspace, file)?.into_keys());
    }
    // All packages, as with `mutate`.
    let tests = "--workspace --all-features --test properties --test tutorial --test instructions --test compile_fail";
    schedules::command(
        &schedules::Args {
            extent: args.extent.clone(),
            skip: vec!["what_is_wrong_does_not_compile".to_owned()],
            tests: tests.split(' ').map(str::to_owned).collect(),
        },
        &kernels,
    )
}
