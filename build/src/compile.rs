//! From a package of kernels to finished PTX, for one architecture.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context as _, Result, bail};

use crate::directives;
use crate::process;
use crate::sysroot;
use crate::toolchain::Nightly;

/// rustc's name for NVIDIA's virtual machine.
pub const TARGET: &str = "nvptx64-nvidia-cuda";

/// The profile, given on the command line so that a workspace's own release profile can keep what the host needs
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

/// One run of cargo and rustc that writes PTX. The result depends on the sources and on rustc alone.
pub struct Job<'a> {
    /// The toolchain.
    pub nightly: &'a Nightly,
    /// Holds `core` for the architecture.
    pub sysroot: &'a Path,
    /// `sm_80`.
    pub arch: &'a str,
    /// Where cargo starts, so that it reads the config files above it.
    pub directory: &'a Path,
    /// Cargo's target directory. What runs at the same time has each its own.
    pub target_dir: &'a Path,
    /// Where rustc writes the PTX.
    pub asm: &'a Path,
    /// Arguments of `cargo rustc` that name the package and its features.
    pub cargo: &'a [&'a OsStr],
    /// Arguments of rustc for the crate of the kernels.
    pub rustc: &'a [&'a str],
    /// Paths that the PTX does not name, and what it names instead.
    pub remap: &'a [(&'a Path, &'a str)],
    /// What a panic does.
    pub panics: Panics,
    /// Whether messages with values have the layout that kernels know: else kernels send them without values.
    pub values: bool,
}

/// What a panic of a kernel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Panics {
    /// It is a trap.
    Trap,
    /// It reports its place and its message (`simt::report`).
    Report,
}

impl Panics {
    fn rustflags(self) -> &'static [&'static str] {
        match self {
            // PTX without the lines and paths of panics is the same from every checkout.
            Self::Trap => &["-Zlocation-detail=none"],
            Self::Report => &["--cfg=warpwright_report"],
        }
    }
}

/// What rustc left.
pub struct Compiled {
    /// Complete PTX with launch bounds; what rustc said, where it failed.
    pub text: Result<String, String>,
    /// Warnings, where it succeeded.
    pub warnings: String,
}

impl Job<'_> {
    /// Compiles the package. An `Err` means that the tools do not work; errors of the sources are in
    /// [`Compiled::text`].
    pub fn run(&self) -> Result<Compiled> {
        fs::create_dir_all(self.asm.parent().expect("a file is in a folder"))?;
        // Cargo always compiles the kernels again, since the linker leaves nothing that it could take for fresh.
        if self.asm.exists() {
            fs::remove_file(self.asm)?;
        }
        let output = process::output(&mut self.command()?)?;
        let messages = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        if !output.status.success() {
            return Ok(Compiled { text: Err(messages), warnings: String::new() });
        }
        let text = fs::read_to_string(self.asm).with_context(|| format!("rustc left no {}", self.asm.display()))?;
        Ok(Compiled { text: Ok(directives::insert(&text)?), warnings: messages })
    }

    /// Compiles the macros that the kernels need: what compiles without `core` for the GPU, which may be missing yet. A
    /// failure shows again when the kernels are compiled.
    pub fn prepare(&self) -> Result<()> {
        // One processor is busy with `core`.
        let jobs = thread::available_parallelism().map_or(1, |processors| processors.get().saturating_sub(1).max(1));
        process::output(self.cargo("build")?.args(["--lib", "--keep-going"]).arg(format!("--jobs={jobs}"))).map(drop)
    }

    fn command(&self) -> Result<Command> {
        let mut cargo = self.cargo("rustc")?;
        cargo
            .args(["--lib", "--crate-type=cdylib", "--"])
            .arg(with("--emit=asm=", self.asm.as_os_str()))
            .args(self.rustc);
        Ok(cargo)
    }

    fn cargo(&self, verb: &str) -> Result<Command> {
        let mut cargo = self.nightly.cargo();
        cargo.current_dir(self.directory);
        cargo.env("CARGO_TARGET_DIR", self.target_dir).env("CARGO_ENCODED_RUSTFLAGS", self.rustflags()?);
        cargo.args([verb, "--quiet"]).args(self.cargo);
        cargo.args(PROFILE.iter().flat_map(|setting| ["--config".to_owned(), format!("profile.ptx.{setting}")]));
        cargo.arg("--profile=ptx").arg(format!("--target={TARGET}"));
        Ok(cargo)
    }

    /// Flags for every crate of the GPU's side, kernels and what they use.
    fn rustflags(&self) -> Result<OsString> {
        let cargo_home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo_home = cargo_home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
        let cargo_home = cargo_home.context("neither CARGO_HOME nor HOME is set")?;
        let mut flags = vec![
            with("--sysroot=", self.sysroot.as_os_str()),
            format!("-Ctarget-cpu={}", self.arch).into(),
            // The PTX text is the result; there is nothing to link.
            "-Clinker=true".into(),
            // The crates name every nightly feature that some family needs; one family alone uses fewer.
            "-Aunused_features".into(),
        ];
        flags.extend(self.panics.rustflags().iter().map(OsString::from));
        flags.extend(self.values.then(|| "--cfg=warpwright_values".into()));
        let remap = self.remap.iter().copied().chain([(cargo_home.as_path(), "/cargo")]);
        flags.extend(remap.map(|(from, to)| with("--remap-path-prefix=", &sysroot::remap(from, to))));
        Ok(flags.join("\u{1f}".as_ref()))
    }
}

/// Refuses an architecture that this rustc does not know: rustc takes it for its oldest one, with a mere warning.
pub fn check_archs<'a>(nightly: &Nightly, archs: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let list = process::capture(nightly.rustc().args(["--print=target-cpus", "--target", TARGET]))?;
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    let known: Vec<&str> = names.filter(|name| name.starts_with("sm_")).collect();
    match archs.into_iter().find(|arch| !known.contains(arch)) {
        Some(unknown) => bail!("{} does not know {unknown}; it knows {}", nightly.version, known.join(", ")),
        None => Ok(()),
    }
}

fn with(prefix: &str, rest: &OsStr) -> OsString {
    let mut text = OsString::from(prefix);
    text.push(rest);
    text
}
