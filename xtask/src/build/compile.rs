//! One family for one architecture: from Rust to finished PTX.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context as _, Result, bail};
use indicatif::ProgressBar;

use super::{TARGET, directives, sysroot};
use crate::process;
use crate::selection::PtxFile;
use crate::toolchain::Nightly;
use crate::workspace::Workspace;

/// The profile, given on the command line so that the workspace's own release profile can keep what the host needs
/// (unwinding, line tables). Fat LTO over one codegen unit is what makes the PTX complete.
const PROFILE: &[&str] = &[
    "inherits=\"release\"",
    "opt-level=3",
    "lto=\"fat\"",
    "codegen-units=1",
    "panic=\"abort\"",
    "debug=false",
    "strip=\"none\"",
    "overflow-checks=false",
    "debug-assertions=false",
    "incremental=false",
];

/// Compiles `file` with the `core` in `sysroot`. The result depends on the sources and on rustc alone.
pub(super) fn compile(
    workspace: &Workspace,
    nightly: &Nightly,
    sysroot: &Path,
    file: &PtxFile,
    progress: &ProgressBar,
) -> Result<String> {
    // One target directory per architecture: cargo keeps crates of one set of rustflags only.
    let target_dir = workspace.ptx_build_dir().join("cargo").join(&file.arch);
    let asm = workspace.ptx_build_dir().join("asm").join(file.name() + ".ptx");
    fs::create_dir_all(asm.parent().expect("a file is in a folder"))?;
    // Cargo always compiles the kernels again, since the linker leaves nothing that it could take for fresh.
    if asm.exists() {
        fs::remove_file(&asm)?;
    }
    let output = cargo_rustc(workspace, nightly, sysroot, file, &target_dir, &asm)?;
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{} cannot compile {} for {}:\n{messages}", nightly.version, file.family, file.arch);
    }
    if !messages.trim().is_empty() {
        progress.suspend(|| eprintln!("{}", messages.trim_end()));
    }
    let text = fs::read_to_string(&asm).with_context(|| format!("rustc left no {}", asm.display()))?;
    directives::insert(&text)
}

/// The architectures that this rustc knows; it takes any other for its oldest one, with a mere warning.
pub(super) fn archs(nightly: &Nightly) -> Result<Vec<String>> {
    let list = process::capture(nightly.rustc().args(["--print=target-cpus", "--target", TARGET]))?;
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    Ok(names.filter(|name| name.starts_with("sm_")).map(str::to_owned).collect())
}

fn cargo_rustc(
    workspace: &Workspace,
    nightly: &Nightly,
    sysroot: &Path,
    file: &PtxFile,
    target_dir: &Path,
    asm: &Path,
) -> Result<Output> {
    let mut cargo = nightly.cargo();
    cargo.current_dir(workspace.root());
    cargo
        .env("CARGO_TARGET_DIR", target_dir)
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags(workspace, sysroot, &file.arch)?);
    cargo.args(["rustc", "--quiet", "--locked", "--package=warpwright-gpu", "--lib", "--crate-type=cdylib"]);
    cargo.args(PROFILE.iter().flat_map(|setting| ["--config".to_owned(), format!("profile.ptx.{setting}")]));
    cargo.arg("--profile=ptx").arg(format!("--target={TARGET}"));
    cargo.arg("--no-default-features").arg(format!("--features={}", file.family));
    cargo.arg("--").arg(with("--emit=asm=", asm.as_os_str()));
    process::output(&mut cargo)
}

/// Flags for every crate of the GPU's side, kernels and what they use.
fn rustflags(workspace: &Workspace, sysroot: &Path, arch: &str) -> Result<OsString> {
    let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let cargo_home = cargo_home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let cargo_home = cargo_home.context("neither CARGO_HOME nor HOME is set")?;
    let flags = [
        with("--sysroot=", sysroot.as_os_str()),
        format!("-Ctarget-cpu={arch}").into(),
        // The PTX text is the result; there is nothing to link.
        "-Clinker=true".into(),
        "-Zlocation-detail=none".into(),
        // The crates name every nightly feature that some family needs; one family alone uses fewer.
        "-Aunused_features".into(),
        with("--remap-path-prefix=", &sysroot::remap(workspace.root(), "/warpwright")),
        with("--remap-path-prefix=", &sysroot::remap(&cargo_home, "/cargo")),
    ];
    Ok(flags.join("\u{1f}".as_ref()))
}

fn with(prefix: &str, rest: &std::ffi::OsStr) -> OsString {
    let mut text = OsString::from(prefix);
    text.push(rest);
    text
}
