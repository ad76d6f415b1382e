//! One GPU: its context, kernels and limits.

use std::collections::HashMap;
use std::fmt::Display;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cust::sys::CUdevice_attribute as Attribute;
use foldhash::fast::RandomState;
use simt::{KernelInfo, KernelPtx};

use super::driver_stream::Queue;
use super::loaded_module::{Function, Module};
use super::ordered_memory::Memory;
use super::pinned::Pinned;
use super::primary::Primary;
use super::ptx::{self, Built};
use crate::contract::{Hardware, Limits};
use crate::error::{BadLaunch, Error, LaunchRule, Result};
use crate::families::FAMILIES;
use crate::printer::Printer;

/// What tells kernels apart that share a name: their module, file and line, and their own PTX by its address. Anyone
/// can make a [`KernelInfo`] with other PTX, and [`Backend::embedded`] prepares it: only its own launch may use that.
type KernelKey = (&'static str, &'static str, &'static str, u32, Option<usize>);
/// The module of a kernel, none until it is loaded.
type ModuleSlot = Arc<Mutex<Option<Arc<Module>>>>;

/// Runs kernels on one GPU.
pub(crate) struct Backend {
    primary: Arc<Primary>,
    limits: Limits,
    capability: (u32, u32),
    /// Families of the crate `gpu` whose PTX in this build runs on this GPU.
    runs: Vec<&'static str>,
    /// The embedded kernels that were asked for so far, each a module of its own.
    kernels: Mutex<HashMap<KernelKey, ModuleSlot, RandomState>>,
    /// Those that were launched, by the address of their description, which is quicker to compare.
    launched: Mutex<HashMap<usize, (Arc<Module>, Function), RandomState>>,
}

impl Backend {
    /// Opens device `ordinal`.
    pub(crate) fn open(ordinal: u32) -> Result<Self> {
        let primary = Arc::new(Primary::open(ordinal)?);
        let attribute = |attribute| primary.attribute(attribute);
        let limits = Limits {
            threads_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            block: [
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            grid: [
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            shared_bytes: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as usize,
            sm_count: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            memory_bandwidth: memory_bandwidth(
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
            ),
        };
        let capability = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        let families = FAMILIES.iter().map(|family| family.name);
        let runs = families.filter(|family| ptx::best(&ptx::archs(family), capability).is_some()).collect();
        Ok(Self { primary, limits, capability, runs, kernels: Mutex::default(), launched: Mutex::default() })
    }

    pub(crate) fn describe(&self) -> &str {
        self.primary.describe()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Compute capability, major and minor.
    pub(crate) fn capability(&self) -> (u32, u32) {
        self.capability
    }

    /// The GPU's hardware figures.
    pub(crate) fn hardware(&self) -> Result<Hardware> {
        let attribute = |attribute| self.primary.attribute(attribute);
        Ok(Hardware {
            sm_count: self.limits.sm_count,
            clock_khz: attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
            memory_clock_khz: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
            memory_bus_bits: attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
            l2_bytes: attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as usize,
        })
    }

    /// Where lines of kernels go.
    pub(crate) fn printer(&self) -> &Printer {
        self.primary.lines().printer()
    }

    pub(super) fn primary(&self) -> &Arc<Primary> {
        &self.primary
    }

    /// Memory for use on `queue` first, or on any.
    pub(crate) fn allocate(&self, bytes: usize, queue: Option<&Arc<Queue>>) -> Result<Memory> {
        Memory::new(&self.primary, bytes, queue)
    }

    /// Host memory that kernels write.
    pub(crate) fn host_result(&self, bytes: usize) -> Result<Memory> {
        Memory::on_host(&self.primary, bytes)
    }

    pub(crate) fn pinned(&self, bytes: usize) -> Result<Pinned> {
        Pinned::new(&self.primary, bytes)
    }

    pub(crate) fn queue(&self) -> Result<Arc<Queue>> {
        Queue::new(&self.primary).map(Arc::new)
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        self.primary.synchronize()
    }

    /// Gives memory that the pool keeps back to the driver.
    pub(crate) fn release_unused_memory(&self) -> Result<()> {
        self.primary.synchronize()?;
        let Some(pool) = self.primary.pool() else { return Ok(()) };
        self.primary.call("releasing unused memory", || pool.trim())
    }

    /// Compiles PTX for this device.
    pub(crate) fn module(&self, name: &str, text: &str) -> Result<Module> {
        Module::load(&self.primary, name, text)
    }

    /// Whether this build has PTX of `kernel` that runs on this device.
    pub(crate) fn has_kernel(&self, kernel: &KernelInfo) -> bool {
        match Built::of(kernel) {
            Some(Built::Family(family)) => self.runs.contains(&family),
            Some(own) => ptx::best(&own.archs(), self.capability).is_some(),
            None => false,
        }
    }

    /// A kernel whose PTX is in this build, with its attribute set for `shared_bytes` of dynamic shared memory; its
    /// module, too, if it is wanted.
    pub(super) fn kernel(
        &self,
        info: &'static KernelInfo,
        shared_bytes: usize,
        wants_module: bool,
    ) -> Result<(Option<Arc<Module>>, Function)> {
        let address = ptr::from_ref(info).addr();
        let launched = || self.launched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((module, function)) = launched().get(&address)
            && function.allows(shared_bytes)
        {
            return Ok((wants_module.then(|| Arc::clone(module)), *function));
        }
        let module = self.embedded(info)?;
        let function = module.function(info, shared_bytes)?;
        launched().insert(address, (Arc::clone(&module), function));
        Ok((wants_module.then_some(module), function))
    }

    /// The module of a kernel whose PTX is in this build, compiled at its first use.
    ///
    /// A module has one kernel: the driver compiles nothing that is not launched.
    pub(crate) fn embedded(&self, info: &KernelInfo) -> Result<Arc<Module>> {
        let kernel = info.name;
        let missing = |expected: &dyn Display, found: &dyn Display, remedy: &dyn Display| {
            Error::from(BadLaunch::new(LaunchRule::Module, kernel, expected, found, remedy))
        };
        let own = match info.ptx {
            KernelPtx::Archive(archive) => Some(archive.as_ptr().addr()),
            _ => None,
        };
        let key = (info.path, kernel, info.file, info.line, own);
        let slot = Arc::clone(self.kernels.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
        // Held while the driver compiles, so that no two threads compile the same kernel.
        let mut module = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = &*module {
            return Ok(Arc::clone(module));
        }
        let Some(built) = Built::of(info) else {
            let (found, remedy) = no_ptx(info);
            return Err(missing(&"PTX of the kernel in this program", &found, &remedy));
        };
        let archs = built.archs();
        let best = ptx::best(&archs, self.capability);
        if best.is_none() && !archs.is_empty() {
            if let Built::Family(family) = built {
                return Err(Error::TooOld {
                    device: self.describe().to_owned(),
                    capability: self.capability,
                    family: family.to_owned(),
                    built: archs.join(", "),
                });
            }
            let (major, minor) = self.capability;
            return Err(missing(
                &format_args!("PTX that runs on {}, compute capability {major}.{minor}", self.describe()),
                &format_args!("PTX for {}", archs.join(", ")),
                &format!("add `.arch(\"sm_{major}{minor}\")` to KernelBuilder in the kernel's build script"),
            ));
        }
        let Some((arch, text)) = best.and_then(|arch| Some((arch, built.text(kernel, arch)?))) else {
            return Err(missing(
                &"PTX of the kernel in this program",
                &"an archive that is damaged, or without the kernel",
                &"build it again: the crate `gpu` with `cargo xtask build`, others after `cargo clean`",
            ));
        };
        let loaded = Arc::new(self.module(&format!("{kernel}.{arch}"), &text)?);
        *module = Some(Arc::clone(&loaded));
        Ok(loaded)
    }
}

/// What there is in place of a kernel's PTX, and what to do.
fn no_ptx(info: &KernelInfo) -> (String, String) {
    let package = info.path.split("::").next().unwrap_or_default();
    let script = "build.rs `fn main() -> Result<(), warpwright_build::Error> { \
                  warpwright_build::KernelBuilder::default().build().map(drop) }` and in Cargo.toml \
                  `[build-dependencies] warpwright-build = \"0.1\"`";
    match info.ptx {
        KernelPtx::Missing(reason) => (
            format!("none: `{package}` was built for the simulator alone, because {reason}"),
            "install what is missing and build again".to_owned(),
        ),
        KernelPtx::Elsewhere => (
            format!("none: the build script of `{package}` did not compile {}:{} for the GPU", info.file, info.line),
            "move the kernel into the package's library, or into the file that KernelBuilder::new names".to_owned(),
        ),
        KernelPtx::NoBuildScript | KernelPtx::Archive(_) => (
            format!("none: the package of `{package}` has no build script that makes it"),
            format!("add to the package {script}; PTX from elsewhere: Module::from_ptx and Launch::module"),
        ),
    }
}

/// Peak bandwidth of memory in bytes per second: two transfers a clock.
fn memory_bandwidth(clock_khz: u32, bus_bits: u32) -> u64 {
    u64::from(clock_khz) * 1000 * 2 * u64::from(bus_bits) / 8
}
