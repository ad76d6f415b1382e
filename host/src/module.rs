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
///
/// ```
/// use warpwright::{Module, prelude::*};
///
/// #[kernel(block = 64)]
/// pub fn negate(x: VecMut<i32>) {
///     let i = index_1d();
///     if branch(i < x.len()) {
///         x.set(i, -x.get(i));
///     }
/// }
///
/// # let text = "";
/// // let text = std::fs::read_to_string("negate.ptx")?;
/// let device = Device::simulator();
/// // SAFETY: the text was compiled from the function above.
/// let module = unsafe { Module::from_ptx(&device, "negate.ptx", &text) }?;
/// let mut x = device.upload(&[1, -2, 3])?;
/// device.launch(&negate, Launch::grid(1).module(&module), (&mut x,))?;
/// assert_eq!(x.download()?, [-1, 2, -3]);
/// # Ok::<(), Error>(())
/// ```
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
