//! `cargo xtask bench`: the benchmark, in release, with every argument passed on.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{process, program};

/// Arguments of `bench`: those of `warpwright-bench`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Passed on to warpwright-bench, `--only sum/f32`, `--list`, `--render` and `--compare RUN_A RUN_B` among them;
    /// `--help` shows its own help.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Builds and runs the program; its exit code is ours. Where it is not told otherwise, it writes to the checkout.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let records = workspace.root().join("docs/benchmarks");
    let variables =
        [("WARPWRIGHT_BENCHMARKS", records.display().to_string()), ("WARPWRIGHT_COMMIT", commit(workspace))];
    program::run(workspace, "warpwright-bench", &["--release"], &args.arguments, &variables)
}

/// The commit that is checked out, with `-dirty` where files differ from it; `unknown` outside git.
pub(crate) fn commit(workspace: &Workspace) -> String {
    let mut git = Command::new("git");
    git.current_dir(workspace.root()).args(["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]);
    process::capture(&mut git).map_or_else(|_| "unknown".into(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::commit;
    use crate::workspace::Workspace;

    #[test]
    fn a_folder_without_git_has_no_commit() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(commit(&Workspace::made_up(folder.path())), "unknown");
    }
}
