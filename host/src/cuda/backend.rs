//! One GPU: its context, kernels and limits.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

use cust::sys::CUdevice_attribute as Attribute;
use foldhash::fast::RandomState;
use simt::KernelInfo;

use super::driver_stream::Queue;
use super::loaded_module::Module;
use super::ordered_memory::Memory;
use super::pinned::Pinned;
use super::primary::Primary;
use super::ptx;
use crate::contract::{Hardware, Limits};
use crate::error::{BadLaunch, Error, LaunchRule, Result};
use crate::families::{FAMILIES, family_of};

/// The module of a kernel, none until it is loaded.
type ModuleSlot = Arc<Mutex<Option<Arc<Module>>>>;

/// Runs kernels on one GPU.
pub(crate) struct Backend {
    primary: Arc<Primary>,
    limits: Limits,
    capability: (u32, u32),
    /// Families of the crate `gpu` whose PTX in this build runs on this GPU.
    runs: Vec<&'static str>,
    /// The embedded kernels that were asked for so far, each a module of its own, by name.
    kernels: Mutex<HashMap<&'static str, ModuleSlot, RandomState>>,
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
        };
        let capability = (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        let families = FAMILIES.iter().map(|family| family.name);
        let runs = families.filter(|family| ptx::best(&ptx::archs(family), capability).is_some()).collect();
        Ok(Self { primary, limits, capability, runs, kernels: Mutex::default() })
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

    /// Whether this build has PTX of `kernel`, a kernel of the crate `gpu`, that runs on this device.
    pub(crate) fn has_kernel(&self, kernel: &KernelInfo) -> bool {
        family_of(kernel).is_some_and(|family| self.runs.contains(&family.name))
    }

    /// The module of a kernel of the crate `gpu`, compiled at its first use.
    ///
    /// A module has one kernel: the driver compiles nothing that is not launched.
    pub(crate) fn embedded(&self, info: &KernelInfo) -> Result<Arc<Module>> {
        let kernel = info.name;
        let missing = |expected: &dyn Display, found: &dyn Display, remedy| {
            Error::from(BadLaunch::new(LaunchRule::Module, kernel, expected, found, remedy))
        };
        let Some(family) = family_of(info) else {
            return Err(missing(
                &"a kernel of the crate `gpu`, whose PTX is embedded",
                &format_args!("one of `{}`", info.path),
                "build its PTX, load it with Module::from_ptx, and pass it to Launch::module",
            ));
        };
        let slot = Arc::clone(self.kernels.lock().unwrap_or_else(PoisonError::into_inner).entry(kernel).or_default());
        // Held while the driver compiles, so that no two threads compile the same kernel.
        let mut module = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = &*module {
            return Ok(Arc::clone(module));
        }
        let built = ptx::archs(family.name);
        let best = ptx::best(&built, self.capability);
        if best.is_none() && !built.is_empty() {
            return Err(Error::TooOld {
                device: self.describe().to_owned(),
                capability: self.capability,
                family: family.name.to_owned(),
                built: built.join(", "),
            });
        }
        let Some((arch, text)) = best.and_then(|arch| Some((arch, ptx::text(family.name, kernel, arch)?))) else {
            return Err(missing(
                &format_args!("PTX of the kernel in this build, in the family `{}`", family.name),
                &"none",
                "build it with `cargo xtask build`, or pass the kernel's own PTX to Launch::module",
            ));
        };
        let loaded = Arc::new(self.module(&format!("{kernel}.{arch}"), &text)?);
        *module = Some(Arc::clone(&loaded));
        Ok(loaded)
    }
}
