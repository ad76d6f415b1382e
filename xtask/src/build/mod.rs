//! `cargo xtask build`: gpu/ → host/ptx/*.ptx.lz, one archive per kernel family.
//!
//! 1. Find the source of `core` for the nightly that writes PTX ([`core_source`]).
//! 2. Compile it once per architecture into a private sysroot under target/ ([`sysroot`]).
//! 3. Compile gpu/ for nvptx64 with fat LTO and keep the assembly text ([`compile`]); add the launch bounds that the
//!    kernels declare in it ([`warpwright_build::directives`]).
//! 4. Split it into kernels and pack these, for every architecture, into the family's archive ([`crate::archives`]).
//! 5. Record which rustc made what from which sources ([`manifest`], [`sources`]); what is unchanged is not built.
//! 6. Audit the result ([`crate::audit`]).
//!
//! `--check` builds to another folder and compares ([`check`]). The list of families is in gpu/Cargo.toml
//! ([`crate::families`]): no step compiles the kernels for the host.

mod check;
mod compile;
mod manifest;
mod sources;

use std::cmp::Reverse;
use std::collections::btree_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result};
use warpwright_build::toolchain::Nightly;
use warpwright_build::{compile::check_archs, core_source, sysroot};

use self::manifest::{Entry, Manifest, State};
use crate::archives::{self, Kernels};
use crate::audit;
use crate::families::Families;
use crate::parallel;
use crate::progress;
use crate::selection::{PtxFile, Selection};
use crate::toolchain;
use crate::workspace::{PTX_DIR, Workspace};

/// Arguments of `build`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,
    /// Write nothing; fail if the committed PTX is not what the sources give.
    #[arg(long)]
    check: bool,
}

/// Builds what is stale and audits all that was selected; exit code 1 where the audit or the check finds a fault.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let files = args.selection.files(workspace)?;
    let sound = if args.check {
        check::check(workspace, &files)?
    } else {
        build_stale(workspace, &files)?;
        audit::audit(workspace, &files)?
    };
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What `build --check` does, for all that is committed; whether there was no fault.
pub(crate) fn check_everything(workspace: &Workspace) -> Result<bool> {
    check::check(workspace, &Selection::everything().files(workspace)?)
}

/// Why committed PTX that is not made from the sources is stale, one reason each; empty where all is fresh. Needs no
/// nightly.
pub(crate) fn stale(workspace: &Workspace) -> Result<Vec<String>> {
    let manifest = Manifest::load(workspace)?;
    let mut reasons = Vec::new();
    for file in &Selection::everything().files(workspace)? {
        if let State::Stale(reason) = manifest.state(workspace, file, &sources::hash(workspace, &file.family)?) {
            reasons.push(reason);
        }
    }
    Ok(reasons)
}

/// Builds all that is stale or was made by another rustc. Where nothing is stale a missing nightly is no fault.
fn build_stale(workspace: &Workspace, files: &[PtxFile]) -> Result<()> {
    let mut manifest = Manifest::load(workspace)?;
    let families = Families::load(workspace)?;
    if manifest.forget_unlisted(&families) {
        manifest.save(workspace)?;
    }
    let nightly = toolchain::find(workspace);
    let mut todo = Vec::new();
    for file in files {
        let sources = sources::hash(workspace, &file.family)?;
        let fresh = manifest.state(workspace, file, &sources) == State::Fresh;
        let same_rustc =
            |nightly: &Nightly| manifest.files.get(&file.name()).is_some_and(|entry| entry.rustc == nightly.stamp);
        if !fresh || nightly.as_ref().is_ok_and(|nightly| !same_rustc(nightly)) {
            todo.push((file.clone(), sources));
        }
    }
    if todo.is_empty() {
        let made =
            nightly.map_or_else(|error| format!("no nightly to compare with: {error:#}"), |nightly| nightly.stamp);
        println!("{PTX_DIR}: all {} sets of kernels are up to date ({made})", files.len());
        return Ok(());
    }
    let nightly = nightly.context("the PTX is stale and cannot be built here")?;
    let started = Instant::now();
    let names: Vec<_> = todo.iter().map(|(file, _)| file.clone()).collect();
    let compiled = compile_all(workspace, &nightly, &names)?;
    let mut archives: BTreeMap<PathBuf, (String, BTreeMap<String, Kernels>)> = BTreeMap::new();
    for ((file, sources), kernels) in todo.into_iter().zip(compiled) {
        let entry = Entry {
            family: file.family.clone(),
            arch: file.arch.clone(),
            rustc: nightly.stamp.clone(),
            sources,
            kernels: manifest::hashes(&kernels),
        };
        manifest.files.insert(file.name(), entry);
        let path = file.archive(workspace);
        let (_, archs) = match archives.entry(path) {
            // A damaged archive is replaced.
            Vacant(slot) => {
                let mut archs = archives::read(slot.key()).unwrap_or_default();
                archs.retain(|arch, _| families.is_listed(&file.family, arch));
                slot.insert((file.family, archs))
            }
            Occupied(slot) => slot.into_mut(),
        };
        archs.insert(file.arch, kernels);
    }
    write_archives(workspace, archives)?;
    manifest.save(workspace)?;
    let (count, seconds) = (names.len(), started.elapsed().as_secs_f64());
    println!("{PTX_DIR}: built {count} sets of kernels in {seconds:.1} s ({})", nightly.stamp);
    Ok(())
}

/// Writes archives, each a path with its family and kernels. Compressing one takes seconds.
fn write_archives(
    workspace: &Workspace,
    archives: BTreeMap<PathBuf, (String, BTreeMap<String, Kernels>)>,
) -> Result<()> {
    fs::create_dir_all(workspace.ptx_dir().join("lab"))?;
    let archives: Vec<_> = archives.into_iter().collect();
    parallel::map(&archives, |(path, (family, archs))| archives::write(path, family, archs)).into_iter().collect()
}

/// Compiles `files` on all processors. Each gives its kernels, in the order of the files.
fn compile_all(workspace: &Workspace, nightly: &Nightly, files: &[PtxFile]) -> Result<Vec<Kernels>> {
    let source = core_source::find(&workspace.ptx_build_dir(), nightly)?;
    let archs: BTreeSet<&str> = files.iter().map(|file| file.arch.as_str()).collect();
    check_archs(nightly, archs.iter().copied())?;
    let progress = progress::bar(archs.len() + files.len());
    let archs: Vec<&str> = archs.into_iter().collect();
    let sysroots = parallel::map(&archs, |&arch| -> Result<(&str, PathBuf)> {
        let (sysroot, built) = sysroot::path(&workspace.ptx_build_dir(), nightly, &source, arch);
        if !built {
            progress.set_message(format!("core for {arch}, from {} (once)", source.kind.name()));
            sysroot::compile(nightly, &source, arch, &sysroot)?;
        }
        progress.inc(1);
        Ok((arch, sysroot))
    });
    let sysroots: BTreeMap<&str, PathBuf> = sysroots.into_iter().collect::<Result<_>>()?;
    // The largest first, so that no processor is left with one of them at the end.
    let mut queue = Queue::default();
    let mut by_size: Vec<_> = files.iter().enumerate().collect();
    by_size.sort_by_key(|(_, file)| Reverse(fs::metadata(file.archive(workspace)).map_or(0, |data| data.len())));
    for (number, file) in by_size {
        queue.by_arch.entry(&file.arch).or_default().push_back((number, file));
    }
    let queue = Mutex::new(queue);
    let processors = thread::available_parallelism().map_or(1, Into::into).min(files.len());
    let lanes: Vec<usize> = (0..processors).collect();
    let compiled = parallel::map(&lanes, |&lane| -> Result<Vec<(usize, Kernels)>> {
        let (mut arch, mut made) = (archs.iter().copied().cycle().nth(lane), Vec::new());
        let next = |arch: &mut Option<_>| queue.lock().expect("nothing panics with it").next(arch);
        while let Some((number, file)) = next(&mut arch) {
            progress.set_message(format!("{} for {}", file.family, file.arch));
            let text = compile::compile(workspace, nightly, &sysroots[file.arch.as_str()], (file, lane), &progress)?;
            made.push((number, archives::split(&text)));
            progress.inc(1);
        }
        Ok(made)
    });
    let mut compiled: Vec<_> = compiled.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    progress.finish_and_clear();
    compiled.sort_unstable_by_key(|&(number, _)| number);
    Ok(compiled.into_iter().map(|(_, kernels)| kernels).collect())
}

/// Files to compile, each with its number.
#[derive(Default)]
struct Queue<'f> {
    by_arch: BTreeMap<&'f str, VecDeque<(usize, &'f PtxFile)>>,
}

impl<'f> Queue<'f> {
    /// The next file for `arch`, for which the crates that the kernels use are compiled already; when there is none
    /// left, for the architecture with most files.
    fn next(&mut self, arch: &mut Option<&'f str>) -> Option<(usize, &'f PtxFile)> {
        if let Some(file) = arch.and_then(|arch| self.by_arch.get_mut(arch)?.pop_front()) {
            return Some(file);
        }
        let (other, files) = self.by_arch.iter_mut().max_by_key(|(_, files)| files.len())?;
        *arch = Some(other);
        files.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;
    use crate::selection::PtxFile;

    #[test]
    fn a_lane_keeps_its_architecture_while_there_are_files_for_it() {
        let file = |family: &str, arch: &str| PtxFile {
            family: family.into(),
            arch: arch.into(),
            is_lab: false,
            also_for: Vec::new(),
        };
        let files = [file("a", "sm_80"), file("b", "sm_90a"), file("c", "sm_90a"), file("d", "sm_80")];
        let mut queue = Queue::default();
        for (number, file) in files.iter().enumerate() {
            queue.by_arch.entry(&file.arch).or_default().push_back((number, file));
        }
        let mut take = |arch: &mut Option<_>| queue.next(arch).map(|(number, _)| number);
        let (mut one, mut other) = (Some("sm_80"), Some("sm_90a"));
        assert_eq!([take(&mut one), take(&mut one), take(&mut other)], [Some(0), Some(3), Some(1)]);
        assert_eq!((take(&mut one), one), (Some(2), Some("sm_90a")));
        assert_eq!([take(&mut one), take(&mut other)], [None, None]);
    }
}
