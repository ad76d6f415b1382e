//! One GPU: its context, kernels and limits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cust::sys::CUdevice_attribute as Attribute;
use simt::KernelInfo;

use super::driver_stream::Queue;
use super::loaded_module::Module;
use super::ordered_memory::Memory;
use super::pinned::Pinned;
use super::primary::Primary;
use super::ptx;
use crate::contract::{Hardware, Limits};
use crate::error::{BadLaunch, Error, LaunchRule, Result};

/// Runs kernels on one GPU.
pub(crate) struct Backend {
    primary: Arc<Primary>,
    limits: Limits,
    capability: (u32, u32),
    /// Families of the crate `gpu` whose PTX in this build runs on this GPU.
    runs: Vec<&'static str>,
    /// Families that were loaded so far.
    families: Mutex<HashMap<&'static str, Arc<Module>>>,
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
        let families = gpu::FAMILIES.iter().map(|family| family.name);
        let runs = families.filter(|family| ptx::best(&ptx::built(family), capability).is_some()).collect();
        Ok(Self { primary, limits, capability, runs, families: Mutex::default() })
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

    pub(crate) fn allocate(&self, bytes: usize) -> Result<Memory> {
        Memory::new(&self.primary, bytes)
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

    /// Compiles PTX for this device.
    pub(crate) fn module(&self, name: &str, text: &str) -> Result<Module> {
        Module::load(&self.primary, name, text)
    }

    /// Whether this build has PTX of `kernel`, a kernel of the crate `gpu`, that runs on this device.
    pub(crate) fn has_kernel(&self, kernel: &KernelInfo) -> bool {
        gpu::family_of(kernel).is_some_and(|family| self.runs.contains(&family.name))
    }

    /// The PTX of a family of the crate `gpu`, compiled at its first use.
    pub(super) fn family(&self, kernel: &str, family: &'static gpu::Family) -> Result<Arc<Module>> {
        let family = family.name;
        // Held while the driver compiles, so that no two threads compile the same family.
        let mut families = self.families.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = families.get(family) {
            return Ok(Arc::clone(module));
        }
        let built = ptx::built(family);
        if built.is_empty() {
            return Err(BadLaunch::new(
                LaunchRule::Module,
                kernel,
                format_args!("PTX of the family `{family}` in this build"),
                "none",
                "build it with `cargo xtask build`, or pass the kernel's own PTX to Launch::module",
            )
            .into());
        }
        let Some(best) = ptx::best(&built, self.capability) else {
            return Err(Error::TooOld {
                device: self.describe().to_owned(),
                capability: self.capability,
                family: family.to_owned(),
                built: built.iter().map(|built| built.arch).collect::<Vec<_>>().join(", "),
            });
        };
        let module = Arc::new(self.module(&format!("{family}.{}", best.arch), best.text)?);
        families.insert(family, Arc::clone(&module));
        Ok(module)
    }
}
