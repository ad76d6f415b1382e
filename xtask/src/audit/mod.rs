//! `cargo xtask audit`: reads the PTX and checks every kernel against the limits declared beside it.
//!
//! Most limits are checked on the text of the PTX, which also carries them, on any machine. Registers and spills need
//! ptxas; without it the audit says so and checks the rest.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use cargo_warpwright::table::{self, Row};
use warpwright_build::audit::checks::{self, Finding, Rules};
use warpwright_build::audit::usage::Usage;

pub(crate) use warpwright_build::audit::checks::count;

use crate::archives;
use crate::families::FILE;
use crate::parallel;
use crate::progress;
use crate::ptx;
use crate::ptxas::{self, Ptxas};
use crate::selection::{PtxFile, Selection};
use crate::workspace::Workspace;

/// Arguments of `audit`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    selection: Selection,
}

/// Audits the committed PTX; exit code 1 where a rule is broken.
pub(crate) fn command(workspace: &Workspace, args: &Args) -> Result<ExitCode> {
    let sound = audit(workspace, &args.selection.files(workspace)?)?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Audits all that is committed; whether no rule is broken.
pub(crate) fn audit_everything(workspace: &Workspace) -> Result<bool> {
    audit(workspace, &Selection::everything().files(workspace)?)
}

/// Audits the committed PTX, prints the resource table and every rule broken; whether there was none.
pub(crate) fn audit(workspace: &Workspace, files: &[PtxFile]) -> Result<bool> {
    let ptxas = Ptxas::find(&workspace.venvs());
    let (mut rows, mut findings, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    let mut kernels = 0;
    let progress = progress::bar(files.len());
    let audited = parallel::map(files, |file| {
        progress.set_message(format!("audit {}", file.name()));
        let audited = audit_file(workspace, file, ptxas.as_ref());
        progress.inc(1);
        audited
    });
    for (file, audited) in files.iter().zip(audited) {
        let audited = audited?;
        kernels += audited.kernels;
        rows.extend(audited.rows);
        let path = text_path(workspace, file);
        findings.extend(audited.findings.into_iter().map(|finding| (path.clone(), finding)));
        warnings.extend(audited.warnings);
    }
    progress.finish_and_clear();

    println!("{}", table::render(&rows));
    match &ptxas {
        Some(ptxas) => println!("registers and spills: ptxas {} ({})", ptxas.version, ptxas.path.display()),
        None => println!("registers and spills were not checked: no ptxas here; `{}` installs one", ptxas::INSTALL),
    }
    for warning in warnings {
        println!("note: {warning}");
    }
    for (path, finding) in &findings {
        println!("FAILED {}: {finding}", path.display());
    }
    let verdict = match findings.len() {
        0 if ptxas.is_none() => "all within the limits that were checked".to_owned(),
        0 => "all within their limits".to_owned(),
        broken => format!("{} broken", checks::count(broken, "rule")),
    };
    println!("audit: {} in {}, {verdict}", checks::count(kernels, "kernel"), checks::count(files.len(), "set"));
    Ok(findings.is_empty())
}

/// Where the text of the PTX is left.
fn text_path(workspace: &Workspace, file: &PtxFile) -> PathBuf {
    workspace.ptx_build_dir().join("text").join(file.name() + ".ptx")
}

struct Audited {
    kernels: usize,
    rows: Vec<Row>,
    findings: Vec<Finding>,
    warnings: Vec<String>,
}

/// Audits the PTX of one family for one architecture, assembled for that and for every other that runs it. Its text is
/// left where findings point, for ptxas and for people.
fn audit_file(workspace: &Workspace, file: &PtxFile, ptxas: Option<&Ptxas>) -> Result<Audited> {
    let kernels = archives::read_file(workspace, file)?;
    let archive = file.archive(workspace);
    ensure!(!kernels.is_empty(), "{} has nothing for {}; `cargo xtask build` writes it", archive.display(), file.arch);
    let (text, path) = (archives::join(&kernels), &text_path(workspace, file));
    fs::create_dir_all(path.parent().expect("a file is in a folder"))?;
    fs::write(path, &text).with_context(|| format!("cannot write {}", path.display()))?;
    let module = ptx::read(&text).with_context(|| format!("{} is no complete PTX", path.display()))?;

    let place = format!("{FILE}, [package.metadata.ptx] {}", file.family);
    let (mut rows, mut warnings) = (Vec::new(), Vec::new());
    let mut findings = checks::check_file(&module, &place, &file.arch);
    let kernels = module.kernels();
    let kernels = kernels.filter_map(|kernel| Some((kernel, module.declared(&kernel.name)?, Usage::of(kernel))));
    let kernels: Vec<_> = kernels.collect();
    for (kernel, declared, usage) in &kernels {
        findings.extend(checks::check_kernel(declared, kernel, usage, Rules::Strict));
    }
    let others = file.also_for.iter().filter(|_| ptxas.is_some());
    for arch in std::iter::once(&file.arch).chain(others) {
        let report = ptxas.map(|ptxas| ptxas.assemble(path, arch)).transpose()?;
        let name = if *arch == file.arch { file.name() } else { format!("{} on {arch}", file.name()) };
        for (kernel, declared, usage) in &kernels {
            let resources = report.as_ref().and_then(|report| report.functions.get(&kernel.name).copied());
            let check = |resources| checks::check_resources(declared, resources, Rules::Strict);
            findings.extend(resources.into_iter().flat_map(check));
            rows.push(Row { file: name.clone(), declared: (*declared).clone(), usage: usage.clone(), resources });
        }
        findings.extend(report.iter().flat_map(|report| checks::check_assembly(&place, report)));
        warnings.extend(report.map_or_else(Vec::new, |report| report.warnings));
    }
    Ok(Audited { kernels: kernels.len(), rows, findings, warnings })
}
