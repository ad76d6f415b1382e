//! PTX that is loaded at run time.

use std::fmt;

use crate::backend::LoadedModule;
use crate::device::Device;
use crate::error::Result;

/// PTX loaded on a device, for [`Launch::module`](crate::Launch::module).
///
/// Kernels of the crate `gpu` need no module, nor do those of a package whose build script makes their PTX
/// (`warpwright_build::KernelBuilder`): a program has it built in. This is for PTX from elsewhere: load it once, and
/// pass the module to the launches. On the simulator a module is empty: the kernel's own code runs.
#[derive(Clone)]
pub struct Module {
    device: Device,
    name: String,
    loaded: Option<LoadedModule>,
}

impl Module {
    /// Lets the driver compile the PTX `text`; error messages contain `name`.
    ///
    /// # Safety
    /// Each entry of `text` that is launched through this module was compiled from the same `#[kernel]` function that
    /// is passed to the launch, and accesses no memory except through its views. A launch compares arguments and launch
    /// bounds, which `#[kernel]` wrote into the text as comments, with the kernel's own. What the code does cannot be
    /// checked.
    ///
    /// # Errors
    /// [`crate::Error::Ptx`] with the log of the driver's compiler, [`crate::Error::DeviceLost`]. A launch of a kernel
    /// that differs from the text's: [`LaunchRule::Ptx`](crate::LaunchRule::Ptx).
    pub unsafe fn from_ptx(device: &Device, name: &str, text: &str) -> Result<Self> {
        Ok(Self { device: device.clone(), name: name.to_owned(), loaded: device.backend().load_module(name, text)? })
    }

    /// The device on which it is loaded.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn loaded(&self) -> Option<&LoadedModule> {
        self.loaded.as_ref()
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({} on {})", self.name, self.device.name())
    }
}
