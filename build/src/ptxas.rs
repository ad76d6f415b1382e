//! ptxas, NVIDIA's assembler: optional, and the only one who knows registers and spills.
//!
//! It is looked for where people have it, last in virtual environments such as that under target/, which CI fills with
//! pip.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;

/// Names one ptxas, before all others.
pub const OVERRIDE: &str = "WARPWRIGHT_PTXAS";

/// What puts a ptxas under target/venv.
pub const INSTALL: &str = "python3 -m venv target/venv && target/venv/bin/pip install nvidia-cuda-nvcc==13.0.88";

/// A ptxas that runs.
pub struct Ptxas {
    /// The program.
    pub path: PathBuf,
    /// `release 13.0, V13.0.88`.
    pub version: String,
}

/// What ptxas said about one PTX file.
#[derive(Debug, Default, PartialEq)]
pub struct Report {
    /// By symbol, functions that are not kernels included.
    pub functions: BTreeMap<String, Resources>,
    /// Messages C7500 to C7599: the assembler had to serialise or could not pipeline tensor-core instructions.
    pub performance_losses: Vec<String>,
    /// Every other warning.
    pub warnings: Vec<String>,
}

/// What one function takes of a multiprocessor, per thread where not said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// 32-bit registers; `None` for functions that are not kernels.
    pub registers: Option<u32>,
    /// Bytes of stack, in local memory.
    pub stack: u32,
    /// Bytes stored to local memory because registers ran out.
    pub spill_stores: u32,
    /// Bytes loaded back.
    pub spill_loads: u32,
    /// Bytes of shared memory per block known to the assembler; launch-sized memory is not.
    pub shared: u32,
}

impl Ptxas {
    /// The first of the usual places that holds a ptxas which runs, last the Python environments `venvs`; `None` where
    /// there is none.
    pub fn find(venvs: &[PathBuf]) -> Option<Self> {
        candidates(venvs).into_iter().find_map(|path| {
            let text = process::capture(Command::new(&path).arg("--version")).ok()?;
            let version = text.lines().find_map(|line| Some(line.split_once("release ")?.1.trim().to_owned()))?;
            Some(Self { path, version: format!("release {version}") })
        })
    }

    /// Assembles a file for `arch` and throws the result away. A file that ptxas refuses is an `Err` with its words.
    pub fn assemble(&self, file: &Path, arch: &str) -> Result<Report> {
        let mut command = Command::new(&self.path);
        command.arg("-v").arg(format!("-arch={arch}")).arg(file).args(["-o", "/dev/null"]);
        let output = process::output(&mut command)?;
        let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
        anyhow::ensure!(
            output.status.success(),
            "ptxas ({}) refuses {} for {arch}:\n{}",
            self.version,
            file.display(),
            text.trim_end()
        );
        parse(&text).with_context(|| format!("`{}` printed a report of an unknown form", process::line(&command)))
    }
}

fn candidates(venvs: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    found.extend(env::var_os(OVERRIDE).map(PathBuf::from));
    let path = env::var_os("PATH").unwrap_or_default();
    found.extend(env::split_paths(&path).map(|dir| dir.join("ptxas")));
    for variable in ["CUDA_HOME", "CUDA_PATH"] {
        found.extend(env::var_os(variable).map(|home| PathBuf::from(home).join("bin/ptxas")));
    }
    found.push("/usr/local/cuda/bin/ptxas".into());
    found.extend(venvs.iter().flat_map(|venv| in_venv(venv)));
    found.retain(|path| path.is_file());
    found
}

/// The wheel's place: lib/python3.*/site-packages/nvidia/*/bin/ptxas (the folder after nvidia/ differs by release).
fn in_venv(venv: &Path) -> Vec<PathBuf> {
    let folders = |dir: PathBuf| -> Vec<PathBuf> {
        let mut entries: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        entries
    };
    let pythons = folders(venv.join("lib"));
    let wheels = pythons.into_iter().flat_map(|python| folders(python.join("site-packages/nvidia")));
    wheels.map(|wheel| wheel.join("bin/ptxas")).collect()
}

/// Reads what `ptxas -v` prints.
fn parse(text: &str) -> Result<Report> {
    let mut report = Report::default();
    let (mut kernel, mut function) = (String::new(), String::new());
    for line in text.lines() {
        if line.contains("(C75") {
            report.performance_losses.push(line.trim().to_owned());
        } else if line.contains("warning") {
            report.warnings.push(line.trim().to_owned());
        } else if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            rest.split('\'').next().unwrap_or_default().clone_into(&mut kernel);
        } else if let Some((_, rest)) = line.split_once("Function properties for ") {
            rest.trim().trim_matches('\'').clone_into(&mut function);
        } else if line.contains("bytes stack frame") {
            let entry = report.functions.entry(function.clone()).or_default();
            entry.stack = number_before(line, "bytes stack frame")?;
            entry.spill_stores = number_before(line, "bytes spill stores")?;
            entry.spill_loads = number_before(line, "bytes spill loads")?;
        } else if line.contains("Used ") {
            let entry = report.functions.entry(kernel.clone()).or_default();
            entry.registers = Some(number_before(line, "registers")?);
            entry.shared = if line.contains("bytes smem") { number_before(line, "bytes smem")? } else { 0 };
        }
    }
    Ok(report)
}

/// The number before `words`: 32 of `Used 32 registers, 380 bytes cmem[0]` and `registers`.
fn number_before(line: &str, words: &str) -> Result<u32> {
    let before = line.split_once(words).with_context(|| format!("`{line}` says nothing of {words}"))?.0;
    let number = before.split_whitespace().last().unwrap_or_default();
    number.parse().with_context(|| format!("`{number}` before `{words}` is no number"))
}

#[cfg(test)]
mod tests {
    use super::{Resources, parse};

    #[test]
    fn resources_go_to_the_function_they_are_printed_for() {
        let report = parse(
            "ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'index' for 'sm_80'
ptxas info    : Function properties for index
    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 8448 bytes smem, 376 bytes cmem[0]
ptxas info    : Compile time = 2.202 ms
ptxas info    : Function properties for helper
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources
ptxas warning : Value of threads per SM for entry index is out of range.
ptxas info    : Compiling entry function 'add' for 'sm_80'
ptxas info    : Function properties for add
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 11 registers, used 1 barriers, 380 bytes cmem[0]
",
        )
        .unwrap();
        let index = Resources { registers: Some(255), stack: 16, spill_stores: 4, spill_loads: 8, shared: 8448 };
        assert_eq!(report.functions["index"], index);
        assert_eq!(report.functions["helper"], Resources::default());
        assert_eq!(report.functions["add"].registers, Some(11));
        assert_eq!(report.performance_losses.len(), 1);
        assert_eq!(report.warnings.len(), 1);
    }

    #[test]
    fn a_report_of_another_form_is_an_error() {
        assert!(parse("ptxas info : Used many registers").is_err());
    }
}
