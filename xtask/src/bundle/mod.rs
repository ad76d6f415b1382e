//! `cargo xtask bundle DIR`: one folder with everything a GPU machine needs that has no Rust.
//!
//! Test programs, the programs and benchmarks of bench/, those of examples/own-kernels, the sources of the libraries
//! that the benchmark compares with, the PTX for reference (each program has it built in) and a run script. The
//! programs are stripped of debug information and need x86-64 Linux with the glibc version that is printed.

mod programs;
mod requirements;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, ensure};

use self::requirements::Requirements;
use crate::archives;
use crate::bench;
use crate::process;
use crate::progress;
use crate::selection::Selection;
use crate::workspace::Workspace;

/// Arguments of `bundle`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder to write; it must be new, empty, or an older bundle.
    dir: PathBuf,
}

const RUN: &str = include_str!("run.sh");

/// Packages whose tests make sense on a GPU machine.
const TESTED: &[&str] = &["warpwright-tests", "warpwright"];

/// The package with the main job and the benchmarks.
const BENCH: &str = "warpwright-bench";

/// Builds and collects everything.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let dir = &args.dir;
    prepare(dir)?;
    let mut requirements = Requirements::of(workspace, TESTED)?;
    requirements.gpu_tests.push(programs::EXAMPLE_TEST.to_owned());
    let mut programs = programs::build(workspace, TESTED, BENCH)?;
    programs.extend(programs::build_example(workspace)?);
    requirements.check(&programs)?;
    programs.retain(|program| !requirements.needs_cargo.contains(&program.name));
    let progress = progress::bar(programs.len());
    let mut glibc = (0, 0);
    for program in &programs {
        progress.set_message(program.name.clone());
        let goal = dir.join(program.folder).join(&program.name);
        fs::create_dir_all(goal.parent().expect("a file is in a folder"))?;
        fs::copy(&program.file, &goal).with_context(|| format!("cannot copy {}", program.file.display()))?;
        process::capture(Command::new("strip").arg("--strip-debug").arg(&goal))
            .context("`strip` of binutils takes the debug information out; it comes with gcc")?;
        glibc = glibc.max(glibc_needed(&fs::read(&goal)?));
        progress.inc(1);
    }
    progress.finish_and_clear();
    write_ptx(workspace, &dir.join("ptx"))?;
    copy_peers(workspace, &dir.join("peers"))?;
    fs::write(dir.join("commit.txt"), bench::commit(workspace) + "\n")?;
    fs::write(dir.join("gpu-tests.txt"), requirements.gpu_tests.join("\n") + "\n")?;
    let script = dir.join("run.sh");
    fs::write(&script, RUN)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;

    println!("{}: {} programs, {:.1} MiB", dir.display(), programs.len(), size(dir)? as f64 / f64::from(1 << 20));
    println!("needs x86-64 Linux with glibc ≥ {}.{}; no Rust, no CUDA toolkit", glibc.0, glibc.1);
    println!("on the GPU machine: ./run.sh help");
    Ok(ExitCode::SUCCESS)
}

/// Makes `dir` empty; refuses to empty a folder that is no bundle.
fn prepare(dir: &Path) -> Result<()> {
    if dir.exists() {
        let empty = fs::read_dir(dir).with_context(|| format!("{} is no folder", dir.display()))?.next().is_none();
        let bundle = dir.join("run.sh").is_file() && dir.join("gpu-tests.txt").is_file();
        ensure!(empty || bundle, "{} holds something that is no bundle; name a new folder", dir.display());
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))
}

/// The sources of what only a GPU machine can build or run: CUB's library, the script for `PyTorch`.
fn copy_peers(workspace: &Workspace, goal: &Path) -> Result<()> {
    fs::create_dir_all(goal)?;
    for name in ["cub.cu", "torch_bench.py"] {
        let source = workspace.root().join("bench/peers").join(name);
        fs::copy(&source, goal.join(name)).with_context(|| format!("cannot copy {}", source.display()))?;
    }
    Ok(())
}

/// Writes the text of all PTX, for readers and ptxas.
fn write_ptx(workspace: &Workspace, goal: &Path) -> Result<()> {
    fs::create_dir_all(goal)?;
    for file in Selection::everything().files(workspace)? {
        let kernels = archives::read_file(workspace, &file)?;
        fs::write(goal.join(file.name() + ".ptx"), archives::join(&kernels))?;
    }
    Ok(())
}

/// The newest version of glibc that a program asks for: its symbol versions are text in the file.
fn glibc_needed(bytes: &[u8]) -> (u32, u32) {
    const MARK: &[u8] = b"GLIBC_";
    let after = bytes
        .windows(MARK.len())
        .enumerate()
        .filter(|(_, window)| *window == MARK)
        .map(|(at, _)| &bytes[at + MARK.len()..]);
    let versions = after.filter_map(|rest| {
        let end = rest.iter().position(|byte| *byte != b'.' && !byte.is_ascii_digit())?;
        let (major, minor) = std::str::from_utf8(&rest[..end]).ok()?.split_once('.')?;
        Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
    });
    versions.max().unwrap_or((0, 0))
}

fn size(dir: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        sum += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{glibc_needed, prepare};

    #[test]
    fn the_newest_glibc_is_found_among_symbol_versions() {
        assert_eq!(glibc_needed(b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0"), (2, 34));
        assert_eq!(glibc_needed(b"static"), (0, 0));
    }

    #[test]
    fn a_folder_with_other_things_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("thesis.txt");
        fs::write(&file, "years of work").unwrap();
        assert!(prepare(dir.path()).unwrap_err().to_string().contains("no bundle"));
        assert!(file.is_file());
    }

    #[test]
    fn an_older_bundle_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["run.sh", "gpu-tests.txt", "old"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        prepare(dir.path()).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
