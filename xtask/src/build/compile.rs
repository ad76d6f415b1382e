//! One family for one architecture: from Rust to finished PTX.

use std::path::Path;

use anyhow::{Result, bail};
use indicatif::ProgressBar;
use warpwright_build::compile::{Job, Panics};
use warpwright_build::toolchain::Nightly;

use crate::selection::PtxFile;
use crate::workspace::Workspace;

/// Compiles `file` with the `core` in `sysroot`, as the `lane`th of several that compile at the same time. The result
/// depends on the sources and on rustc alone.
pub(super) fn compile(
    workspace: &Workspace,
    nightly: &Nightly,
    sysroot: &Path,
    (file, lane): (&PtxFile, usize),
    progress: &ProgressBar,
) -> Result<String> {
    let features = format!("--features={}", file.family);
    let job = Job {
        nightly,
        sysroot,
        arch: &file.arch,
        directory: workspace.root(),
        target_dir: &workspace.ptx_build_dir().join("cargo").join(lane.to_string()),
        asm: &workspace.ptx_build_dir().join("asm").join(file.name() + ".ptx"),
        cargo: &["--locked", "--package=warpwright-gpu", "--no-default-features", &features].map(AsRef::as_ref),
        rustc: &[],
        remap: &[(workspace.root(), "/warpwright")],
        panics: Panics::Trap,
        values: false,
    };
    let compiled = job.run()?;
    match compiled.text {
        Err(messages) => {
            bail!("{} cannot compile {} for {}:\n{messages}", nightly.version, file.family, file.arch)
        }
        Ok(text) => {
            if !compiled.warnings.is_empty() {
                progress.suspend(|| eprintln!("{}", compiled.warnings));
            }
            Ok(text)
        }
    }
}
