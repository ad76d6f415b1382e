//! `cargo warpwright build` and `audit`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use serde_json::Value;
use warpwright_build::audit::checks::{self, Rules};
use warpwright_build::audit::usage::Usage;
use warpwright_build::ptxas::Ptxas;
use warpwright_build::{Kernel, KernelBuilder, process, ptx};

use crate::table::{self, Row};

/// Arguments of `build` and `audit`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The package, whose library is the kernels, or the Rust file with the kernels.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Architectures, such as `sm_80,sm_90a`.
    #[arg(long, value_delimiter = ',', default_value = "sm_80")]
    arch: Vec<String>,
}

/// Compiles the kernels at `path`, and tells where their files are.
pub(crate) fn compile(path: &Path, arch: &[String], lines: bool) -> Result<(Vec<Kernel>, PathBuf)> {
    let folder = target(path)?.join("warpwright");
    let builder = arch.iter().fold(KernelBuilder::new(path), KernelBuilder::arch);
    let kernels = builder.audited(false).line_info(lines).compile(&folder)?;
    Ok((kernels, folder))
}

/// The target folder of the package.
fn target(path: &Path) -> Result<PathBuf> {
    let path = fs::canonicalize(path).with_context(|| format!("there is no {}", path.display()))?;
    let manifest = path.ancestors().map(|folder| folder.join("Cargo.toml")).find(|manifest| manifest.is_file());
    let manifest = manifest.with_context(|| format!("{} is in no package", path.display()))?;
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"]).arg(&manifest);
    let json = process::capture(&mut cargo)?;
    let json: Value = serde_json::from_str(&json).context("cargo metadata gave no JSON")?;
    Ok(PathBuf::from(json["target_directory"].as_str().context("cargo metadata names no target_directory")?))
}

/// Writes the PTX of each kernel and architecture to a file.
pub(crate) fn build(args: &Args) -> Result<ExitCode> {
    let (kernels, folder) = compile(&args.path, &args.arch, false)?;
    for kernel in &kernels {
        let path = folder.join(format!("{}.{}.ptx", kernel.name, kernel.arch));
        fs::write(&path, &kernel.ptx).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{} ({}): {}", kernel.name, kernel.at, path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the resource table and every limit that is exceeded; exit code 1 where there is one.
pub(crate) fn audit(args: &Args) -> Result<ExitCode> {
    let (kernels, folder) = compile(&args.path, &args.arch, false)?;
    let ptxas = Ptxas::find(&[]);
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    for kernel in &kernels {
        let row = row(kernel, &folder, ptxas.as_ref())?;
        let module = ptx::read(&kernel.ptx)?;
        let function = module.kernels().next().context("a kernel's PTX has its entry")?;
        findings.extend(checks::check_kernel(&row.declared, function, &row.usage, Rules::Declared));
        let resources =
            row.resources.map(|resources| checks::check_resources(&row.declared, resources, Rules::Declared));
        findings.extend(resources.into_iter().flatten());
        rows.push(row);
    }
    println!("{}", table::render(&rows));
    match &ptxas {
        Some(ptxas) => println!("registers and spills: ptxas {} ({})", ptxas.version, ptxas.path.display()),
        None => println!("registers and spills were not checked: no ptxas here; `cargo warpwright doctor` says more"),
    }
    for finding in &findings {
        println!("FAILED kernel {finding}");
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What one kernel takes.
pub(crate) fn row(kernel: &Kernel, folder: &Path, ptxas: Option<&Ptxas>) -> Result<Row> {
    let module = ptx::read(&kernel.ptx)?;
    let declared = module.declared(&kernel.name).cloned().unwrap_or_default();
    let function = module.kernels().next().context("a kernel's PTX has its entry")?;
    let resources = match ptxas {
        None => None,
        Some(ptxas) => {
            let path = folder.join("assembled.ptx");
            fs::write(&path, &kernel.ptx).with_context(|| format!("cannot write {}", path.display()))?;
            ptxas.assemble(&path, &kernel.arch)?.functions.get(&kernel.name).copied()
        }
    };
    Ok(Row { file: kernel.arch.clone(), declared, usage: Usage::of(function), resources })
}
