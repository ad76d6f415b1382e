//! `cargo xtask mutate`: `cargo warpwright mutate` for the kernels of `gpu/` and the tests of the operations.

use std::process::ExitCode;

use anyhow::Result;

/// Arguments of `mutate`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run every N-th mutant of tests/mutants.tsv against the test that noticed it, and nothing else.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    every: Option<u16>,
    /// Only mutants in sources whose path contains this.
    #[arg(long, default_value = "gpu/src/")]
    source: String,
    /// Seconds of tests after which a mutant counts as unnoticed.
    #[arg(long, default_value = "120")]
    budget: u64,
}

/// Runs the mutants; exit code 1 where one goes unnoticed that is not known to be equivalent.
pub(crate) fn command(args: &Args) -> Result<ExitCode> {
    // All packages, so that features are those of the step `tests`, and nothing is compiled a second time. Nor is cust:
    // trybuild shares the crate `glob` with its build script, which is another one where trybuild is not built.
    let tests = "--workspace --all-features --lib --test properties --test tutorial --test compile_fail";
    cargo_warpwright::mutate::command(&cargo_warpwright::mutate::Args {
        file: "tests/mutants.tsv".into(),
        source: args.source.clone(),
        every: args.every,
        budget: args.budget,
        // The kernels that the first two reach change with the constants of the cost model; the third has a compiler.
        skip: ["ops::gemm::choice::", "first_calls::", "what_is_wrong_does_not_compile"].map(str::to_owned).into(),
        tests: tests.split(' ').map(str::to_owned).collect(),
    })
}

/// Every tenth mutant of the file, against the test that noticed it; whether all are noticed.
pub(crate) fn check() -> Result<bool> {
    let args = Args { every: Some(10), source: String::new(), budget: 0 };
    Ok(command(&args)? == ExitCode::SUCCESS)
}
