//! [`KernelBuilder`]: from a package with kernels to PTX that its program carries.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, Result, bail};

use crate::audit::user;
use crate::compile::{Job, Panics, TARGET, check_archs};
use crate::core_source::{self, CoreSource};
use crate::error::Error;
use crate::package::{Package, feature_variable};
use crate::ptxas::Ptxas;
use crate::toolchain::{self, Nightly};
use crate::{cache, embed, formatters, generated, kernels, messages, parallel, ptx, sysroot};

/// The architecture where none is asked for: its PTX runs on every GPU that Warpwright supports.
const DEFAULT_ARCH: &str = "sm_80";

/// Compiles the kernels of a package to PTX, for its build script.
///
/// ```no_run
/// fn main() -> Result<(), warpwright_build::Error> {
///     warpwright_build::KernelBuilder::default().arch("sm_80").arch("sm_90a").build().map(drop)
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct KernelBuilder {
    path: Option<PathBuf>,
    archs: Vec<String>,
    /// Limits that are exceeded are no errors.
    unaudited: bool,
    line_info: bool,
    /// A panic is a `trap` without a message.
    bare_traps: bool,
}

/// A kernel for one architecture.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The name of the function and of the PTX entry.
    pub name: String,
    /// The architecture, as `sm_80`.
    pub arch: String,
    /// `src/lib.rs:12`: where its `#[kernel]` is, below the package's folder.
    pub at: String,
    /// PTX with this kernel alone.
    pub ptx: String,
}

/// The kernels, and what a build script watches.
pub(crate) struct Output {
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) watched: BTreeSet<PathBuf>,
}

/// Why there is no PTX.
enum Failure {
    /// The machine lacks what makes PTX: kernels run on the simulator all the same.
    Toolchain(anyhow::Error),
    /// The kernels or the package are at fault.
    Kernels(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Kernels(error)
    }
}

impl KernelBuilder {
    /// The kernels at `path`: a package's folder, whose library they are, or a Rust file, the root of a module of
    /// kernels. A relative path begins at the package of the build script.
    ///
    /// [`KernelBuilder::default`] takes the library of the build script's own package.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), ..Self::default() }
    }

    /// Compiles for this architecture, as `sm_90a`, too. Without a call: for `sm_80` alone, whose PTX runs on every GPU
    /// of compute capability 8.0 and later. Kernels that use Hopper's instructions need `sm_90a`.
    #[must_use]
    pub fn arch(mut self, arch: impl Into<String>) -> Self {
        let arch = arch.into();
        if !self.archs.contains(&arch) {
            self.archs.push(arch);
        }
        self
    }

    /// Whether a kernel that exceeds its limits is an error: it is, without this call.
    #[doc(hidden)]
    #[must_use]
    pub fn audited(mut self, audited: bool) -> Self {
        self.unaudited = !audited;
        self
    }

    /// Whether the PTX names the source line of each instruction, for profilers and debuggers (`.loc`): it does not,
    /// without this call. The instructions are the same.
    ///
    /// `warpwright` then lets the driver keep the lines in its machine code. Files of the package are named from its
    /// folder on, `src/lib.rs`, so the tools are told of that folder or started there:
    ///
    /// - Nsight Compute: `ncu --set full --import-source yes --source-folders . PROGRAM` shows counters by line.
    /// - compute-sanitizer: its reports name file and line beside the instruction's address.
    /// - cuda-gdb: `break lib.rs:12`, `backtrace` and `step`; there are no variables.
    ///
    /// `cargo warpwright inspect KERNEL` shows PTX and machine code beside the source and needs no such call.
    #[must_use]
    pub fn line_info(mut self, line_info: bool) -> Self {
        self.line_info = line_info;
        self
    }

    /// Whether a panic in a kernel on a GPU is reported with its message, line, block and thread, in the error of the
    /// next call on the device: it is, without this call. Otherwise the panic is a `trap`, of which the error says
    /// nothing.
    ///
    /// A kernel that cannot panic has the same PTX either way. Others keep their instructions outside the panics, and
    /// take at least 32 registers, with which blocks still fill a multiprocessor. Limits in `#[kernel(…)]` hold for the
    /// kernel without what reports its panics. The values in a message are formatted by the host: numbers, `bool`,
    /// `char`, strings and references to them; in place of others stands `…`.
    #[must_use]
    pub fn panic_messages(mut self, panic_messages: bool) -> Self {
        self.bare_traps = !panic_messages;
        self
    }

    /// In a build script: compiles and audits the kernels, and hands the PTX to the `#[kernel]` functions of the
    /// package, so that `Device::launch` finds it.
    ///
    /// On a machine without a nightly toolchain the package is built for the simulator alone: there is a warning, and a
    /// launch on a GPU returns an error that says what to install.
    ///
    /// # Errors
    /// The kernels do not compile for the GPU, exceed the limits in their `#[kernel(…)]`, call functions that a GPU
    /// does not have, or share a name.
    pub fn build(self) -> Result<Vec<Kernel>, Error> {
        let out = env::var_os("OUT_DIR").map(PathBuf::from);
        let out = out.ok_or_else(|| Error::new("OUT_DIR is not set: `build` is for build scripts, see `compile`"))?;
        for variable in [toolchain::OVERRIDE, cache::OVERRIDE, crate::ptxas::OVERRIDE] {
            println!("cargo:rerun-if-env-changed={variable}");
        }
        match self.run(&out.join("kernels")) {
            Ok(output) => {
                let folder = out.join("ptx");
                embed::write(&folder, &output.kernels)?;
                println!("cargo:rustc-env=WARPWRIGHT_PTX={}", folder.display());
                for path in &output.watched {
                    println!("cargo:rerun-if-changed={}", path.display());
                }
                Ok(output.kernels)
            }
            Err(Failure::Toolchain(error)) => {
                let reason = format!("{error:#}").replace('\n', " ");
                println!("cargo:warning=kernels are built for the simulator alone: {reason}");
                println!("cargo:rustc-env=WARPWRIGHT_PTX_MISSING={reason}");
                println!("cargo:rerun-if-changed={}", toolchain::folder().display());
                Ok(Vec::new())
            }
            Err(Failure::Kernels(error)) => Err(error.into()),
        }
    }

    /// Compiles and audits the kernels outside a build script; `folder` is for files in between.
    ///
    /// # Errors
    /// Those of [`KernelBuilder::build`], and a missing toolchain.
    pub fn compile(self, folder: &Path) -> Result<Vec<Kernel>, Error> {
        match self.run(folder) {
            Ok(output) => Ok(output.kernels),
            Err(Failure::Toolchain(error) | Failure::Kernels(error)) => Err(error.into()),
        }
    }

    fn run(&self, folder: &Path) -> Result<Output, Failure> {
        let nightly = Nightly::find(toolchain::CHANNEL).map_err(Failure::Toolchain)?;
        let (package, crate_name, root) = self.package()?;
        let cache = cache::folder()?;
        let source = core_source::find(&cache, &nightly).map_err(Failure::Toolchain)?;
        let archs = if self.archs.is_empty() { vec![DEFAULT_ARCH.to_owned()] } else { self.archs.clone() };
        check_archs(&nightly, archs.iter().map(String::as_str))
            .with_context(|| format!("KernelBuilder::arch in the build script of `{}`", package.name))?;
        generated::write(&folder.join("package"), &package, &crate_name, &root)?;

        let mut output = Output { kernels: Vec::new(), watched: watched(&package, &nightly) };
        let compiled = parallel::map(&archs, |arch| {
            let (package, crate_name, root, cache) = (&package, crate_name.as_str(), root.as_path(), cache.as_path());
            let job = Compile { builder: self, package, crate_name, root, folder, cache };
            job.run(&nightly, &source, arch)
        });
        for compiled in compiled {
            let compiled = compiled?;
            output.kernels.extend(compiled.kernels);
            output.watched.extend(compiled.watched);
        }
        // Cargo runs a build script each time if a file that it watches does not exist.
        output.watched.retain(|path| path.exists());
        Ok(output)
    }

    /// The package, the name of its crate of kernels and the root of that crate.
    fn package(&self) -> Result<(Package, String, PathBuf)> {
        let own = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let in_build_script = env::var_os("OUT_DIR").is_some();
        let base = own.clone().filter(|_| in_build_script).unwrap_or_default();
        let path = base.join(self.path.as_deref().unwrap_or(Path::new(".")));
        let path = if self.path.is_none() && base.as_os_str().is_empty() { PathBuf::from(".") } else { path };
        let path =
            fs::canonicalize(&path).with_context(|| format!("KernelBuilder::new: there is no {}", path.display()))?;
        if path.is_dir() {
            if let Some(own) = own.filter(|own| in_build_script && fs::canonicalize(own).ok().as_ref() != Some(&path)) {
                bail!(
                    "KernelBuilder::new names the package {}, this is the build script of {}; #[kernel] finds the PTX \
                     that its own package's build script made: put this line into {}/build.rs, as \
                     KernelBuilder::default()",
                    path.display(),
                    own.display(),
                    path.display()
                );
            }
            let package = Package::read(&path, features(in_build_script).as_deref())?;
            let (name, root) = package.library.clone().with_context(|| {
                format!(
                    "`{}` has no library, and the default is to compile that: move the kernels to src/lib.rs, or name \
                     their file, KernelBuilder::new(\"src/kernels.rs\")",
                    package.name
                )
            })?;
            return Ok((package, name, root));
        }
        let folder = path.ancestors().skip(1).find(|folder| folder.join("Cargo.toml").is_file());
        let folder = folder.with_context(|| format!("{} is in no package", path.display()))?;
        let package = Package::read(folder, features(in_build_script).as_deref())?;
        let name = path.file_stem().map(|name| name.to_string_lossy().replace(|c: char| !c.is_alphanumeric(), "_"));
        Ok((package, name.unwrap_or_default(), path))
    }
}

/// The features that cargo switched on for the build script's package, in cargo's form: `TWO_WORDS`.
fn features(in_build_script: bool) -> Option<Vec<String>> {
    let names = env::vars_os().filter_map(|(name, _)| name.to_str()?.strip_prefix("CARGO_FEATURE_").map(str::to_owned));
    in_build_script.then(|| names.collect())
}

/// What the kernels depend on beside their own files.
fn watched(package: &Package, nightly: &Nightly) -> BTreeSet<PathBuf> {
    let mut watched =
        BTreeSet::from([package.root.join("Cargo.toml"), package.lock.clone(), nightly.sysroot.join("bin/rustc")]);
    for folder in &package.watched {
        watched.extend([folder.join("Cargo.toml"), folder.join("src")]);
    }
    watched
}

/// The compilation of one package, for each architecture.
struct Compile<'a> {
    builder: &'a KernelBuilder,
    package: &'a Package,
    crate_name: &'a str,
    root: &'a Path,
    folder: &'a Path,
    cache: &'a Path,
}

impl Compile<'_> {
    fn run(&self, nightly: &Nightly, source: &CoreSource, arch: &str) -> Result<Output> {
        let (sysroot, built) = sysroot::path(self.cache, nightly, source, arch);
        let mut key = DefaultHasher::new();
        let panics = if self.builder.bare_traps { Panics::Trap } else { Panics::Report };
        let values = source.has_known_messages();
        (&nightly.verbose, panics, values).hash(&mut key);
        let target_dir = self.cache.join("cargo").join(format!("{arch}-{:016x}", key.finish()));
        let (manifest, rustc) = (self.folder.join("package/Cargo.toml"), self.rustc()?);
        let job = Job {
            nightly,
            sysroot: &sysroot,
            arch,
            directory: &self.package.root,
            target_dir: &target_dir,
            asm: &self.folder.join(format!("{arch}.ptx")),
            cargo: &[OsStr::new("--offline"), OsStr::new("--manifest-path"), manifest.as_os_str()],
            rustc: &rustc.iter().map(String::as_str).collect::<Vec<_>>(),
            remap: &[],
            panics,
            values,
        };
        if !built {
            // The macros need no `core` for the GPU: both are compiled at the same time.
            thread::scope(|scope| {
                scope.spawn(|| job.prepare());
                sysroot::compile(nightly, source, arch, &sysroot)
            })?;
        }
        let (name, version) = (&self.package.name, &nightly.version);
        let text = match job.run().with_context(|| format!("the kernels of `{name}` for {arch}"))?.text {
            Ok(text) => text,
            Err(messages) => {
                let mut text = format!("the kernels of `{name}` do not compile for {arch} ({version}):\n\n{messages}");
                for remedy in messages::remedies(&messages, &self.package.dependencies) {
                    text += "\n\nhelp: ";
                    text += &remedy;
                }
                bail!("{text}")
            }
        };
        let kernels = kernels::split(&formatters::numbered(&text));
        let text = kernels::join(&kernels);
        let ptxas = Ptxas::find(&[]);
        let audited = self.folder.join(format!("{arch}.audited.ptx"));
        user::audit(&text, arch, name, ptxas.as_ref(), &audited, !self.builder.unaudited)?;
        let module = ptx::read(&text)?;
        let kernels = kernels.into_iter().map(|(name, ptx)| {
            let at = module.declared(&name).map_or_else(String::new, |declared| declared.at.clone());
            Kernel { name, arch: arch.to_owned(), at, ptx }
        });
        Ok(Output { kernels: kernels.collect(), watched: self.sources(&target_dir)? })
    }

    /// Arguments of rustc for the crate of the kernels.
    fn rustc(&self) -> Result<Vec<String>> {
        let root = fs::read_to_string(self.root).with_context(|| format!("cannot read {}", self.root.display()))?;
        let mut rustc = vec![
            "-Zcrate-attr=no_std".to_owned(),
            "--cap-lints=warn".to_owned(),
            format!("--remap-path-prefix={}/=", self.package.root.display()),
        ];
        if self.builder.line_info {
            rustc.push("-Cdebuginfo=line-directives-only".to_owned());
        }
        // A feature that is switched on twice is an error.
        for feature in ["abi_ptx", "asm_experimental_arch"].iter().filter(|feature| !root.contains(**feature)) {
            rustc.push(format!("-Zcrate-attr=feature({feature})"));
        }
        let variable = |name: &str| format!("CARGO_FEATURE_{}", feature_variable(name));
        for feature in self.package.features.iter().filter(|name| env::var_os(variable(name)).is_some()) {
            rustc.push(format!("--cfg=feature={feature:?}"));
        }
        Ok(rustc)
    }

    /// The files of the crate of the kernels, from what rustc leaves for cargo.
    fn sources(&self, target_dir: &Path) -> Result<BTreeSet<PathBuf>> {
        let folder = target_dir.join(TARGET).join("ptx/deps");
        let prefix = format!("{}-", self.crate_name);
        let mut files = BTreeSet::from([self.root.to_owned()]);
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            let (name, path) = (entry.file_name(), entry.path());
            if !name.to_string_lossy().starts_with(&prefix) || path.extension() != Some(OsStr::new("d")) {
                continue;
            }
            let text = fs::read_to_string(path)?;
            // `out: file file …`, with escaped blanks.
            let lines = text.lines().filter_map(|line| line.split_once(": "));
            let found: BTreeSet<PathBuf> = lines
                .flat_map(|(_, files)| files.replace("\\ ", "\u{0}").split(' ').map(str::to_owned).collect::<Vec<_>>())
                .map(|file| self.package.root.join(file.replace('\u{0}', " ")))
                .collect();
            if found.contains(self.root) {
                files.extend(found);
            }
        }
        Ok(files)
    }
}
